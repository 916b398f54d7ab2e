// Decides which providers may receive a client's URL. OpenAI and Anthropic load images themselves, outside the operator's
// network. Any other server at their settings may be inside that network, and would load any URL there that the client names.

import { type Config, keys } from "../../../platform/config/keys.ts";
import { findProvider } from "../providers.ts";

/** Returns whether the provider is at its own public host and loads URLs itself. */
export function loadsUrls(name: string, config: Config): boolean {
  const { baseUrl, loadsUrls = false } = findProvider(name) ?? {};
  return (
    loadsUrls && baseUrl !== undefined && URL.parse(config[baseUrl])?.host === URL.parse(keys[baseUrl].fallback)?.host
  );
}
