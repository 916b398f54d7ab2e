// What every part of the service is built on: settings, time, telemetry, the database, and the list of what to close.

import type { KeyRing } from "./auth/key-ring.ts";
import type { SignRequest } from "./auth/sign-request.ts";
import type { Clock } from "./base/clock.ts";
import type { Config } from "./config/keys.ts";
import type { Connections } from "./database/database.ts";
import type { Egress } from "./egress/post.ts";
import type { Events } from "./telemetry/events.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { Traces } from "./telemetry/traces.ts";

export interface AppContext {
  readonly config: Config;
  /** The values of secret settings. */
  readonly settingSecrets: readonly string[];
  readonly clock: Clock;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly connections: Connections;
  readonly traces: Traces;
  readonly keyRing: KeyRing;
  /** Calls hosts that callers name. */
  readonly egress: Egress;
  /** Signs such a call for the client that named the host. */
  readonly signRequest: SignRequest;
  /** Closes what was opened, the latest first. */
  readonly closers: AsyncDisposableStack;
}

/** Longest time of a run. */
export function runTimeoutOf(config: Config): number {
  return config.defaultTimeoutSecs * 1_000;
}
