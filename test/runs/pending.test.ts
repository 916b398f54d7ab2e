// Pending runs: they keep their session from starting others, and are queued when the runs before them have ended.

import { expect, test } from "vitest";
import { cancelRunWithin } from "../../src/engine/runs/cancel.ts";
import { type StartDeps, startAlone, startRun } from "../../src/engine/runs/start.ts";
import { queuePendingRuns } from "../../src/engine/storage/pending-run.ts";
import { hasActiveRun } from "../../src/engine/storage/purge.ts";
import { findRun, wakeRun } from "../../src/engine/storage/run.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { inTransaction } from "../../src/platform/database/in-transaction.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { addSession, connect, input, openStore, type Store } from "../runlog/store.ts";
import { openReplica } from "./stage.ts";

const client = "shared/test";
const never = new Promise<void>(() => {});
const timeoutMs = 60_000;

async function openStarts(store: Store) {
  const { dispatcher, log, wakeup } = await openReplica(store, { slots: 0, supervise: () => never });
  const limits = { concurrentRunsMax: 0, clientRunsMax: 0, freeWhileWaiting: [] };
  const deps: StartDeps = { db: store.db, clock: systemClock, wakeup, dispatcher, ...limits, timeoutMs };
  const session = await addSession(store.db);
  const request = { client, session, driver: "test", agentName: "test", input };
  return {
    deps: { ...deps, log },
    session,
    tryStart: () => startAlone(deps, request),
    start: (more: { queueIfBusy?: boolean; callbackUrl?: string; startMs?: number } = {}) =>
      inTransaction(store.db, (trx) => startRun(trx, deps, { ...request, ...more })),
  };
}

/** Ends a run in its row alone. */
async function end({ db }: Store, id: string): Promise<void> {
  const done = { status: "completed", wake_at: null, end_time: new Date() } as const;
  await db.updateTable("run").set(done).where("id", "=", id).execute();
}

test("a session with a pending run starts no other run, even when no run of it is active", async () => {
  const store = await openStore({ own: true });
  const { session, start, tryStart } = await openStarts(store);
  const first = await start();
  const pending = await start({ queueIfBusy: true });
  await end(store, first);
  expect(await tryStart()).toBeUndefined();
  await expect(start()).rejects.toMatchObject({ reason: "SESSION_BUSY" });
  const name = { client, name: session };
  expect(await store.db.transaction().execute((trx) => hasActiveRun(trx, name))).toBe(true);
  const behind = await start({ queueIfBusy: true });
  const latest = store.db.selectFrom("session").select("latest_run_id").where("id", "=", session);
  expect(await latest.execute()).toEqual([{ latest_run_id: first }]);
  expect(await queuePendingRuns(store.db, 10)).toHaveLength(1);
  expect(await latest.execute()).toEqual([{ latest_run_id: pending }]);
  expect([await findRun(store.db, pending), await findRun(store.db, behind)]).toMatchObject([
    { status: "queued", wait_reason: null },
    { status: "pending", wait_reason: "session" },
  ]);
});

test("its timeout begins when it is queued, or at its start time", async () => {
  const store = await openStore({ own: true });
  const { start } = await openStarts(store);
  const first = await start();
  const soon = await start({ queueIfBusy: true });
  const startMs = Date.now() + 3_600_000;
  const late = await start({ queueIfBusy: true, startMs });
  // As if it had waited for an hour.
  const hour = 3_600_000;
  const before = new Date(Date.now() - hour);
  const past = { wake_at: before, deadline: new Date(before.getTime() + timeoutMs) };
  await store.db.updateTable("run").set(past).where("id", "=", soon).execute();
  for (const [ended, id, leftMs] of [
    [first, soon, timeoutMs],
    [soon, late, hour + timeoutMs],
  ] as const) {
    await end(store, ended);
    await queuePendingRuns(store.db, 10);
    const run = await findRun(store.db, id);
    expect(run?.status).toBe("queued");
    expect(run?.time_left_ms).toBeGreaterThan(leftMs - 30_000);
    expect(run?.time_left_ms).toBeLessThanOrEqual(leftMs);
  }
});

test("its callbacks begin when it is queued, so that one cancelled before sends none", async () => {
  const store = await openStore({ own: true });
  const { start, deps } = await openStarts(store);
  const callbackUrl = "https://callbacks.invalid";
  const first = await start({ callbackUrl });
  const [cancelled, pending] = [
    await start({ callbackUrl, queueIfBusy: true }),
    await start({ callbackUrl, queueIfBusy: true }),
  ];
  await inTransaction(store.db, (trx) => cancelRunWithin(trx, deps, cancelled));
  await end(store, first);
  expect(await queuePendingRuns(store.db, 10)).toEqual([{ callback_url: callbackUrl }]);
  expect((await findRun(store.db, cancelled))?.status).toBe("cancelled");
  const told = store.db.selectFrom("callback").select(["run_id", "status"]).orderBy("position");
  expect(await told.execute()).toEqual([
    { run_id: first, status: "running" },
    { run_id: pending, status: "running" },
  ]);
});

test("a locked session, and one in which a run begins meanwhile, wait for the next look", async () => {
  const store = await openStore({ own: true });
  const { session, start } = await openStarts(store);
  const first = await start();
  const pending = await start({ queueIfBusy: true });
  await end(store, first);
  const other = connect(store.url).db;
  await other.transaction().execute(async (trx) => {
    await trx.selectFrom("session").select("id").where("id", "=", session).forNoKeyUpdate().execute();
    expect(await queuePendingRuns(store.db, 10)).toEqual([]);
  });
  const late = newUuid(0);
  const looking = await other.transaction().execute(async (trx) => {
    const row = { id: late, client, session, driver: "test", input: Buffer.from(input), status: "queued" } as const;
    await trx
      .insertInto("run")
      .values({ ...row, epoch: 0, deadline: new Date(), wake_at: new Date() })
      .execute();
    const look = queuePendingRuns(store.db, 10);
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await until("the look to wait for it", async () => (await query(store.url, waiting)).length > 0);
    return { look };
  });
  expect(await looking.look).toEqual([]);
  expect((await findRun(store.db, pending))?.status).toBe("pending");
  await end(store, late);
  expect(await queuePendingRuns(store.db, 10)).toHaveLength(1);
  expect(await wakeRun(store.db, pending)).toBe(false);
});
