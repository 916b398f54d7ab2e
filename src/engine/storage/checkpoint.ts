// The checkpoints from which drivers continue. Only the newest checkpoint of a run counts.

import { sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";

/** A checkpoint of a run. */
export interface Checkpoint {
  readonly turn: number;
  /** The last entry of the log that the checkpoint covers; later entries belong to an unfinished turn. */
  readonly sequence: number;
  /** The state of the driver, which only the driver reads. */
  readonly state: Uint8Array;
}

/** The last whole block of the log's hash chain. */
export interface ChainBlock {
  /** The last entry that it covers. */
  readonly sequence: number;
  readonly head: Uint8Array;
}

/** Saves a checkpoint with the last whole block of the chain. Replaces the one before. */
export async function saveCheckpoint(
  trx: Transaction,
  args: { runId: string; checkpoint: Checkpoint; block: ChainBlock },
): Promise<void> {
  const { turn, sequence } = args.checkpoint;
  const state = Buffer.from(args.checkpoint.state);
  const values = { turn, sequence, state, chain_sequence: args.block.sequence, chain: Buffer.from(args.block.head) };
  await trx
    .insertInto("checkpoint")
    .values({ run_id: args.runId, ...values })
    .onConflict((conflict) => conflict.column("run_id").doUpdateSet(values))
    .execute();
}

/** Returns the checkpoint of a run; undefined when it has none. */
export async function readCheckpoint(db: Db | Transaction, runId: string): Promise<Checkpoint | undefined> {
  return await db
    .selectFrom("checkpoint")
    .select(["turn", "sequence", "state"])
    .where("run_id", "=", runId)
    .executeTakeFirst();
}

/**
 * Returns the chain block of a run's checkpoint. Returns undefined without a checkpoint, or with one of a version that kept no
 * chain.
 */
export async function readChainBlock(db: Db | Transaction, runId: string): Promise<ChainBlock | undefined> {
  return await db
    .selectFrom("checkpoint")
    .select(["chain_sequence as sequence", "chain as head"])
    .where("run_id", "=", runId)
    .where("chain", "is not", null)
    .$narrowType<{ sequence: number; head: Uint8Array }>()
    .executeTakeFirst();
}

/** Deletes the checkpoints of the runs. */
export async function deleteCheckpoints(db: Db | Transaction, runs: readonly string[]): Promise<void> {
  await sql`delete from checkpoint where run_id = any(${uuidArray(runs)}::uuid[])`.execute(db);
}

/** Deletes checkpoints of runs that ended longer than `endedMs` ago, oldest runs first. Returns how many. */
export async function deleteIdleCheckpoints(
  db: Db,
  args: { endedMs: number; createdBefore: string; limit: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from checkpoint where run_id in (
      select checkpoint.run_id from checkpoint join run on run.id = checkpoint.run_id
      where checkpoint.run_id < ${args.createdBefore}
        and run.end_time < now() - ${args.endedMs} * interval '1 millisecond'
      order by checkpoint.run_id limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}
