-- Receipts: each run's log is hash-chained while it is written (src/receipts/chain.ts says how).

-- The value of the chain after the terminal. Null while the run is active, and for ever in a run that a version without
-- chains has ended.
alter table run add column log_hash bytea;

-- The head of the chain's last block as of the checkpoint, and the last entry that it covers: whoever goes on with the run
-- reads only what comes after. A version without chains moves the checkpoint and leaves both, which makes them older, not wrong.
alter table checkpoint
  add column chain_sequence bigint,
  add column chain bytea,
  add check ((chain_sequence is null) = (chain is null));
