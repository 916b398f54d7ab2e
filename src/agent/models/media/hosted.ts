// Which providers may be given a caller's URL. OpenAI and Anthropic load images themselves, far from the operator's network. Any
// other server at their settings may stand inside of it, and would load there whatever the caller names.

import type { Config } from "../../../platform/config/keys.ts";

export function loadsUrls(provider: string, { openaiBaseUrl, anthropicBaseUrl }: Config): boolean {
  const baseUrl = provider === "openai" ? openaiBaseUrl : provider === "anthropic" ? anthropicBaseUrl : "";
  const host = hosts[provider];
  return host !== undefined && URL.parse(baseUrl)?.host === host;
}

const hosts: Readonly<Record<string, string>> = { openai: "api.openai.com", anthropic: "api.anthropic.com" };
