// The time in spans: wall time when a run is taken up, then advanced by the monotonic clock. So spans nest correctly even when
// the wall clock changes meanwhile.

import type { HrTime } from "@opentelemetry/api";
import type { Clock } from "../../base/clock.ts";

/** Returns the clock for the spans of one run. */
export function startTime(clock: Clock): () => HrTime {
  const wallMs = clock.nowMs();
  const startMs = clock.monotonicMs();
  return () => {
    const sinceMs = clock.monotonicMs() - startMs;
    const seconds = Math.floor((wallMs + sinceMs) / 1_000);
    // Nanoseconds since 1970 exceed the precision of a number; those within a run do not.
    return [seconds, Math.floor((wallMs - seconds * 1_000 + sinceMs) * 1_000_000)];
  };
}
