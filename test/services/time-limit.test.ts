// One sleep that watches many things, each with the same duration.

import { expect, test } from "vitest";
import { TimeLimit } from "../../src/platform/base/time-limit.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const limitMs = 1_000;

function openStage() {
  const clock = createManualClock();
  const limit = new TimeLimit(clock, limitMs);
  const over: string[] = [];
  return { clock, over, watch: (name: string) => limit.watch(() => over.push(name)) };
}

/** When it resolves, a sleeper that woke up has done its work. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("each item expires after the limit, counted from its own start", async () => {
  const { clock, over, watch } = openStage();
  watch("first");
  clock.advance(400);
  watch("second");
  clock.advance(599);
  await nextTurn();
  expect(over).toEqual([]);
  clock.advance(1);
  await nextTurn();
  expect(over).toEqual(["first"]);
  clock.advance(399);
  await nextTurn();
  expect(over).toEqual(["first"]);
  clock.advance(1);
  await nextTurn();
  expect(over).toEqual(["first", "second"]);
});

test("an item that was stopped never expires, and a later one still does", async () => {
  const { clock, over, watch } = openStage();
  const stop = watch("ended");
  clock.advance(500);
  watch("later");
  stop();
  stop();
  clock.advance(limitMs);
  await nextTurn();
  expect(over).toEqual(["later"]);
});

test("many items share one sleep, and none remains when all were stopped", async () => {
  const { clock, over, watch } = openStage();
  const stops = Array.from({ length: 100 }, (_, index) => watch(`${index}`));
  expect(clock.delaysMs).toHaveLength(1);
  for (const stop of stops) {
    stop();
  }
  await nextTurn();
  clock.advance(limitMs);
  await nextTurn();
  expect(over).toEqual([]);
  expect(clock.delaysMs).toHaveLength(1);
});

test("an item that starts when the last one has just been stopped is watched", async () => {
  const { clock, over, watch } = openStage();
  watch("ended")();
  watch("new");
  await nextTurn();
  clock.advance(limitMs);
  await nextTurn();
  expect(over).toEqual(["new"]);
});

test("all expired items are reported, even when the sleep was late", async () => {
  const { clock, over, watch } = openStage();
  watch("first");
  clock.advance(10);
  watch("second");
  clock.advance(60_000);
  await nextTurn();
  expect(over).toEqual(["first", "second"]);
});
