// Resolves model names to providers.

import { Fault } from "../../platform/base/fault.ts";
import type { Model } from "./model.ts";
import { hasService, type Provider, providers } from "./providers.ts";
import type { ModelProvider } from "./wire/account.ts";

/** What the router resolves names to. */
export interface ModelRouterOptions {
  /** The accounts at the configured providers, by their names. */
  readonly accounts: ReadonlyMap<string, ModelProvider>;
  readonly demo: Model;
}

/** Resolves model names. */
export interface ModelRouter {
  /**
   * Returns the model behind `name`, which has a known prefix or the form `provider:model`.
   * @throws Fault MODEL_UNSUPPORTED when the name is unknown or its provider is not configured.
   */
  resolve(name: string): Model;
}

/** Creates the router. */
export function createModelRouter(options: ModelRouterOptions): ModelRouter {
  return {
    resolve: (name) => {
      if (name === options.demo.name) {
        return options.demo;
      }
      const { provider, modelName } = findRoute(name);
      const account = options.accounts.get(provider.name);
      if (account === undefined) {
        const missing = hasService(provider) ? "API key" : "base URL";
        throw unsupported(`${provider.title} ${missing} not configured for model ${name}`);
      }
      return account.model(modelName);
    },
  };
}

/** Returns the provider and the provider's own name of a model, whether it is configured or not. */
export function providerOf(name: string): { readonly provider: string; readonly name: string } {
  if (name === "demo") {
    return { provider: name, name };
  }
  const { provider, modelName } = findRoute(name);
  return { provider: provider.name, name: modelName };
}

function findRoute(name: string): { provider: Provider; modelName: string } {
  for (const provider of providers) {
    const explicit = `${provider.name}:`;
    if (name.startsWith(explicit) && name !== explicit) {
      return { provider, modelName: name.slice(explicit.length) };
    }
    if (matches(provider, name)) {
      return { provider, modelName: name };
    }
  }
  // The Agent Runner document fixes this text, so it does not follow from the records.
  throw unsupported(
    `unsupported model ${JSON.stringify(name)}: expected prefix gpt-/o1-/o3-/chatgpt- (OpenAI), gemini- (Gemini), or claude- (Anthropic)`,
  );
}

function matches({ names = [], prefixes }: Provider, name: string): boolean {
  return names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

function unsupported(text: string): Fault {
  return new Fault("MODEL_UNSUPPORTED", `failed to create client: ${text}`);
}
