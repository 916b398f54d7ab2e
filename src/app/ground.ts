// What every part of the house stands on: settings, time, what is told, the database, and the list of what to close.

import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import type { KeyRing } from "../platform/auth/key-ring.ts";
import type { SignRequest } from "../platform/auth/sign-request.ts";
import type { Clock } from "../platform/base/clock.ts";
import type { Config } from "../platform/config/keys.ts";
import type { Connections } from "../platform/database/database.ts";
import type { Egress } from "../platform/egress/post.ts";
import type { Events } from "../platform/telemetry/events.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import type { Traces } from "../platform/telemetry/traces.ts";
import type { Trust } from "../protocols/jobspec/jobs/trust.ts";

/** What every part of the house stands on. */
export interface Ground {
  readonly config: Config;
  readonly clock: Clock;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly connections: Connections;
  readonly traces: Traces;
  readonly keyRing: KeyRing;
  /** Whose JobSpecs count. */
  readonly trust: Trust;
  /** The way out to hosts that callers name. */
  readonly egress: Egress;
  /** Of what goes out there. */
  readonly signRequest: SignRequest;
  /** Closes what was opened, the latest first. */
  readonly closers: AsyncDisposableStack;
  readonly plainStreams: boolean;
  readonly workDirs: WorkDirs;
}

/** Longest time of a run. */
export function runTimeoutOf(config: Config): number {
  return config.defaultTimeoutSecs * 1_000;
}
