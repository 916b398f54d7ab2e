// Models behind the Messages format of Anthropic. One provider is one base URL, one key and one pool of sockets.

// The package's main entry reads the environment as it loads, and fails to load where ANTHROPIC_BASE_URL is set to nothing.
import { AnthropicLanguageModel } from "@ai-sdk/anthropic/internal";
import type { ModelProvider } from "../route.ts";
import { createModels } from "../sdk/stream.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { adaptCall } from "./call.ts";
import { createMessagesDialect } from "./dialect.ts";
import { withOpening } from "./opening.ts";

/** Requests go to `<baseUrl>/messages`; the key, if any, is sent as `x-api-key`. */
export function createAnthropic(account: Account): ModelProvider {
  const { name, apiKey } = account;
  const { baseUrl, transport } = openAccount(account);
  const config = {
    provider: "anthropic",
    baseURL: baseUrl,
    headers: { "anthropic-version": "2023-06-01", ...(apiKey === "" ? {} : { "x-api-key": apiKey }) },
    fetch: withOpening(transport.fetch),
    // Strict tools would put a beta flag on every request with tools; servers refuse flags that they do not know.
    supportsStrictTools: false,
  };
  const model = createModels({
    provider: name,
    apiKey,
    dialect: createMessagesDialect,
    adaptCall,
    takesMediaOfTools: true,
    createModel: (modelName) => new AnthropicLanguageModel(modelName, config),
  });
  return { model, close: transport.close };
}
