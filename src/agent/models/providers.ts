// The providers of models. A record holds all that the rest of the service knows of a provider: names, settings, telemetry and the
// documentation follow from it.

import type { modelKeys } from "../../platform/config/keys/models.ts";
import { type Config, keys } from "../../platform/config/keys.ts";
import { anthropicHeaders, createAnthropic } from "./anthropic/provider.ts";
import { anthropicSettings } from "./anthropic/settings.ts";
import { createGemini, geminiHeaders } from "./gemini/provider.ts";
import { geminiSettings } from "./gemini/settings.ts";
import type { SettingName } from "./model.ts";
import { createOpenAiCompatible } from "./openai-compatible/provider.ts";
import { chatSettings, compatibleSettings } from "./openai-compatible/settings.ts";
import { createOpenAiResponses } from "./openai-responses/provider.ts";
import { responsesSettings } from "./openai-responses/settings.ts";
import { type Account, bearerHeaders, type ModelProvider } from "./wire/account.ts";

/** A provider, whether it is configured or not. */
export interface Provider {
  /** As in `provider:model`. */
  readonly name: string;
  /** As in messages. */
  readonly title: string;
  /** Beginnings of the names of its models. */
  readonly prefixes: readonly string[];
  /** Names of its models that have no such beginning. */
  readonly names?: readonly string[];
  /** The model that is used when no model was chosen; undefined when only the server's owner knows its models. */
  readonly defaultModel?: string;
  /** The name of the setting with its key. */
  readonly key: Extract<keyof typeof modelKeys, `${string}Key`>;
  /** The name of the setting with its base URL. Its default is the provider's public service; a provider without one has none. */
  readonly baseUrl: Extract<keyof typeof modelKeys, `${string}BaseUrl`>;
  readonly open: (account: Account, config: Config) => ModelProvider;
  /** Returns the headers that carry a key. */
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  /** The public service loads images from URLs itself, outside the operator's network. */
  readonly loadsUrls?: true;
  /** Its name in OpenTelemetry's conventions, when that differs: the conventions name few providers. */
  readonly telemetryName?: string;
  /** The ways to ask it, the default one first. */
  readonly apis: readonly [Api, ...Api[]];
}

type Setting = Provider["key"] | Provider["baseUrl"];

/** A way to ask a provider. */
export interface Api {
  /** Unset for the only API of a provider, or its default one. */
  readonly name?: string;
  readonly settings: ReadonlySet<SettingName>;
  /** Tools that the provider runs are not sent. */
  readonly lacksProviderTools?: true;
}

/** All providers, in the order in which names are matched and a default model is chosen. */
export const providers: readonly Provider[] = [
  {
    name: "openai",
    title: "OpenAI",
    prefixes: ["gpt-", "o1-", "o3-", "o4-", "chatgpt-"],
    names: ["o1", "o3"],
    defaultModel: "gpt-4o-mini",
    key: "openaiKey",
    baseUrl: "openaiBaseUrl",
    open: (account, { openaiApi }) =>
      openaiApi === "responses" ? createOpenAiResponses(account) : createOpenAiCompatible(account),
    headers: bearerHeaders,
    loadsUrls: true,
    apis: [
      { settings: chatSettings, lacksProviderTools: true },
      { name: "Responses", settings: responsesSettings },
    ],
  },
  {
    name: "gemini",
    title: "Gemini",
    prefixes: ["gemini-"],
    defaultModel: "gemini-2.5-flash",
    key: "geminiKey",
    baseUrl: "geminiBaseUrl",
    open: createGemini,
    headers: geminiHeaders,
    telemetryName: "gcp.gemini",
    apis: [{ settings: geminiSettings }],
  },
  {
    name: "anthropic",
    title: "Anthropic",
    prefixes: ["claude-"],
    defaultModel: "claude-haiku-4-5",
    key: "anthropicKey",
    baseUrl: "anthropicBaseUrl",
    open: createAnthropic,
    headers: anthropicHeaders,
    loadsUrls: true,
    apis: [{ settings: anthropicSettings }],
  },
  {
    name: "compatible",
    title: "OpenAI-compatible",
    prefixes: [],
    key: "compatibleKey",
    baseUrl: "compatibleBaseUrl",
    open: createOpenAiCompatible,
    headers: bearerHeaders,
    apis: [{ settings: compatibleSettings }],
  },
];

/** The names of all providers, in their order. */
export const providerNames: readonly string[] = providers.map(({ name }) => name);

/** All ways to ask, with the name of the provider and a title such as `openai with Responses`. */
export const apis: readonly (Api & { readonly provider: string; readonly title: string })[] = providers.flatMap(
  ({ name: provider, apis }) =>
    apis.map((api) => ({
      ...api,
      provider,
      title: api.name === undefined ? provider : `${provider} with ${api.name}`,
    })),
);

/** Settings that are wishes: a provider without them is asked without them. */
export const hints: ReadonlySet<SettingName> = new Set(["seed", "verbosity", "serviceTier", "prediction"]);

/** Returns the names of the providers, and of their ways to ask, that have a setting. */
export function providersWith(setting: SettingName): readonly string[] {
  return apis.filter(({ settings }) => settings.has(setting)).map(({ title }) => title);
}

/** Returns the provider of this name; undefined for the demo model's and for unknown ones. */
export function findProvider(name: string): Provider | undefined {
  return providers.find((provider) => provider.name === name);
}

/** Returns the name of a provider, or of the demo model's, in traces. */
export function telemetryNameOf(name: string): string {
  return findProvider(name)?.telemetryName ?? name;
}

/** Returns the settings that configure a provider one by one: the operator's own server may need no key. */
export function settingsThatConfigure({ key, baseUrl }: Provider): readonly [Setting, ...Setting[]] {
  return hasService({ baseUrl }) ? [key, baseUrl] : [baseUrl];
}

/** Returns whether a provider has a public service, at the default of its base URL. */
export function hasService({ baseUrl }: Pick<Provider, "baseUrl">): boolean {
  return keys[baseUrl].fallback !== "";
}

/** Returns whether the settings name a key or a server for a provider. */
export function isConfigured(provider: Provider, config: Config): boolean {
  return settingsThatConfigure(provider).some((name) => config[name] !== keys[name].fallback);
}

/** Returns true when any provider is configured. */
export function isAnyConfigured(config: Config): boolean {
  return providers.some((provider) => isConfigured(provider, config));
}
