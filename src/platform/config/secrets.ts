// Which values of the settings nobody may read.

import { type Config, type Key, type KeyName, keys } from "./keys.ts";

/** What no line of the log may hold. */
export function secretsOf(config: Config): readonly string[] {
  return Object.entries<Key<unknown>>(keys)
    .filter(([, key]) => key.secret === true)
    .flatMap(([name]) => textsOfSecret(config[name as KeyName]));
}

/** Ids of clients are no secrets. */
function textsOfSecret(value: Config[KeyName]): readonly string[] {
  if (typeof value === "string") {
    return [value];
  }
  return Array.isArray(value) ? value.flatMap((each) => (typeof each === "string" ? [each] : [each.key])) : [];
}
