// The system clock.

import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";

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
