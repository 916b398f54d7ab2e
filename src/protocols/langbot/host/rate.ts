// The rate limit of a run's calls to the host API.

import { RateLimit } from "../../../platform/auth/rate-limit.ts";
import type { Clock } from "../../../platform/base/clock.ts";

/** Calls per second. A runner that constantly counts tokens and polls for a cancellation stays far below. */
const perSecond = 200;
/** Calls at once, for a turn of many steps. */
const burst = 400;

/** Opens a rate limit with one bucket for each run. */
export function openHostRate(clock: Clock): RateLimit {
  return new RateLimit({ clock, requestsPerSecond: perSecond, burst, message: "too many calls of this run" });
}
