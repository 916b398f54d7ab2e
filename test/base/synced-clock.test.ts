// A clock that follows another clock: when it follows, when it does not, and how exactly.

import { expect, test } from "vitest";
import { SyncedClock } from "../../src/platform/base/synced-clock.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const startMs = 1_000_000;
const minuteMs = 60_000;

/** A clock that starts at 1 000 000, and answers that take a given time. */
function open() {
  const own = createManualClock({ nowMs: startMs });
  const clock = new SyncedClock(own);
  const sync = (shownMs: number, tookMs = 0): number | undefined => {
    const askedAtMs = clock.monotonicMs();
    own.advance(tookMs);
    return clock.sync({ askedAtMs, shownMs });
  };
  return { own, clock, sync };
}

test("before its first sync it is the machine's own clock", () => {
  expect(open().clock.nowMs()).toBe(startMs);
});

test.each([5 * minuteMs, -10 * minuteMs])("a clock that is %i ms ahead is corrected and reported once", (aheadMs) => {
  const { own, clock, sync } = open();
  expect(sync(startMs - aheadMs)).toBe(aheadMs);
  expect(clock.nowMs()).toBe(startMs - aheadMs);
  own.advance(400);
  expect(clock.nowMs()).toBe(startMs - aheadMs + 400);
  expect(sync(startMs - aheadMs + 400)).toBeUndefined();
  expect(clock.monotonicMs()).toBe(startMs + 400);
});

test("a clock that jumps is corrected again, and the report has the new error", () => {
  const { own, clock, sync } = open();
  sync(startMs - 5 * minuteMs);
  own.advance(minuteMs);
  // The minute did not pass: an operator moved the clock.
  expect(sync(startMs - 5 * minuteMs)).toBe(6 * minuteMs);
  expect(clock.nowMs()).toBe(startMs - 5 * minuteMs);
  own.advance(-6 * minuteMs);
  expect(sync(startMs - 5 * minuteMs)).toBe(0);
});

test.each([999, -999, 0])("a clock that is %i ms off is left alone", (aheadMs) => {
  const { clock, sync } = open();
  expect(sync(startMs - aheadMs)).toBeUndefined();
  expect(clock.nowMs()).toBe(startMs);
});

test.each([0, 15_000, 30_000])(
  "an answer that took 30 s and was made after %i ms does not change the clock",
  (madeMs) => {
    const { clock, sync } = open();
    expect(sync(startMs + madeMs, 30_000)).toBeUndefined();
    expect(clock.nowMs()).toBe(startMs + 30_000);
  },
);

test("after a slow answer it is right to half of the answer's duration, and after a quick one exactly", () => {
  const { own, clock, sync } = open();
  expect(sync(startMs + 10 * minuteMs, 20_000)).toBe(-10 * minuteMs + 10_000);
  expect(Math.abs(clock.nowMs() - (own.nowMs() + 10 * minuteMs))).toBe(10_000);
  expect(sync(own.nowMs() + 10 * minuteMs)).toBe(-10 * minuteMs);
  expect(clock.nowMs()).toBe(own.nowMs() + 10 * minuteMs);
});

test("its time is precise enough for an id", () => {
  const { clock, sync } = open();
  sync(startMs + 10 * minuteMs + 0.37, 3);
  expect(Number.isInteger(clock.nowMs())).toBe(true);
});
