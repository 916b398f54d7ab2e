// The context that every component is built on: settings, clock, telemetry, the database, and the list of components to close.

import type { KeyRing } from "./auth/key-ring.ts";
import type { SignRequest } from "./auth/sign-request.ts";
import type { Clock } from "./base/clock.ts";
import type { ExplainedKey } from "./config/explain.ts";
import { maxTokensDefault } from "./config/keys/models.ts";
import type { Config } from "./config/keys.ts";
import type { Connections } from "./database/database.ts";
import type { Egress } from "./egress/post.ts";
import type { Events } from "./telemetry/events.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { Traces } from "./telemetry/traces.ts";

/** The dependencies that every component receives. */
export interface AppContext {
  readonly config: Config;
  /** The settings as the operator may see them. */
  readonly explainedSettings: readonly ExplainedKey[];
  /** The values of secret settings. */
  readonly settingSecrets: readonly string[];
  readonly clock: Clock;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly connections: Connections;
  readonly traces: Traces;
  readonly keyRing: KeyRing;
  /** Sends requests to hosts that clients name. */
  readonly egress: Egress;
  /** Signs such a request for the client that named the host. */
  readonly signRequest: SignRequest;
  /** Closes the opened components in reverse order. */
  readonly closers: AsyncDisposableStack;
}

/** Returns the maximum tokens of a response whose agent sets none. The Agent Runner document permits settings of 0 and less. */
export function maxTokensOf({ defaultMaxTokens }: Config): number {
  return defaultMaxTokens > 0 ? defaultMaxTokens : maxTokensDefault;
}

/** Returns the maximum duration of a run, in milliseconds. */
export function runTimeoutOf(config: Config): number {
  return config.defaultTimeoutSecs * 1_000;
}
