// The reaper: runs whose replica is gone, whose deadline has passed, or that wait. Each run ends exactly once.

import { once } from "node:events";
import { sql } from "kysely";
import { expect } from "vitest";
import { decodeResult } from "../../src/engine/log/result.ts";
import { cancelRun } from "../../src/engine/runs/cancel.ts";
import type { Driver, DriverEnd, DriverStep, RunContext } from "../../src/engine/runs/driver.ts";
import { endRun, timedOut } from "../../src/engine/runs/terminal.ts";
import { findRun, lockRun, parkRun, wakeRun } from "../../src/engine/storage/run.ts";
import { readResults } from "../../src/engine/storage/run-result.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { test } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import {
  addReplica,
  addRun,
  completedWith,
  endLease,
  LocalWakeup,
  newChain,
  openStore,
  plant,
  readLog,
  type Store,
  silentEvents,
  turn,
} from "../runlog/store.ts";
import { openLog, openReaper, openReplica, reached } from "./stage.ts";

const completed = completedWith("done");

/** Waits for the end of the wait alone. */
const untilAborted = (_delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal?.addEventListener("abort", () => resolve(), { once: true });
    if (signal?.aborted !== false) {
      resolve();
    }
  });

function driver(name: string, recovery: Driver["recovery"], run: Driver["run"] = complete): Driver {
  return { name, recovery, run };
}

async function* complete(): AsyncGenerator<DriverStep, DriverEnd> {
  yield { kind: "append", result: turn(1) };
  return completed;
}

async function* untilStopped({ signal }: RunContext): AsyncGenerator<DriverStep, DriverEnd> {
  yield { kind: "append", result: turn(2) };
  if (!signal.aborted) {
    await once(signal, "abort");
  }
  return { kind: "failed", code: "runner.error", error: "stopped", retryable: false };
}

/** Parks until its time comes or it is woken, then continues as `goOn` says; by default it completes. */
function parking(wakeInMs: number | undefined, goOn: Driver["run"] = complete): Driver {
  return driver("parking", "resume", async function* (context): AsyncGenerator<DriverStep, DriverEnd> {
    if (context.checkpoint !== undefined) {
      return yield* goOn(context);
    }
    yield { kind: "append", result: turn(1) };
    return { kind: "parked", reason: "a pause", wakeInMs, checkpoint: { turn: 1, state: new Uint8Array() } };
  });
}

async function addOrphan({ db }: Store, driverName: string, takeovers = 0): Promise<string> {
  const owner = await addReplica(db);
  const { id } = await addRun(db, { owner, driver: driverName });
  await db.updateTable("run").set({ takeovers }).where("id", "=", id).execute();
  await endLease(db, owner);
  return id;
}

/** The code and text of every failure in a run's log. A log has at most one. */
async function failuresOf({ db }: Store, runId: string): Promise<string[]> {
  const rows = await readResults(db, { runId, after: 0, limit: 100 });
  return rows.flatMap(({ payload }) => {
    const result = decodeResult(payload).payload;
    return result.case === "runFailed" ? [`${result.value.code} ${result.value.error}`] : [];
  });
}

/** A dispatcher that works on none of these runs. */
const nobodyHere = { stopRun: (): void => {} };

test("the run of a replica whose lease ended is queued again with one more takeover, and the replica is removed", async () => {
  const store = await openStore();
  const id = await addOrphan(store, "steady");
  const wakeup = new LocalWakeup();
  openReaper(store, { drivers: [driver("steady", "resume")], wakeup });
  expect(await reached(store, id, "queued")).toMatchObject({ owner: null, takeovers: 1, epoch: 1 });
  expect(await store.db.selectFrom("replica").select("id").execute()).toEqual([]);
  expect(wakeup.published).toContainEqual({ topic: "queue", key: "", value: 0 });
});

test("many reapers take over each run once", async () => {
  const store = await openStore({ poolSize: 8 });
  const ids = [];
  for (let index = 0; index < 20; index++) {
    ids.push(await addOrphan(store, "steady"));
  }
  for (let index = 0; index < 4; index++) {
    openReaper(store, { drivers: [driver("steady", "resume")] });
  }
  for (const id of ids) {
    expect((await reached(store, id, "queued")).takeovers).toBe(1);
  }
});

