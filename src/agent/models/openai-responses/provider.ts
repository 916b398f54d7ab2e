// OpenAI's models behind the Responses format. Stateless: OpenAI stores nothing, and a reasoning model gets its own encrypted
// thoughts back.

import { createOpenAI as createSdkProvider } from "@ai-sdk/openai";
import type { ModelProvider } from "../route.ts";
import { createModels } from "../sdk/stream.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { adaptCall } from "./call.ts";
import { responsesDialect } from "./dialect.ts";

/** Creates the provider. Requests go to `<baseUrl>/responses`; a key that is not empty is sent as a bearer token. */
export function createOpenAiResponses(account: Account): ModelProvider {
  const { name, apiKey } = account;
  const { baseUrl, transport } = openAccount(account);
  const sdkProvider = createSdkProvider({
    baseURL: baseUrl,
    apiKey,
    fetch: apiKey === "" ? withoutKey(transport.fetch) : transport.fetch,
  });
  const model = createModels({
    provider: name,
    apiKey,
    dialect: responsesDialect,
    createModel: (modelName) => sdkProvider.responses(modelName),
    adaptCall,
    takesMediaOfTools: true,
  });
  return { model, close: transport.close };
}

/** Removes the header that the SDK sends for an empty key. */
function withoutKey(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("authorization");
    return fetch(input, { ...init, headers });
  };
}
