// Models behind the Chat Completions format: OpenAI itself and the many servers that speak it. One provider is one base
// URL, one key and one pool of sockets.

import { createOpenAICompatible as createSdkProvider } from "@ai-sdk/openai-compatible";
import type { ModelProvider } from "../route.ts";
import { createModels } from "../sdk/stream.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { chatDialect } from "./dialect.ts";
import { adaptParameters } from "./parameters.ts";

/** Requests go to `<baseUrl>/chat/completions`; the key, if any, is sent as a bearer token. */
export function createOpenAiCompatible(account: Account): ModelProvider {
  const { name, apiKey } = account;
  const { baseUrl, transport } = openAccount(account);
  const sdkProvider = createSdkProvider({
    name,
    baseURL: baseUrl,
    apiKey,
    fetch: transport.fetch,
    includeUsage: true,
    transformRequestBody: adaptParameters,
  });
  const model = createModels({
    provider: name,
    apiKey,
    dialect: chatDialect,
    createModel: (modelName) => sdkProvider.chatModel(modelName),
  });
  return { model, close: transport.close };
}
