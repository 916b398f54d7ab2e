// Rate limits: they let through exactly as much as a token bucket does, and use no more memory than was promised.

import fc from "fast-check";
import { expect, test } from "vitest";
import { RateLimit } from "../../src/platform/auth/rate-limit.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { createManualClock } from "../harness/manual-clock.ts";

function isLetIn(limit: RateLimit, key: string): boolean {
  try {
    limit.take(key);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).reason).toBe("RATE_LIMITED");
    return false;
  }
}

function countLetIn(limit: RateLimit, key: string, attempts: number): number {
  return Array.from({ length: attempts }).filter(() => isLetIn(limit, key)).length;
}

test("a whole burst is admitted and no more; then one request for each interval", () => {
  const clock = createManualClock();
  const limit = new RateLimit({ clock, requestsPerSecond: 20, burst: 40 });
  expect(countLetIn(limit, "a", 100)).toBe(40);
  clock.advance(49);
  expect(countLetIn(limit, "a", 5)).toBe(0);
  clock.advance(1);
  expect(countLetIn(limit, "a", 5)).toBe(1);
  expect(countLetIn(limit, "b", 100)).toBe(40);
  clock.advance(60_000);
  expect(countLetIn(limit, "a", 100)).toBe(40);
});

test("a refused request gets the time to wait, and is admitted after it", () => {
  const clock = createManualClock();
  const limit = new RateLimit({ clock, requestsPerSecond: 2, burst: 1 });
  limit.take("a");
  let waitMs = 0;
  try {
    limit.take("a");
  } catch (error) {
    waitMs = (error as Fault).retryAfterMs ?? 0;
  }
  expect(waitMs).toBe(500);
  clock.advance(waitMs);
  limit.take("a");
});

test("0 a second means no limit", () => {
  const limit = new RateLimit({ clock: createManualClock(), requestsPerSecond: 0, burst: 1 });
  expect(countLetIn(limit, "a", 1_000)).toBe(1_000);
});

test("keys beyond the maximum share one bucket, until other buckets are full again", () => {
  const clock = createManualClock();
  const limit = new RateLimit({ clock, requestsPerSecond: 1, burst: 2 });
  for (let count = 0; count < 100_000; count += 1) {
    limit.take(`flood ${count}`);
  }
  expect(["x", "y", "z"].map((key) => isLetIn(limit, key))).toEqual([true, true, false]);
  clock.advance(3_000);
  expect(["x", "y", "z"].map((key) => isLetIn(limit, key))).toEqual([true, true, true]);
});

test("any sequence of requests is admitted as by a token bucket", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 10 }),
      (gapsMs, requestsPerSecond, burst) => {
        const clock = createManualClock();
        const limit = new RateLimit({ clock, requestsPerSecond, burst });
        const intervalMs = 1_000 / requestsPerSecond;
        let tokens = burst;
        for (const gapMs of gapsMs) {
          clock.advance(gapMs);
          tokens = Math.min(burst, tokens + gapMs / intervalMs);
          const isLet = isLetIn(limit, "a");
          // At the very edge of a token either answer is right, because the two sum fractions in a different order.
          if (Math.abs(tokens - 1) > 1e-6) {
            expect(isLet).toBe(tokens > 1);
          }
          tokens -= isLet ? 1 : 0;
        }
      },
    ),
  );
});
