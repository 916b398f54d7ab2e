// The settings as an operator sees them: description, value, origin, and problems. Secrets are never shown.

import type { Config, Key, KeyName } from "./keys.ts";
import { checkRequirements } from "./requirements.ts";
import { type ConfigSources, resolveSettings } from "./resolve.ts";

/** One setting, explained. */
export interface ExplainedKey {
  /** The key as in a YAML file: `server.port`. */
  readonly key: string;
  /** The shown value: a secret only as `(set)` or `(unset)`, an invalid value as `(not valid)`. */
  readonly value: string;
  /** The value without any source, in the same form. */
  readonly default: string;
  /** "default", "file <path>", "environment <VAR>", "file of <VAR>_FILE" or "flag". */
  readonly origin: string;
  readonly secret: boolean;
  readonly about: string;
  readonly variables: readonly string[];
}

/**
 * Returns every key in table order. Never throws: `checkConfig` reports the problems. `running` has the values of a service that
 * has started with these sources: a file may have changed since.
 */
export function explainConfig(sources: ConfigSources, running?: Config): readonly ExplainedKey[] {
  const { settings } = resolveSettings(sources);
  const { table, defaults = {} } = sources;
  return Object.entries(table.keys).map(([text, key]) => {
    const name = text as KeyName;
    const { value, isValid } = running === undefined ? settings[name] : { value: running[name], isValid: true };
    return {
      key: key.path,
      value: isValid ? showValue(key, value) : "(not valid)",
      default: showValue(key, defaults[name] ?? key.fallback),
      origin: settings[name].origin,
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
