// The secret values of the settings.

import type { Config, KeyName, KeyTable } from "./keys.ts";

/** Returns the values that no log line may contain. */
export function secretsOf(keys: KeyTable, config: Config): readonly string[] {
  return Object.entries(keys)
    .filter(([, key]) => key.secret === true)
    .flatMap(([name]) => textsOfSecret(config[name as KeyName]));
}

/** Client ids are not secret. */
function textsOfSecret(value: unknown): readonly string[] {
  if (typeof value === "string") {
    return [value];
  }
  return Array.isArray(value) ? value.flatMap(textsOfItem) : [];
}

function textsOfItem(item: string | { readonly key: string } | { readonly secrets: readonly string[] }) {
  return typeof item === "string" ? [item] : "secrets" in item ? item.secrets : [item.key];
}
