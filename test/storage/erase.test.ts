// Erasing rows past their retention: which rows, in what portions, and crashes in between.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { retention } from "../../src/app/protocols.ts";
import { deleteIdleCheckpoints, saveCheckpoint } from "../../src/engine/storage/checkpoint.ts";
import {
  deleteUsageBefore,
  eraseContents,
  eraseSessions,
  listErasableSessions,
} from "../../src/engine/storage/erase.ts";
import { deleteIdleToolCalls, deleteToolCalls, insertToolCalls } from "../../src/engine/storage/tool-call.ts";
import { lowestUuid, newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { deleteUnpartitionedBefore } from "../../src/platform/database/partition.ts";
import { addRun, addSession, input, openStore, plant } from "../runlog/store.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface Past {
  readonly deletedDays?: number;
  readonly endedDays?: number;
}

/** A session with a run, three tool calls, a checkpoint, a message and a memory; deleted and ended so many days ago, if at all. */
async function addPast(db: Db, past: Past): Promise<{ session: string; run: string }> {
  const { id: run, session } = await addRun(db);
  await db.transaction().execute(async (trx) => {
    const call = { call: input, approvalId: undefined };
    await insertToolCalls(trx, { runId: run, turn: 1, calls: [call, call, call] });
    await saveCheckpoint(trx, {
      runId: run,
      checkpoint: { turn: 1, sequence: 1, state: new Uint8Array(1) },
      block: { sequence: 0, head: new Uint8Array(32) },
    });
  });
  await sql`insert into state_value (owner, key, client, value, session)
    select sha256(${session}::text::bytea), 'key ' || n, 'shared/test', 'null', ${session}
    from generate_series(1, 501) as n`.execute(db);
  await sql`update session set delete_time = now() - ${past.deletedDays ?? null} * interval '1 day'
    where id = ${session}`.execute(db);
  if (past.endedDays !== undefined) {
    await sql`update run set status = 'completed', end_time = now() - ${past.endedDays} * interval '1 day'
      where id = ${run}`.execute(db);
  }
  return { session, run };
}

async function countRows(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`select (select count(*) from session) as session,
    (select count(*) from run) as run, (select count(*) from tool_call) as tool_call,
    (select count(*) from checkpoint) as checkpoint, (select count(*) from transcript) as transcript,
    (select count(*) from state_value) as state_value`.execute(db);
  return rows[0] ?? {};
}

test("only sessions deleted and ended longer ago than the retention are erasable, the oldest deletion first", async () => {
  const { db } = await openStore();
  const old = await addPast(db, { deletedDays: 8, endedDays: 9 });
  const older = await addPast(db, { deletedDays: 12, endedDays: 8 });
  const neverStarted = await addSession(db, "tenant/other");
  await sql`update session set delete_time = now() - interval '20 days' where id = ${neverStarted}`.execute(db);
  await addPast(db, { deletedDays: 8, endedDays: 6 });
  await addPast(db, { deletedDays: 6, endedDays: 8 });
  await addPast(db, { deletedDays: 8 });
  await addPast(db, { endedDays: 8 });
  const found = await listErasableSessions(db, { keptMs: 7 * dayMs, limit: 10 });
  expect(found).toEqual([
    { id: neverStarted, client: "tenant/other" },
    { id: older.session, client: "shared/test" },
    { id: old.session, client: "shared/test" },
  ]);
  expect(await listErasableSessions(db, { keptMs: 7 * dayMs, limit: 1 })).toEqual(found.slice(0, 1));
});

test("a session is erased with all its rows, and no other session is touched", async () => {
  const { db } = await openStore();
  const gone = await addPast(db, { deletedDays: 8, endedDays: 8 });
  const second = newUuid(Date.now());
  await sql`insert into run (id, client, session, driver, input, status, epoch, deadline, end_time)
    values (${second}, 'shared/test', ${gone.session}, 'test', '', 'failed', 1, now(), now() - interval '9 days')`.execute(
    db,
  );
  await addPast(db, {});
  expect(await eraseContents(db, [gone.session], retention)).toBe(2);
  // As after a crash in between: the bare session is still there for the next pass.
  expect(await listErasableSessions(db, { keptMs: 7 * dayMs, limit: 10 })).toHaveLength(1);
  expect(await eraseContents(db, [gone.session], retention)).toBe(0);
  await eraseSessions(db, [gone.session]);
  expect(await countRows(db)).toEqual({
    session: 1,
    run: 1,
    tool_call: 3,
    checkpoint: 1,
    transcript: 1,
    state_value: 501,
  });
});

test("tool calls are deleted in portions, and those of other runs stay", async () => {
  const { db } = await openStore();
  const [first, second] = [await addPast(db, {}), await addPast(db, {})];
  await addPast(db, {});
  await deleteToolCalls(db, { runs: [first.run, second.run], rowsMax: 2 });
  expect((await countRows(db)).tool_call).toBe(3);
});

test("tool calls and checkpoints are deleted an hour after the run's end, also in a session that lives", async () => {
  const { db } = await openStore();
  const ended = await addPast(db, { endedDays: 1 });
  await addPast(db, { endedDays: 0 });
  await addPast(db, {});
  const args = { endedMs: hourMs, createdBefore: lowestUuid(Date.now() + hourMs), limit: 2 };
  expect(await deleteIdleToolCalls(db, { ...args, createdBefore: lowestUuid(Date.now() - hourMs) })).toBe(0);
  expect(await deleteIdleToolCalls(db, args)).toBe(2);
  expect(await deleteIdleToolCalls(db, args)).toBe(1);
  expect(await deleteIdleToolCalls(db, args)).toBe(0);
  expect(await deleteIdleCheckpoints(db, args)).toBe(1);
  expect(await deleteIdleCheckpoints(db, args)).toBe(0);
  const left = await db.selectFrom("tool_call").select("run_id").where("run_id", "=", ended.run).execute();
  expect(left).toEqual([]);
  expect(await countRows(db)).toEqual({
    session: 3,
    run: 3,
    tool_call: 6,
    checkpoint: 2,
    transcript: 3,
    state_value: 1503,
  });
});

test("results in the default partition are deleted when their day is", async () => {
  const { db } = await openStore();
  const [old, young] = [newUuid(Date.UTC(2026, 2, 1)), newUuid(Date.UTC(2026, 2, 3))];
  await plant(db, old, 1, [1, 2, 3]);
  await plant(db, young, 1, [1]);
  const args = { beforeMs: Date.UTC(2026, 2, 2), limit: 2 };
  expect(await deleteUnpartitionedBefore(db, args)).toBe(2);
  expect(await deleteUnpartitionedBefore(db, args)).toBe(1);
  expect(await deleteUnpartitionedBefore(db, args)).toBe(0);
  expect(await db.selectFrom("run_result").select("run_id").execute()).toEqual([{ run_id: young }]);
});

test("usage of clients is kept for 90 days", async () => {
  const { db } = await openStore();
  await sql`insert into client_usage (client, day) select 'c', (now() at time zone 'utc')::date - age
    from unnest(array[0, 89, 90, 91, 400]) as age`.execute(db);
  await deleteUsageBefore(db, 90);
  const { rows } = await sql<{ count: number }>`select count(*) as count from client_usage`.execute(db);
  expect(rows).toEqual([{ count: 3 }]);
});
