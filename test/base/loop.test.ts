// A loop passes, waits and passes again until it closes, even when a pass throws.

import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import { Loop } from "../../src/platform/base/loop.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";

const never = 1_000_000;

function createLoop(options: { everyMs: number; waitsFirst?: boolean; pass: () => Promise<void> | void }) {
  const errors: unknown[] = [];
  const loop = new Loop({ clock: systemClock, onError: (error) => errors.push(error), ...options });
  return { loop, errors };
}

test("a pass that throws is reported, and the next one runs", async () => {
  let passes = 0;
  const { loop, errors } = createLoop({
    everyMs: 1,
    pass: () => {
      passes += 1;
      if (passes === 1) {
        throw new Error("first");
      }
    },
  });
  loop.open();
  await until("three passes", () => passes >= 3);
  await loop.close();
  expect(errors).toEqual([new Error("first")]);
  const atClose = passes;
  await systemClock.sleep(20);
  expect(passes).toBe(atClose);
});

test("a wake during a pass starts another pass right after it", async () => {
  let passes = 0;
  const { loop } = createLoop({
    everyMs: never,
    pass: () => {
      passes += 1;
      if (passes === 1) {
        loop.wake();
      }
    },
  });
  loop.open();
  await until("two passes", () => passes === 2);
  loop.wake();
  await until("three passes", () => passes === 3);
  await loop.close();
});

test("a loop that waits first has no pass before its wait, and a close ends the wait", async () => {
  let passes = 0;
  const { loop } = createLoop({
    everyMs: never,
    waitsFirst: true,
    pass: () => {
      passes += 1;
    },
  });
  loop.open();
  await loop.close();
  expect(passes).toBe(0);
});

test("a close waits for the pass under way, whose signal asks it to end", async () => {
  const order: string[] = [];
  const { loop } = createLoop({
    everyMs: never,
    pass: async () => {
      await systemClock.sleep(never, loop.closing);
      order.push("pass over");
    },
  });
  loop.open();
  await loop.close();
  order.push("closed");
  expect(order).toEqual(["pass over", "closed"]);
});

test("a loop with nothing to look at sets no timer, waits as usual when it is resumed, and passes at once when it is woken", async () => {
  const clock = createManualClock();
  let watched = 0;
  let passes = 0;
  const loop = new Loop({
    clock,
    everyMs: 500,
    isIdle: () => watched === 0,
    pass: () => {
      passes += 1;
    },
    onError: () => {},
  });
  loop.open();
  await turns();
  expect({ passes, delaysMs: clock.delaysMs }).toEqual({ passes: 1, delaysMs: [] });
  watched = 1;
  loop.resume();
  await clock.slept(1);
  expect({ passes, delaysMs: clock.delaysMs }).toEqual({ passes: 1, delaysMs: [500] });
  watched = 0;
  clock.advance(500);
  await turns();
  expect({ passes, delaysMs: clock.delaysMs }).toEqual({ passes: 2, delaysMs: [500] });
  loop.wake();
  await turns();
  expect(passes).toBe(3);
  await loop.close();
  expect(passes).toBe(3);
});

/** Lets everything happen that needs no timer. */
async function turns(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
