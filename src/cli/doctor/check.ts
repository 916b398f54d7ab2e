// What the doctor looks with and what it finds. A check looks and changes nothing.

import type { Clock } from "../../platform/base/clock.ts";
import type { Config, SettingsTable } from "../../platform/config/keys.ts";
import type { Resolution } from "../../platform/config/resolve.ts";

export type FindingOutcome = "ok" | "warn" | "fail";

export interface Finding {
  /** Stable, for programs. */
  readonly name: string;
  readonly outcome: FindingOutcome;
  readonly found: string;
  /** What to do; there is one wherever not all is well. */
  readonly fix?: string;
}

/** What the checks stand on. */
export interface Ground {
  readonly config: Config;
  /** Where the settings come from and what is wrong with them; a wrong one counts as its default. */
  readonly resolution: Resolution;
  readonly table: SettingsTable;
  readonly clock: Clock;
  /** Whether providers are called with their keys. */
  readonly deep: boolean;
}

export interface Check {
  readonly name: string;
  /** Told while it looks. */
  readonly about: string;
  readonly look: (ground: Ground) => Finding[] | Promise<Finding[]>;
}

export function ok(name: string, found: string): Finding {
  return { name, outcome: "ok", found };
}

export function warn(name: string, found: string, fix: string): Finding {
  return { name, outcome: "warn", found, fix };
}

export function fail(name: string, found: string, fix: string): Finding {
  return { name, outcome: "fail", found, fix };
}

/** An error in one line; system errors of several addresses keep their message in the first one. */
export function why(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return why(error.errors[0]);
  }
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line || "no reason was given";
}
