// Which values of the settings nobody may read.

import type { Config, KeyName, KeyTable } from "./keys.ts";

/** What no line of the log may hold. */
export function secretsOf(keys: KeyTable, config: Config): readonly string[] {
  return Object.entries(keys)
    .filter(([, key]) => key.secret === true)
    .flatMap(([name]) => textsOfSecret(config[name as KeyName]));
}

/** Ids of clients are no secrets. */
function textsOfSecret(value: unknown): readonly string[] {
  if (typeof value === "string") {
    return [value];
  }
  return Array.isArray(value) ? value.flatMap((each) => (typeof each === "string" ? [each] : [each.key])) : [];
}