test("a run that is taken over reports the restarted turn and completes", async ({ store }) => {
  const steady = driver("steady", "resume");
  const id = await addOrphan(store, "steady");
  const run = await findRun(store.db, id);
  const log = openLog(store, new LocalWakeup(), systemClock, () => {});
  const owner = await addReplica(store.db);
  await store.db.updateTable("run").set({ owner }).where("id", "=", id).execute();
  const chain = newChain(id);
  const writer = log.open({ runId: id, epoch: run?.epoch ?? 0, replicaId: owner, chain, onLost: () => {} });
  await writer.append(turn(1));
  await writer.flush();
  await endLease(store.db, owner);
  openReaper(store, { drivers: [steady] });
  await openReplica(store, { drivers: [steady] });
  await reached(store, id, "completed");
  expect(await readLog(store.db, id)).toEqual([
    [1, 1],
    [2, "turnRestarted"],
    [3, 1],
    [4, "runCompleted"],
  ]);
});

test("a run that lost its replica too often fails with crash_loop", async ({ store }) => {
  const id = await addOrphan(store, "steady", 3);
  openReaper(store, { drivers: [driver("steady", "resume")] });
  await reached(store, id, "failed");
  expect(await failuresOf(store, id)).toEqual([expect.stringMatching(/^host\.run_lost crash_loop/)]);
});

test("a run whose driver cannot resume fails with host.run_lost", async ({ store }) => {
  const id = await addOrphan(store, "fragile");
  openReaper(store, { drivers: [driver("fragile", "fail")] });
  await reached(store, id, "failed");
  expect(await failuresOf(store, id)).toEqual([expect.stringMatching(/^host\.run_lost the replica/)]);
});

test("a run that cannot be read fails alone, also when it is the first of its batch", async ({ store }) => {
  const damaged = await addOrphan(store, "fragile");
  await plant(store.db, damaged, 1, [1, 2]);
  const others = [await addOrphan(store, "fragile"), await addOrphan(store, "steady")] as const;
  const reports: string[] = [];
  openReaper(store, {
    drivers: [driver("fragile", "fail"), driver("steady", "resume")],
    events: { ...silentEvents, runUnreadable: ({ runId }) => void reports.push(runId) },
  });
  expect(await reached(store, damaged, "failed")).toMatchObject({ last_sequence: 3, log_hash: null, owner: null });
  await reached(store, others[0], "failed");
  await reached(store, others[1], "queued");
  expect(reports).toEqual([damaged]);
  const [last] = await readResults(store.db, { runId: damaged, after: 2, limit: 2 });
  expect(decodeResult(last?.payload ?? new Uint8Array()).payload).toMatchObject({
    case: "runFailed",
    value: { code: "host.log_damaged", retryable: false },
  });
});

test("a run is ended when its living owner is far past its deadline", async ({ store }) => {
  const owner = await addReplica(store.db);
  const late = await addRun(store.db, { owner, timeoutMs: -31_000 });
  const recent = await addRun(store.db, { owner, timeoutMs: -1_000 });
  openReaper(store);
  await reached(store, late.id, "failed");
  expect(await failuresOf(store, late.id)).toEqual(["runner.timeout context deadline exceeded"]);
  expect((await findRun(store.db, recent.id))?.status).toBe("running");
});

test("a reaper with the shortest allowed lease takes runs over", async ({ store }) => {
  openReaper(store, { drivers: [driver("steady", "resume")], leaseMs: 300, clock: systemClock });
  // The second run is for a later pass.
  for (let index = 0; index < 2; index++) {
    await reached(store, await addOrphan(store, "steady"), "queued");
  }
});

test("its look starts a queued run whose wake-up was lost, where the dispatcher does not poll", async ({ store }) => {
  const wakeup = new LocalWakeup();
  const neverPolls = { ...systemClock, sleep: untilAborted };
  await openReplica(store, { drivers: [driver("steady", "resume")], wakeup, clock: neverPolls });
  openReaper(store, { wakeup });
  const { id } = await addRun(store.db, { driver: "steady" });
  await reached(store, id, "completed");
});

test("it looks again when the first known time has come, and otherwise after a second", async ({ store }) => {
  const delays: number[] = [];
  const { promise: looked, resolve: look } = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    // On a half second, where the delays of idle loops end.
    monotonicMs: () => 0,
    sleep: (delayMs: number, signal?: AbortSignal): Promise<void> => {
      delays.push(delayMs);
      look();
      return untilAborted(0, signal);
    },
  };
  const wakeup = new LocalWakeup();
  openReaper(store, { wakeup, clock, leaseMs: 60_000 });
  await looked;
  const { id } = await addRun(store.db);
  await sql`update run set status = 'waiting', wake_at = now() + interval '400 milliseconds' where id = ${id}`.execute(
    store.db,
  );
  wakeup.wake("tree");
  await until("the second look", () => delays.length === 2);
  expect(delays[0]).toBe(1_000);
  expect(delays[1]).toBeLessThanOrEqual(400);
});

