// Gemini models behind Google's generateContent format. One provider is one base URL, one key and one pool of sockets.

import { GoogleLanguageModel } from "@ai-sdk/google/internal";
import type { ModelProvider } from "../route.ts";
import { createModels } from "../sdk/stream.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { adaptCall } from "./call.ts";
import { createContentDialect } from "./dialect.ts";

/** Requests go to `<baseUrl>/models/<model>:streamGenerateContent`; the key, if any, is sent as `x-goog-api-key`. */
export function createGemini(account: Account): ModelProvider {
  const { name, apiKey } = account;
  const { baseUrl, transport } = openAccount(account);
  const config = {
    provider: "google.generative-ai",
    baseURL: baseUrl,
    headers: apiKey === "" ? {} : { "x-goog-api-key": apiKey },
    fetch: transport.fetch,
    // For calls that came without an id; the dialect names them.
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

// The SDK puts names into the URL as they are. No name may reach another path, or be a second name of the same model.
function toPathSegment(modelName: string): string {
  return encodeURIComponent(modelName.toWellFormed());
}
