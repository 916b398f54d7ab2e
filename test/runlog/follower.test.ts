// The follower: results of other replicas reach the readers of this one, even when wake-ups are lost.

import { expect, onTestFinished } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import { encodeResult } from "../../src/engine/log/result.ts";
import { insertResults } from "../../src/engine/storage/run-result.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { test } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { addRun, hurriedClock, LocalWakeup, turn } from "./store.ts";

function openFollower(db: Db, clock: Clock): { broadcaster: Broadcaster; wakeup: LocalWakeup; errors: unknown[] } {
  const broadcaster = new Broadcaster();
  const wakeup = new LocalWakeup();
  const errors: unknown[] = [];
  const follower = new Follower({ db, broadcaster, wakeup, clock, onError: (error) => errors.push(error) });
  onTestFinished(() => follower.close());
  return { broadcaster, wakeup, errors };
}

async function write(db: Db, runId: string, first: number, last: number): Promise<void> {
  const rows = Array.from({ length: last - first + 1 }, (_, index) => {
    const sequence = first + index;
    const { bytes } = encodeResult(turn(sequence), { runId, sequence, timeMs: 0 });
    return { runId, sequence, epoch: 1, payload: bytes };
  });
  await db.transaction().execute((trx) => insertResults(trx, rows));
}

test("a wake-up brings all written results, even more than one statement reads", async ({ store: { db } }) => {
  const { broadcaster, wakeup } = openFollower(db, createManualClock());
  const run = await addRun(db);
  using subscription = broadcaster.subscribe(run.id);
  await write(db, run.id, 1, 1_234);
  wakeup.publish({ topic: "result", key: run.id, value: 1_234 });
  await until("all results", () => broadcaster.heard(run.id) === 1_234);
  expect(subscription.live(1_233)?.map((entry) => entry.sequence)).toEqual([1_234]);
});

test("runs without a reader on this replica are not read", async ({ store: { db } }) => {
  const { broadcaster, wakeup } = openFollower(db, createManualClock());
  const [watched, other] = [await addRun(db), await addRun(db)];
  using _ = broadcaster.subscribe(watched.id);
  await write(db, other.id, 1, 1);
  await write(db, watched.id, 1, 1);
  wakeup.publish({ topic: "result", key: other.id, value: 1 });
  wakeup.publish({ topic: "result", key: watched.id, value: 1 });
  await until("the watched run", () => broadcaster.heard(watched.id) === 1);
  expect(broadcaster.heard(other.id)).toBeUndefined();
});

test("results that this process wrote are not read again", async ({ store: { db } }) => {
  const { broadcaster, wakeup } = openFollower(db, createManualClock());
  const [own, others] = [await addRun(db), await addRun(db)];
  using _own = broadcaster.subscribe(own.id);
  using _others = broadcaster.subscribe(others.id);
  await write(db, own.id, 1, 1);
  await write(db, others.id, 1, 1);
  wakeup.publish({ topic: "result", key: own.id, value: 1 }, true);
  wakeup.publish({ topic: "result", key: others.id, value: 1 });
  await until("the other run", () => broadcaster.heard(others.id) === 1);
  expect(broadcaster.heard(own.id)).toBe(0);
});

test("after a gap in the wake-ups, missed results are read at once", async ({ store: { db } }) => {
  const { broadcaster, wakeup } = openFollower(db, createManualClock());
  const run = await addRun(db);
  using _ = broadcaster.subscribe(run.id);
  await write(db, run.id, 1, 3);
  wakeup.gap();
  await until("the results", () => broadcaster.heard(run.id) === 3);
});

test("results whose wake-ups were lost are found by the poll", async ({ store: { db } }) => {
  const { broadcaster } = openFollower(db, hurriedClock(20));
  const run = await addRun(db);
  using _ = broadcaster.subscribe(run.id);
  await write(db, run.id, 1, 3);
  await until("the results", () => broadcaster.heard(run.id) === 3);
});

test("a read that fails while readers leave does not stop the follower", async ({ store: { db } }) => {
  const { broadcaster, wakeup, errors } = openFollower(db, createManualClock());
  const [failing, left, run] = [await addRun(db), await addRun(db), await addRun(db)];
  await write(db, failing.id, 1, 1);
  await db
    .updateTable("run_result")
    .set({ payload: Buffer.from([0xff]) })
    .execute();
  const subscriptions = [broadcaster.subscribe(failing.id), broadcaster.subscribe(left.id)];
  // The second wake-up comes while the first run is read, so the second run is still pending when that read fails.
  wakeup.publish({ topic: "result", key: failing.id, value: 1 });
  wakeup.publish({ topic: "result", key: left.id, value: 1 });
  await until("the failure", () => errors.length === 1);
  for (const subscription of subscriptions) {
    subscription[Symbol.dispose]();
  }
  wakeup.gap();
  using _ = broadcaster.subscribe(run.id);
  await write(db, run.id, 1, 1);
  wakeup.publish({ topic: "result", key: run.id, value: 1 });
  await until("the result", () => broadcaster.heard(run.id) === 1);
});
