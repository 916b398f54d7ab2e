// The settings, ready to use, or one failure that tells everything that is wrong with them.

import type { Config } from "./keys.ts";
import { invalidConfig } from "./problem.ts";
import { checkRequirements } from "./requirements.ts";
import { type ConfigSources, type Resolution, resolveSettings } from "./resolve.ts";
import type { Environment } from "./variables.ts";

export type { ConfigSources, Environment };

export interface ReadOptions {
  /** Told of what is no error and still worth a look. */
  readonly onWarning?: (warning: string) => void;
}

/** Throws CONFIG_INVALID. */
export function readConfig(sources: ConfigSources, { onWarning = () => {} }: ReadOptions = {}): Config {
  const resolution = resolveSettings(sources);
  if (resolution.problems.length > 0) {
    throw invalidConfig(resolution.problems);
  }
  return warnAndTake(resolution, onWarning);
}

/** As `readConfig`, and what `serve` needs has to be there. */
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
