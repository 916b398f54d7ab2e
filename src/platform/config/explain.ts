// The settings as an operator sees them: description, value, origin, and problems. Secrets are never shown.

import type { Key, KeyName } from "./keys.ts";
import { checkRequirements } from "./requirements.ts";
import { type ConfigSources, resolveSettings } from "./resolve.ts";

/** One setting, explained. */
export interface ExplainedKey {
  /** The key as in a YAML file: `server.port`. */
  readonly key: string;
  /** The shown value: a secret only as `(set)` or `(unset)`, an invalid value as `(not valid)`. */
  readonly value: string;
  readonly default: string;
  /** "default", "file <path>", "environment <VAR>", "file of <VAR>_FILE" or "flag". */
  readonly origin: string;
  readonly secret: boolean;
  readonly about: string;
  readonly variables: readonly string[];
}

/** Returns every key in table order. Never throws: `checkConfig` reports the problems. */
export function explainConfig(sources: ConfigSources): readonly ExplainedKey[] {
  const { settings } = resolveSettings(sources);
  return Object.entries(sources.table.keys).map(([name, key]) => {
    const { value, origin, isValid } = settings[name as KeyName];
    return {
      key: key.path,
      value: isValid ? showValue(key, value) : "(not valid)",
      default: showValue(key, key.fallback),
      origin,
      secret: key.secret === true,
      about: key.about,
      variables: key.variables,
    };
  });
}

/** Returns all problems that would keep `serve` from starting; an empty list when it can start. */
export function checkConfig(sources: ConfigSources): readonly string[] {
  const resolution = resolveSettings(sources);
  return [...checkRequirements(resolution, sources.table).problems, ...resolution.problems].map(
    (problem) => problem.text,
  );
}

/** Returns warnings: findings that are no errors. */
export function warnOfConfig(sources: ConfigSources): readonly string[] {
  return resolveSettings(sources).warnings;
}

function showValue(key: Key<unknown>, value: unknown): string {
  if (key.secret === true) {
    return String(value) === "" ? "(unset)" : "(set)";
  }
  if (value === undefined) {
    return "";
  }
  return Array.isArray(value) ? value.join(key.separator) : String(value);
}
