// Results that a driver appends while it is asked for its next step.

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "vitest";
import { cancelRun } from "../../src/engine/runs/cancel.ts";
import type { Driver, DriverEnd, DriverStep, RunContext } from "../../src/engine/runs/driver.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { test } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { addRun, readLog, type Store, turn } from "../runlog/store.ts";
import { openReplica, reached } from "./stage.ts";

const over: DriverEnd = { kind: "failed", code: "runner.error", error: "over", retryable: false, results: [turn(6)] };

function driver(run: Driver["run"]): Driver {
  return { name: "test", recovery: "resume", stopGraceMs: 20, run };
}

async function resultsOf({ db }: Store, id: string): Promise<unknown[]> {
  return (await readLog(db, id)).map(([, result]) => result);
}

test("they are in the log in the order in which the driver appended and yielded", async ({ store }) => {
  const mixed = driver(async function* ({ tryAppend }): AsyncGenerator<DriverStep, DriverEnd> {
    yield { kind: "append", result: turn(1) };
    await nextTurn();
    expect(tryAppend(turn(2))).toBe(true);
    await nextTurn();
    expect(tryAppend(turn(3))).toBe(true);
    yield { kind: "commit", results: [turn(4)], effects: {} };
    expect(tryAppend(turn(5))).toBe(true);
    return over;
  });
  const { id } = await addRun(store.db);
  await openReplica(store, { drivers: [mixed], clock: systemClock });
  await reached(store, id, "failed");
  expect(await resultsOf(store, id)).toEqual([1, 2, 3, 4, 5, 6, "runFailed"]);
});

test("a driver that has fallen behind the log is refused, and its step waits for room", async ({ store }) => {
  let taken = 0;
  const eager = driver(async function* ({ tryAppend }): AsyncGenerator<DriverStep, DriverEnd> {
    while (tryAppend(turn(++taken))) {}
    yield { kind: "append", result: turn(taken) };
    yield { kind: "flush" };
    expect(tryAppend(turn(++taken))).toBe(true);
    return { ...over, results: [] };
  });
  const { id } = await addRun(store.db);
  await openReplica(store, { drivers: [eager], clock: systemClock });
  await reached(store, id, "failed");
  expect(taken).toBeGreaterThan(100);
  expect(await resultsOf(store, id)).toEqual([...Array.from({ length: taken }, (_, index) => index + 1), "runFailed"]);
});

test("a driver that was left behind appends nothing after the end of its run", async ({ store }) => {
  let context: RunContext | undefined;
  const stuck = driver(async function* (given): AsyncGenerator<DriverStep, DriverEnd> {
    yield { kind: "append", result: turn(1) };
    context = given;
    return await new Promise<DriverEnd>(() => {});
  });
  const { id } = await addRun(store.db);
  const { dispatcher, log, wakeup } = await openReplica(store, { drivers: [stuck], clock: systemClock });
  const { tryAppend } = await until("the driver to be stuck", () => context);
  expect(tryAppend(turn(2))).toBe(true);
  await cancelRun({ db: store.db, clock: systemClock, log, wakeup, dispatcher }, id);
  await reached(store, id, "cancelled");
  expect(tryAppend(turn(3))).toBe(false);
  expect(await resultsOf(store, id)).toEqual([1, 2, "runFailed"]);
});
