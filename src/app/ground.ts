// What every part of the house stands on: settings, time, what is told, the database, and the list of what to close.

import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/keys.ts";
import type { Egress } from "../egress/post.ts";
import type { Trust } from "../jobs/trust.ts";
import type { WorkDirs } from "../sessions/work-dirs.ts";
import type { Connections } from "../storage/database.ts";
import type { Events } from "../telemetry/events.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Traces } from "../telemetry/traces.ts";
import type { KeyRing } from "../trust/key-ring.ts";
import type { SignRequest } from "../trust/sign-request.ts";

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
