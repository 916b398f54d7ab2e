// The hash chain of a log that only the database holds.

import { expect } from "vitest";
import { entriesPerBlock } from "../../src/engine/hash-chain/chain.ts";
import { encodeResult } from "../../src/engine/log/result.ts";
import { readStoredChain } from "../../src/engine/log/stored-chain.ts";
import { endRun, timedOut } from "../../src/engine/runs/terminal.ts";
import { saveCheckpoint } from "../../src/engine/storage/checkpoint.ts";
import { findRun, lockRun } from "../../src/engine/storage/run.ts";
import { insertResults, readResults } from "../../src/engine/storage/run-result.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { test } from "../fixtures.ts";
import { plainChainValue } from "../receipts/plain-chain.ts";
import { addRun, newChain, openStore, text } from "./store.ts";

/** Appends entries of very different sizes to a log. */
async function grow(db: Db, runId: string, count: number, from = 1): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const sequence = from + index;
    const said = text("x".repeat((sequence * sequence) % 5_000));
    return { runId, sequence, epoch: 1, payload: encodeResult(said, { runId, sequence, timeMs: 0 }).bytes };
  });
  await db.transaction().execute((trx) => insertResults(trx, rows));
}

async function payloadsOf(db: Db, runId: string): Promise<Buffer[]> {
  const rows = await readResults(db, { runId, after: 0, limit: 100_000 });
  return rows.map(({ payload }) => Buffer.from(payload));
}

/** Saves a checkpoint after `sequence` entries, as this version does. */
async function checkpoint(db: Db, runId: string, sequence: number): Promise<void> {
  const entries = (await payloadsOf(db, runId)).slice(0, sequence);
  const chain = newChain(runId).with(entries.map((bytes, index) => ({ sequence: index + 1, bytes })));
  const args = { runId, checkpoint: { turn: 1, sequence, state: new Uint8Array() }, block: chain.lastBlock };
  await db.transaction().execute((trx) => saveCheckpoint(trx, args));
}

async function removeUpTo(db: Db, runId: string, sequence: number): Promise<void> {
  await db.deleteFrom("run_result").where("run_id", "=", runId).where("sequence", "<=", sequence).execute();
}

test.for([0, 1, entriesPerBlock - 1, entriesPerBlock, entriesPerBlock + 1, 3_000])(
  "is read from the start of a log of %i entries where there is no checkpoint",
  async (count, { store: { db } }) => {
    const { id } = await addRun(db);
    await grow(db, id, count);
    const chain = await readStoredChain(db, id);
    expect(chain.count).toBe(count);
    expect(chain.value).toEqual(plainChainValue(id, await payloadsOf(db, id)));
  },
);

test.for([0, 63, 64, 65, 130, 200])(
  "is read from the block of a checkpoint at entry %i, and nothing before it",
  async (at, { store: { db } }) => {
    const { id } = await addRun(db);
    await grow(db, id, 200);
    const value = plainChainValue(id, await payloadsOf(db, id));
    await checkpoint(db, id, at);
    // The entries before the block are deleted, so reading them would fail.
    await removeUpTo(db, id, at - (at % entriesPerBlock));
    const chain = await readStoredChain(db, id);
    expect(chain.count).toBe(200);
    expect(chain.value).toEqual(value);
  },
);

test("continues from an older block after a version without chains has moved the checkpoint", async () => {
  const { db } = await openStore();
  const { id } = await addRun(db);
  await grow(db, id, 100);
  await checkpoint(db, id, 100);
  await grow(db, id, 200, 101);
  // As that version writes it.
  await db.updateTable("checkpoint").set({ turn: 2, sequence: 300 }).where("run_id", "=", id).execute();
  expect((await readStoredChain(db, id)).value).toEqual(plainChainValue(id, await payloadsOf(db, id)));
});

test("is read from the start where a version without chains has written the only checkpoint", async () => {
  const { db } = await openStore();
  const { id } = await addRun(db);
  await grow(db, id, 100);
  await db
    .insertInto("checkpoint")
    .values({ run_id: id, turn: 1, sequence: 100, state: Buffer.alloc(0) })
    .execute();
  expect((await readStoredChain(db, id)).value).toEqual(plainChainValue(id, await payloadsOf(db, id)));
});

test("a run that ends without its owner keeps the hash of all that it wrote", async ({ store: { db } }) => {
  const { id } = await addRun(db);
  await grow(db, id, 100);
  await checkpoint(db, id, 70);
  await end(db, id);
  const run = await findRun(db, id);
  expect(run).toMatchObject({ status: "failed", last_sequence: 101 });
  expect(run?.log_hash).toEqual(plainChainValue(id, await payloadsOf(db, id)));
});

test("a run with entries missing from its log still ends, without a log hash", async ({ store: { db } }) => {
  const { id } = await addRun(db);
  await grow(db, id, 10);
  await db.deleteFrom("run_result").where("run_id", "=", id).where("sequence", "=", 4).execute();
  await expect(readStoredChain(db, id)).rejects.toThrow("entry 5 does not follow entry 3");
  await end(db, id);
  expect(await findRun(db, id)).toMatchObject({ status: "failed", last_sequence: 11, log_hash: null });
});

async function end(db: Db, runId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const run = (await lockRun(trx, runId)) ?? expect.unreachable();
    await endRun(trx, { run, end: timedOut, clock: systemClock });
  });
}
