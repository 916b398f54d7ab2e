// Time in spans: wall time when a run is taken up, and from there on what the monotonic clock says, so that spans lie within
// one another as they did, whatever is done to the wall clock meanwhile.

import type { HrTime } from "@opentelemetry/api";
import type { Clock } from "../../base/clock.ts";

/** Tells the time, for the spans of one run. */
export function startTime(clock: Clock): () => HrTime {
  const wallMs = clock.nowMs();
  const startMs = clock.monotonicMs();
  return () => {
    const sinceMs = clock.monotonicMs() - startMs;
    const seconds = Math.floor((wallMs + sinceMs) / 1_000);
    // Nanoseconds since 1970 are more than a number can hold; what passes within a run is not.
    return [seconds, Math.floor((wallMs - seconds * 1_000 + sinceMs) * 1_000_000)];
  };
}
