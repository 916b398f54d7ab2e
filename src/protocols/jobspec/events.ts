// The events of jobs and of trusted keys.

import { row } from "../../platform/telemetry/events.ts";

/** The events of this protocol. */
export const events = {
  jobspecRefused: row<{ client: string; code: string }>(
    "jobspec.refused",
    "info",
    "A JobSpec was refused; the trust audit has the details.",
  ),
  emptyTextsDropped: row<{ client: string; kid: string }>(
    "jobspec.empty_texts_dropped",
    "warn",
    "A JobSpec was accepted by the older rule, which leaves empty texts unsigned.",
  ),
  trustListLoaded: row<{ keys: number }>(
    "trust.list_loaded",
    "info",
    "The file of trusted keys was read again: it changed, or is valid again.",
  ),
  trustListFailed: row<{ error: unknown }>(
    "trust.list_failed",
    "error",
    "The file of trusted keys could not be read; the last valid list applies, and this replica is not ready.",
  ),
} as const;

type Rows = typeof events;

declare module "../../platform/telemetry/events.ts" {
  interface EventRows extends Rows {}
}
