// How often a runner may ask of its host.

import { RateLimit } from "../../../platform/auth/rate-limit.ts";
import type { Clock } from "../../../platform/base/clock.ts";

/** A runner that counts tokens and looks for a cancel all the time stays far below. */
const perSecond = 200;
/** What a turn of many steps asks for at once. */
const burst = 400;

/** A bucket for each run. */
export function openHostRate(clock: Clock): RateLimit {
  return new RateLimit({ clock, requestsPerSecond: perSecond, burst, message: "too many calls of this run" });
}
