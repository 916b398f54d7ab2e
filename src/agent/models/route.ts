// Resolves model names to providers. To add a provider, add one row and one key here.

import { Fault } from "../../platform/base/fault.ts";
import type { Model } from "./model.ts";

/** One account at one provider. */
export interface ModelProvider {
  /** Returns the model of this name. Never fails: only the provider knows its models. */
  model(name: string): Model;
  /** Ends the active responses as failures and closes the socket pool. */
  close(): void;
}

/** The name of a provider in the table. */
export type ProviderName = (typeof routes)[number]["provider"];

/** The providers and the demo model. */
export interface ModelRouterOptions {
  /** The configured providers. */
  readonly providers: Readonly<Partial<Record<ProviderName, ModelProvider>>>;
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
      const { route, modelName } = findRoute(name);
      const provider = options.providers[route.provider];
      if (provider === undefined) {
        throw unsupported(`${route.title} ${route.missing} not configured for model ${name}`);
      }
      return provider.model(modelName);
    },
  };
}

interface Route {
  readonly provider: string;
  readonly title: string;
  /** The missing setting, for the message about a provider that is not configured. */
  readonly missing: string;
  readonly prefixes: readonly string[];
  readonly names: readonly string[];
}

const routes = [
  {
    provider: "openai",
    title: "OpenAI",
    missing: "API key",
    prefixes: ["gpt-", "o1-", "o3-", "o4-", "chatgpt-"],
    names: ["o1", "o3"],
  },
  { provider: "gemini", title: "Gemini", missing: "API key", prefixes: ["gemini-"], names: [] },
  { provider: "anthropic", title: "Anthropic", missing: "API key", prefixes: ["claude-"], names: [] },
  { provider: "compatible", title: "OpenAI-compatible", missing: "base URL", prefixes: [], names: [] },
] as const satisfies readonly Route[];

/** Returns the provider and the provider's own name of a model, whether it is configured or not. */
export function providerOf(name: string): { readonly provider: string; readonly name: string } {
  if (name === "demo") {
    return { provider: name, name };
  }
  const { route, modelName } = findRoute(name);
  return { provider: route.provider, name: modelName };
}

/** All providers, in the order in which names are matched. */
export const providerNames: readonly ProviderName[] = routes.map(({ provider }) => provider);

function findRoute(name: string): { route: (typeof routes)[number]; modelName: string } {
  for (const route of routes) {
    const explicit = `${route.provider}:`;
    if (name.startsWith(explicit) && name !== explicit) {
      return { route, modelName: name.slice(explicit.length) };
    }
    if (matches(route, name)) {
      return { route, modelName: name };
    }
  }
  throw unsupported(
    `unsupported model ${JSON.stringify(name)}: expected prefix gpt-/o1-/o3-/chatgpt- (OpenAI), gemini- (Gemini), or claude- (Anthropic)`,
  );
}

function matches(route: Route, name: string): boolean {
  return route.names.includes(name) || route.prefixes.some((prefix) => name.startsWith(prefix));
}

function unsupported(text: string): Fault {
  return new Fault("MODEL_UNSUPPORTED", `failed to create client: ${text}`);
}
