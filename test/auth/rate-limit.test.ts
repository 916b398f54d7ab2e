// Rate limits: they let through exactly as much as a token bucket does, and use no more memory than was promised.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
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

describe("further tokens of a call", () => {
  test("are waited for within the time of the call, and are what the bucket lacks", () => {
    const limit = new RateLimit({ clock: createManualClock(), requestsPerSecond: 2, burst: 3 });
    limit.take("a");
    const advance = limit.openAdvance("a", 10_000);
    expect([advance(0), advance(2), advance(4), advance(1)]).toEqual([0, 0, 2_000, 2_500]);
    expect(isLetIn(limit, "a")).toBe(false);
    expect(countLetIn(limit, "b", 5)).toBe(3);
  });

  test("are never more than a full bucket has within the time", () => {
    const clock = createManualClock();
    const limit = new RateLimit({ clock, requestsPerSecond: 2, burst: 3 });
    limit.take("a");
    const advance = limit.openAdvance("a", 10_000);
    // 3 and 20, less the one of the call.
    for (const [tokens, waitMs] of [
      [12, 5_000],
      [1_000, 5_000],
      [1_000, 0],
    ] as const) {
      expect(advance(tokens)).toBe(waitMs);
      clock.advance(waitMs);
    }
  });

  test("are refused beyond the time, and all are there for the same call when the refusal says", () => {
    const clock = createManualClock();
    const limit = new RateLimit({ clock, requestsPerSecond: 2, burst: 10 });
    const call = (): number | undefined => {
      limit.take("a");
      const advance = limit.openAdvance("a", 1_000);
      try {
        clock.advance(advance(1));
        clock.advance(advance(8));
        return undefined;
      } catch (error) {
        return (error as Fault).retryAfterMs;
      }
    };
    expect(call()).toBeUndefined();
    // Five tokens: the last three of the call would come after two and a half seconds.
    clock.advance(2_500);
    const retryAfterMs = call();
    expect(retryAfterMs).toBe(2_500);
    clock.advance(retryAfterMs ?? 0);
    expect(call()).toBeUndefined();
  });

  test("are refused when the call has waited for others already", () => {
    const clock = createManualClock();
    const limit = new RateLimit({ clock, requestsPerSecond: 2, burst: 3 });
    expect(countLetIn(limit, "a", 3)).toBe(3);
    const advance = limit.openAdvance("a", 1_000);
    clock.advance(advance(2));
    expect(() => advance(1)).toThrow(Fault);
  });

  test("cost nothing without a limit", () => {
    const limit = new RateLimit({ clock: createManualClock(), requestsPerSecond: 0, burst: 1 });
    expect(limit.openAdvance("a", 10)(1_000_000)).toBe(0);
  });
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
