// Every setting, in one table: the loader, its messages and the documentation are made from it.

import type { Key } from "./key.ts";
import { authKeys, type ClientKey } from "./keys/auth.ts";
import { decisionKeys } from "./keys/decisions.ts";
import { exchangeKeys } from "./keys/exchanges.ts";
import { forumKeys } from "./keys/forum.ts";
import { hostKeys } from "./keys/host.ts";
import { modelKeys } from "./keys/models.ts";
import { operationKeys } from "./keys/operation.ts";
import { runnerKeys } from "./keys/runners.ts";
import { serverKeys } from "./keys/server.ts";
import { sessionKeys } from "./keys/sessions.ts";
import { toolKeys } from "./keys/tools.ts";
import { trustKeys } from "./keys/trust.ts";
import { txKeys } from "./keys/tx.ts";

export type { ClientKey, Key };

export const keys = {
  ...serverKeys,
  ...authKeys,
  ...modelKeys,
  ...sessionKeys,
  ...toolKeys,
  ...runnerKeys,
  ...exchangeKeys,
  ...trustKeys,
  ...hostKeys,
  ...forumKeys,
  ...decisionKeys,
  ...txKeys,
  ...operationKeys,
} as const satisfies Record<string, Key<unknown>>;

export type KeyName = keyof typeof keys;

/** All settings, by name, with their types. */
export type Config = { readonly [Name in KeyName]: (typeof keys)[Name]["fallback"] };

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
