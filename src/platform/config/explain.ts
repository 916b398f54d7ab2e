// The settings as people look at them: what each is, where it comes from, and what is wrong. Secrets are never shown.

import type { Key, KeyName } from "./keys.ts";
import { checkRequirements } from "./requirements.ts";
import { type ConfigSources, resolveSettings } from "./resolve.ts";

export interface ExplainedKey {
  /** As in a YAML file: `server.port`. */
  readonly key: string;
  /** As it is shown: a secret only as `(set)` or `(unset)`, a value that is wrong as `(not valid)`. */
  readonly value: string;
  readonly default: string;
  /** "default", "file <path>", "environment <VAR>", "file of <VAR>_FILE" or "flag". */
  readonly origin: string;
  readonly secret: boolean;
  readonly about: string;
  readonly variables: readonly string[];
}

/** Every key of the table, in its order. Never throws: `checkConfig` tells what is wrong. */
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

/** Everything that would keep `serve` from starting; empty when nothing does. */
export function checkConfig(sources: ConfigSources): readonly string[] {
  const resolution = resolveSettings(sources);
  return [...checkRequirements(resolution, sources.table).problems, ...resolution.problems].map(
    (problem) => problem.text,
  );
}

/** What is no error and still worth a look. */
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