test("a run ends once, even when it is ended several times at once", async ({ store }) => {
  const { id } = await addRun(store.db);
  const end = () =>
    store.db.transaction().execute(async (trx) => {
      const run = await lockRun(trx, id);
      return run === undefined ? [] : await endRun(trx, { run, end: timedOut, clock: systemClock });
    });
  const written = await Promise.all([end(), end(), end()]);
  expect(written.map((entries) => entries.length).toSorted()).toEqual([0, 0, 1]);
  expect(await failuresOf(store, id)).toHaveLength(1);
  expect(await findRun(store.db, id)).toMatchObject({ status: "failed", last_sequence: 1, owner: null });
});

test("a parked run has no owner and continues when its time comes", async ({ store }) => {
  const drivers = [parking(1)];
  await openReplica(store, { drivers });
  const { id } = await addRun(store.db, { driver: "parking" });
  expect(await reached(store, id, "waiting")).toMatchObject({ owner: null, wait_reason: "a pause" });
  openReaper(store, { drivers });
  await reached(store, id, "completed");
  expect((await readLog(store.db, id)).map(([, what]) => what)).toEqual([1, "runWaiting", 1, "runCompleted"]);
});

test("a parked run continues when it is woken, and can be woken only once", async ({ store }) => {
  await openReplica(store, { drivers: [parking(undefined)] });
  const { id } = await addRun(store.db, { driver: "parking" });
  await reached(store, id, "waiting");
  expect(await Promise.all([wakeRun(store.db, id), wakeRun(store.db, id)])).toEqual(
    expect.arrayContaining([true, false]),
  );
  await reached(store, id, "completed");
});

test("a parked run that is never woken fails at its deadline", async ({ store }) => {
  const drivers = [parking(undefined, untilStopped)];
  await openReplica(store, { drivers });
  openReaper(store, { drivers });
  const { id } = await addRun(store.db, { driver: "parking" });
  await reached(store, id, "waiting");
  const past = new Date(Date.now() - 1_000);
  await store.db.updateTable("run").set({ deadline: past, wake_at: past }).where("id", "=", id).execute();
  await reached(store, id, "failed");
  expect(await failuresOf(store, id)).toEqual(["runner.timeout context deadline exceeded"]);
});

test("a driver that begins after the deadline is stopped from the start, and does not park the run again", async () => {
  const store = await openStore();
  const begun: boolean[] = [];
  const late = driver("late", "resume", async function* ({ signal }): AsyncGenerator<DriverStep, DriverEnd> {
    begun.push(signal.aborted);
    yield { kind: "flush" };
    return { kind: "parked", reason: "a pause", wakeInMs: undefined, checkpoint: { turn: 0, state: new Uint8Array() } };
  });
  const { id } = await addRun(store.db, { driver: "late", timeoutMs: -1_000 });
  await openReplica(store, { drivers: [late] });
  await reached(store, id, "failed");
  expect(await failuresOf(store, id)).toEqual(["runner.timeout context deadline exceeded"]);
  expect((await findRun(store.db, id))?.last_sequence).toBe(1);
  expect(begun).toEqual([true]);
});

test("a cancel that comes while a run is being parked takes effect without waiting for its wake-up", async () => {
  const store = await openStore();
  const drivers = [parking(undefined, untilStopped)];
  const { id } = await addRun(store.db, { driver: "parking", owner: await addReplica(store.db) });
  const wakeup = new LocalWakeup();
  const log = openLog(store, wakeup, systemClock, () => {});
  // The owner has decided to park and no longer sees the cancel.
  await cancelRun({ db: store.db, clock: systemClock, log, wakeup, dispatcher: nobodyHere }, id);
  await store.db.transaction().execute((trx) => parkRun(trx, { id, reason: "a pause", wakeInMs: undefined }));
  openReaper(store, { drivers });
  await openReplica(store, { drivers });
  await reached(store, id, "cancelled");
});

test("a waiting run is cancelled at once", async ({ store }) => {
  const { id } = await addRun(store.db);
  await store.db.transaction().execute((trx) => parkRun(trx, { id, reason: "a pause", wakeInMs: undefined }));
  const wakeup = new LocalWakeup();
  const log = openLog(store, wakeup, systemClock, () => {});
  await cancelRun({ db: store.db, clock: systemClock, log, wakeup, dispatcher: nobodyHere }, id);
  await cancelRun({ db: store.db, clock: systemClock, log, wakeup, dispatcher: nobodyHere }, id);
  expect(await findRun(store.db, id)).toMatchObject({ status: "cancelled", last_sequence: 1 });
  expect(wakeup.published).toEqual([{ topic: "result", key: id, value: 1 }]);
});
