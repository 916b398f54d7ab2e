// Loads the settings, ready to use, or fails once with all their problems.

import type { Config } from "./keys.ts";
import { invalidConfig } from "./problem.ts";
import { checkRequirements } from "./requirements.ts";
import { type ConfigSources, type Resolution, resolveSettings } from "./resolve.ts";
import type { Environment } from "./variables.ts";

export type { ConfigSources, Environment };

/** Options of reading. */
export interface ReadOptions {
  /** Receives warnings: findings that are no errors. */
  readonly onWarning?: (warning: string) => void;
}

/** Returns the settings. Throws CONFIG_INVALID with all problems. */
export function readConfig(sources: ConfigSources, { onWarning = () => {} }: ReadOptions = {}): Config {
  const resolution = resolveSettings(sources);
  if (resolution.problems.length > 0) {
    throw invalidConfig(resolution.problems);
  }
  return warnAndTake(resolution, onWarning);
}

/** Like `readConfig`, but also throws when a setting that `serve` needs is missing. */
export function readServeConfig(sources: ConfigSources, { onWarning = () => {} }: ReadOptions = {}): Config {
  const resolution = resolveSettings(sources);
  const requirements = checkRequirements(resolution, sources.table);
  const problems = [...requirements.problems, ...resolution.problems];
  if (problems.length > 0) {
    throw invalidConfig(problems, requirements.hint);
  }
  return warnAndTake(resolution, onWarning);
}

function warnAndTake({ config, warnings }: Resolution, onWarning: (warning: string) => void): Config {
  for (const warning of warnings) {
    onWarning(warning);
  }
  return config;
}
