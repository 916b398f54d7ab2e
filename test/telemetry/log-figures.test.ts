// Metrics of the log: results by type, batches, how runs ended, how soon readers had written results.

import { expect, onTestFinished, test } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import { ResultLog } from "../../src/engine/log/log.ts";
import { encodeResult, type LogEntry } from "../../src/engine/log/result.ts";
import { Dispatcher } from "../../src/engine/runs/dispatch.ts";
import { Lease } from "../../src/engine/runs/lease.ts";
import { insertResults } from "../../src/engine/storage/run-result.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { EventFields } from "../../src/platform/telemetry/events.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import {
  addReplica,
  addRun,
  hurriedClock,
  LocalWakeup,
  newChain,
  openStore,
  silentEvents,
  text,
  turn,
} from "../runlog/store.ts";

const runId = "0190b7c2-7b7f-7000-8000-000000000001";

test("results count by type once they are durable by any path, and a batch reports its size and time", async () => {
  const { connections, db } = await openStore();
  const batches: { results: number; durationMs: number }[] = [];
  const log = openLog({ connections, events: { ...silentEvents, batchWritten: (batch) => batches.push(batch) } });
  const owner = await addReplica(db);
  const run = await addRun(db, { owner });
  const writer = log.open({ runId: run.id, epoch: 1, replicaId: owner, chain: newChain(run.id), onLost: () => {} });
  for (const result of [turn(1), text("a"), turn(2), turn(3)]) {
    await writer.append(result);
  }
  expect([...log.countAppended()]).toEqual([]);
  await writer.flush();
  await writer.commit([turn(4)], async () => {});
  expect(Object.fromEntries(log.countAppended())).toEqual({ "turn.started": 4, "message.delta": 1 });
  expect(batches.reduce((sum, { results }) => sum + results, 0)).toBe(4);
  expect(batches.every(({ durationMs }) => durationMs > 0)).toBe(true);
});

const common = { durationMs: 1_500n, turns: 2 };

test.each([
  ["completed", "stop", { case: "runCompleted", value: { finishReason: "stop", ...common } }],
  ["failed", "runner.timeout", { case: "runFailed", value: { code: "runner.timeout", ...common } }],
  ["cancelled", "cancelled", { case: "runFailed", value: { code: "cancelled", ...common } }],
] as const)("an announced terminal result reports that its run %s, and why", async (status, code, payload) => {
  const { connections } = await openStore();
  const ends: unknown[] = [];
  const log = openLog({ connections, events: { ...silentEvents, runFinished: (end) => ends.push(end) } });
  log.announce(runId, [entryAt(1)]);
  log.announce(runId, [encodeResult({ payload }, { runId, sequence: 2, timeMs: 0 })]);
  log.announce(runId, []);
  expect(ends).toEqual([{ runId, status, code, durationMs: 1_500, turns: 2 }]);
});

test("a waiting reader is timed until it has its results, at most ten times a second", () => {
  const clock = createManualClock();
  const shown: number[] = [];
  const broadcaster = new Broadcaster({ clock, onShown: (lagMs) => shown.push(lagMs) });
  using reader = broadcaster.subscribe(runId);
  const take = (sequence: number, delayMs: number, sinceMs?: number): void => {
    void reader.beyond(sequence - 1);
    broadcaster.publish(runId, [entryAt(sequence)], sinceMs);
    clock.advance(delayMs);
    expect(reader.live(sequence - 1)).toHaveLength(1);
    // A second read of the same result is not measured again.
    reader.live(sequence - 1);
  };
  take(1, 7);
  expect(shown).toEqual([7]);
  take(2, 50);
  expect(shown).toEqual([7]);
  clock.advance(100);
  // A result of another replica, announced 20 ms before it was read.
  take(3, 5, clock.monotonicMs() - 20);
  expect(shown).toEqual([7, 25]);
});

test("a reader that does not wait is not timed, and neither is one that was woken for nothing", () => {
  const clock = createManualClock();
  const shown: number[] = [];
  const broadcaster = new Broadcaster({ clock, onShown: (lagMs) => shown.push(lagMs) });
  using reader = broadcaster.subscribe(runId);
  broadcaster.publish(runId, [entryAt(1)]);
  clock.advance(1_000);
  reader.live(0);
  void reader.beyond(1);
  reader.wake();
  reader.live(0);
  expect(shown).toEqual([]);
});

test("a result of another replica is timed from its notification, not from its read", async () => {
  const { db } = await openStore();
  const run = await addRun(db, { owner: await addReplica(db) });
  const clock = createManualClock();
  const shown: number[] = [];
  const broadcaster = new Broadcaster({ clock, onShown: (lagMs) => shown.push(lagMs) });
  const wakeup = new LocalWakeup();
  const follower = new Follower({ db, broadcaster, wakeup, clock, onError: () => {} });
  onTestFinished(() => follower.close());
  using reader = broadcaster.subscribe(run.id);
  const woken = reader.beyond(0);
  const { bytes: payload } = encodeResult(turn(1), { runId: run.id, sequence: 1, timeMs: 0 });
  await db.transaction().execute((trx) => insertResults(trx, [{ runId: run.id, sequence: 1, epoch: 1, payload }]));
  wakeup.publish({ topic: "result", key: run.id, value: 1 });
  clock.advance(40);
  await woken;
  expect(reader.live(0)).toHaveLength(1);
  expect(shown).toEqual([40]);
});

test("a run that is taken up reports its start, and its waiting time if it never ran before", async () => {
  const { db } = await openStore();
  const clock = hurriedClock(20);
  const started: EventFields<"runStarted">[] = [];
  const events = { ...silentEvents, runStarted: (fields: EventFields<"runStarted">) => void started.push(fields) };
  const lease = new Lease({ db, clock, events, leaseMs: 60_000, onLost: () => {} });
  const supervise = async () => {};
  const failLostEnd = async () => false;
  const dispatcher = new Dispatcher({
    db,
    clock,
    events,
    wakeup: new LocalWakeup(),
    lease,
    slots: 4,
    supervise,
    failLostEnd,
  });
  await lease.open();
  onTestFinished(() => lease.close());
  const fresh = await addRun(db);
  const again = await addRun(db);
  await db.updateTable("run").set({ epoch: 1 }).where("id", "=", again.id).execute();
  dispatcher.open();
  onTestFinished(() => dispatcher.close());
  await until("both to be taken", () => started.length === 2);
  const byId = new Map(started.map((each) => [each.runId, each]));
  expect(byId.get(fresh.id)).toEqual({ runId: fresh.id, epoch: 1, queueWaitMs: expect.any(Number) });
  expect(byId.get(again.id)).toEqual({ runId: again.id, epoch: 2, queueWaitMs: undefined });
});

function entryAt(sequence: number): LogEntry {
  return encodeResult(turn(sequence), { runId, sequence, timeMs: 0 });
}

function openLog(options: Pick<ConstructorParameters<typeof ResultLog>[0], "connections" | "events">): ResultLog {
  const log = new ResultLog({
    ...options,
    clock: systemClock,
    broadcaster: new Broadcaster(),
    wakeup: new LocalWakeup(),
    onLeaseLost: () => {},
    onError: () => {},
  });
  onTestFinished(() => log.close());
  return log;
}
