// Which provider has which settings. Each format declares its own, beside the code that writes them.

import { anthropicSettings } from "./anthropic/settings.ts";
import { geminiSettings } from "./gemini/settings.ts";
import type { SettingName } from "./model.ts";
import { chatSettings, compatibleSettings } from "./openai-compatible/settings.ts";
import { responsesSettings } from "./openai-responses/settings.ts";

/** The settings of each provider, and of each way to ask it. */
export const settingsByProvider: readonly { readonly provider: string; readonly has: ReadonlySet<SettingName> }[] = [
  { provider: "openai", has: chatSettings },
  { provider: "openai with Responses", has: responsesSettings },
  { provider: "anthropic", has: anthropicSettings },
  { provider: "gemini", has: geminiSettings },
  { provider: "compatible", has: compatibleSettings },
];

/** Settings that are wishes: a provider without them is asked without them. */
export const hints: ReadonlySet<SettingName> = new Set(["seed", "serviceTier"]);

/** Returns the names of the providers that have a setting. */
export function providersWith(setting: SettingName): readonly string[] {
  return settingsByProvider.filter(({ has }) => has.has(setting)).map(({ provider }) => provider);
}
