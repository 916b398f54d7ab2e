// The system clock, and the delays of idle loops.

import { expect, test } from "vitest";
import { alignedDelay, systemClock } from "../../src/platform/base/clock.ts";

test("a sleep beyond the maximum of a Node timer does not end at once, and ends with its signal", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  const awake = new AbortController();
  let isOver = false;
  const sleeping = systemClock.sleep(2 ** 31 + 1_000, awake.signal).then(() => {
    isOver = true;
  });
  await systemClock.sleep(20);
  process.off("warning", onWarning);
  expect({ isOver, warnings }).toEqual({ isOver: false, warnings: [] });
  awake.abort();
  await sleeping;
  expect(isOver).toBe(true);
});

test.each([
  ["ends on the last half second in time", { nowMs: 1_200.4, delayMs: 1_000 }, 800],
  ["waits for the next one when its timer was early", { nowMs: 999, delayMs: 500 }, 501],
  ["lasts its whole time on a half second", { nowMs: 1_500, delayMs: 1_000 }, 1_000],
  ["stays as it is when it is shorter than that", { nowMs: 1_300, delayMs: 250 }, 250],
])("a delay of an idle loop %s", (_what, { nowMs, delayMs }, expectedMs) => {
  expect(alignedDelay({ monotonicMs: () => nowMs }, delayMs)).toBe(expectedMs);
});
