// Gemini models behind Google's generateContent format. A provider has one base URL, one key and one socket pool.

import { GoogleLanguageModel } from "@ai-sdk/google/internal";
import type { ModelProvider } from "../route.ts";
import { createModels } from "../sdk/stream.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { adaptCall } from "./call.ts";
import { createContentDialect } from "./dialect.ts";

/** Creates the provider. Requests go to `<baseUrl>/models/<model>:streamGenerateContent`; a key goes to `x-goog-api-key`. */
export function createGemini(account: Account): ModelProvider {
  const { name, apiKey } = account;
  const { baseUrl, transport } = openAccount(account);
  const config = {
    provider: "google.generative-ai",
    baseURL: baseUrl,
    headers: apiKey === "" ? {} : { "x-goog-api-key": apiKey },
    fetch: transport.fetch,
    // For calls without an id: the loop gives them ids that no other call of the conversation has.
    generateId: () => "",
  };
  const model = createModels({
    provider: name,
    apiKey,
    dialect: createContentDialect,
    adaptCall,
    createModel: (modelName) => new GoogleLanguageModel(toPathSegment(modelName), config),
  });
  return { model, close: transport.close };
}

// The SDK inserts names into the URL unescaped. A name must not reach another path, or be an alias of the same model.
function toPathSegment(modelName: string): string {
  return encodeURIComponent(modelName.toWellFormed());
}
