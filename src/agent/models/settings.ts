// Which provider has which settings. Each format declares its own, beside the code that writes them.

import type { SettingName } from "./model.ts";
import { apis } from "./providers.ts";

/** Settings that are wishes: a provider without them is asked without them. */
export const hints: ReadonlySet<SettingName> = new Set(["seed", "serviceTier"]);

/** Returns the names of the providers, and of their ways to ask, that have a setting. */
export function providersWith(setting: SettingName): readonly string[] {
  return apis.filter(({ settings }) => settings.has(setting)).map(({ title }) => title);
}
