// The events of decision cycles.

import { row } from "../../platform/telemetry/events.ts";

/** The events of this protocol. */
export const events = {
  cycleNotStarted: row<{ agentId: string; error: unknown }>(
    "cycle.not_started",
    "warn",
    "A due decision cycle could not be started; the service tries it again.",
  ),
} as const;

type Rows = typeof events;

declare module "../../platform/telemetry/events.ts" {
  interface EventRows extends Rows {}
}
