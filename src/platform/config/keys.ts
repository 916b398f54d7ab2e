// The settings of the core, in one table. Protocols add their own: the loader, its messages and the documentation are made from all.

import type { Key, KeyTable, ValuesOf } from "./key.ts";
import { authKeys, type ClientKey } from "./keys/auth.ts";
import { modelKeys } from "./keys/models.ts";
import { operationKeys } from "./keys/operation.ts";
import { serverKeys } from "./keys/server.ts";
import { sessionKeys } from "./keys/sessions.ts";
import { toolKeys } from "./keys/tools.ts";
import type { Problem } from "./problem.ts";

export type { ClientKey, Key, KeyTable, ValuesOf };

export const keys = {
  ...serverKeys,
  ...authKeys,
  ...modelKeys,
  ...sessionKeys,
  ...toolKeys,
  ...operationKeys,
} as const satisfies Record<string, Key<unknown>>;

/** All settings, by name, with their types. Each protocol merges its own into it. */
export interface Config extends ValuesOf<typeof keys> {}

export type KeyName = keyof Config;

/** The settings of the core and of all protocols, joined by `app/settings.ts`. */
export interface SettingsTable {
  readonly keys: KeyTable;
  /** Returns problems of settings that `read` accepts one by one. `isValid` is false for one that has a problem already. */
  readonly findProblems: (config: Config, isValid: (name: KeyName) => boolean) => readonly Problem[];
  /** What `runnel dev` has for defaults where they differ. */
  readonly devDefaults: Partial<Config>;
}

/** Variables that are no settings of the service: the commands call it with them, and tests crash it with the last. */
export const variablesOfCommands: readonly string[] = [
  "RUNNEL_ADMIN_TOKEN",
  "RUNNEL_API_KEY",
  "RUNNEL_CLIENT_ID",
  "RUNNEL_FAILPOINT",
];

/** A server of one's own may want no key: naming it is enough. */
export function isOpenAiConfigured({ openaiKey, openaiBaseUrl }: Config): boolean {
  return openaiKey !== "" || openaiBaseUrl !== keys.openaiBaseUrl.fallback;
}

export function isGeminiConfigured({ geminiKey, geminiBaseUrl }: Config): boolean {
  return geminiKey !== "" || geminiBaseUrl !== keys.geminiBaseUrl.fallback;
}

export function isAnthropicConfigured({ anthropicKey, anthropicBaseUrl }: Config): boolean {
  return anthropicKey !== "" || anthropicBaseUrl !== keys.anthropicBaseUrl.fallback;
}

/** There is no such server but the one that is named. */
export function isCompatibleConfigured({ compatibleBaseUrl }: Config): boolean {
  return compatibleBaseUrl !== "";
}

/** Nor is there a reranker but the one that is named. */
export function isRerankConfigured({ rerankBaseUrl }: Config): boolean {
  return rerankBaseUrl !== "";
}

export function isProviderConfigured(config: Config): boolean {
  return [isOpenAiConfigured, isGeminiConfigured, isAnthropicConfigured, isCompatibleConfigured].some((isConfigured) =>
    isConfigured(config),
  );
}

/** Whoever calls has to prove who it is as soon as there is anything to prove it with. */
export function isAuthConfigured({ authHmacSecret, authApiKeys, authAdminToken }: Config): boolean {
  return authHmacSecret !== "" || authApiKeys.length > 0 || authAdminToken !== "";
}
