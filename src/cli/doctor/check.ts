// The checks of the doctor and their findings. A check changes nothing.

import type { Clock } from "../../platform/base/clock.ts";
import type { Config, SettingsTable } from "../../platform/config/keys.ts";
import type { Resolution } from "../../platform/config/resolve.ts";

/** The outcome of a check. `warn` is worth a look, but `serve` works. */
export type FindingOutcome = "ok" | "warn" | "fail";

/** One finding of a check. */
export interface Finding {
  /** Stable, for programs. */
  readonly name: string;
  readonly outcome: FindingOutcome;
  readonly found: string;
  /** How to fix it; set unless the outcome is ok. */
  readonly fix?: string;
}

/** The inputs of the checks. */
export interface CheckContext {
  readonly config: Config;
  /** The origins of the settings and their problems. An invalid setting counts as its default. */
  readonly resolution: Resolution;
  readonly table: SettingsTable;
  readonly clock: Clock;
  /** Whether the doctor calls providers with their keys. */
  readonly deep: boolean;
}

/** A check. */
export interface Check {
  readonly name: string;
  /** Shown as progress while the check runs. */
  readonly about: string;
  readonly look: (context: CheckContext) => Finding[] | Promise<Finding[]>;
}

/** Makes a finding that needs nothing. */
export function ok(name: string, found: string): Finding {
  return { name, outcome: "ok", found };
}

/** Makes a finding that is worth a look. */
export function warn(name: string, found: string, fix: string): Finding {
  return { name, outcome: "warn", found, fix };
}

/** Makes a finding that keeps `serve` from working. */
export function fail(name: string, found: string, fix: string): Finding {
  return { name, outcome: "fail", found, fix };
}

/** Returns the reason of an error in one line. System errors of several addresses keep their message in the first one. */
export function why(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return why(error.errors[0]);
  }
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line || "no reason was given";
}
