// Models behind Anthropic's Messages format. A provider has one base URL, one key and one socket pool.

// The package's main entry reads the environment at import, and fails to load when ANTHROPIC_BASE_URL is set but empty.
import { AnthropicLanguageModel } from "@ai-sdk/anthropic/internal";
import type { ModelProvider } from "../route.ts";
import { createModels } from "../sdk/stream.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { adaptCall } from "./call.ts";
import { createMessagesDialect } from "./dialect.ts";
import { withOpening } from "./opening.ts";

/** Creates the provider. Requests go to `<baseUrl>/messages`; a key that is not empty is sent as `x-api-key`. */
export function createAnthropic(account: Account): ModelProvider {
  const { name, apiKey } = account;
  const { baseUrl, transport } = openAccount(account);
  const config = {
    provider: "anthropic",
    baseURL: baseUrl,
    headers: { "anthropic-version": "2023-06-01", ...(apiKey === "" ? {} : { "x-api-key": apiKey }) },
    fetch: withOpening(transport.fetch),
    // Strict tools would add a beta flag to every request with tools, and servers refuse unknown flags.
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
