// Decides which providers may receive a client's URL. OpenAI and Anthropic load images themselves, outside the operator's
// network. Any other server at their settings may be inside that network, and would load any URL there that the client names.

import type { Config } from "../../../platform/config/keys.ts";

/** Returns whether the provider is at its own public host and loads URLs itself. */
export function loadsUrls(provider: string, { openaiBaseUrl, anthropicBaseUrl }: Config): boolean {
  const baseUrl = provider === "openai" ? openaiBaseUrl : provider === "anthropic" ? anthropicBaseUrl : "";
  const host = hosts[provider];
  return host !== undefined && URL.parse(baseUrl)?.host === host;
}

const hosts: Readonly<Record<string, string>> = { openai: "api.openai.com", anthropic: "api.anthropic.com" };
