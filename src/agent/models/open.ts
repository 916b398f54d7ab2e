// Opens the models of a service: an account for each configured provider, with socket pool, circuit breakers and retries.
// Clients reach them by model name.

import type { Clock } from "../../platform/base/clock.ts";
import {
  type Config,
  isAnthropicConfigured,
  isCompatibleConfigured,
  isGeminiConfigured,
  isOpenAiConfigured,
  isRerankConfigured,
} from "../../platform/config/keys.ts";
import type { Egress } from "../../platform/egress/post.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { createAnthropic } from "./anthropic/provider.ts";
import { type CircuitChange, type CircuitStatus, Circuits, withCircuits } from "./circuits.ts";
import { createDemoModel, demoModelName } from "./demo/demo-model.ts";
import { createGemini } from "./gemini/provider.ts";
import { loadsUrls } from "./media/hosted.ts";
import { withMedia } from "./media/with-media.ts";
import type { Model } from "./model.ts";
import { createOpenAiCompatible } from "./openai-compatible/provider.ts";
import { createOpenAiResponses } from "./openai-responses/provider.ts";
import { createHttpReranker, type RerankProvider } from "./rerank/http-reranker.ts";
import type { Reranker } from "./rerank/reranker.ts";
import { createRerankRouter } from "./rerank/route.ts";
import { withResponseFormat } from "./response-format.ts";
import { retryDefaults, withRetry } from "./retry.ts";
import { createModelRouter, type ModelProvider, type ProviderName, providerNames } from "./route.ts";
import { withEvents } from "./watch.ts";
import type { Account } from "./wire/account.ts";

/** The models and rerankers of a service. */
export interface Models {
  /** The model of agents that name no model. */
  readonly defaultModel: string;
  /**
   * Returns the model behind a name, with events, circuit breakers and retries. A retry happens only before the first output.
   * @throws Fault MODEL_UNSUPPORTED when the name is unknown or its provider is not configured.
   */
  resolve(name: string): Model;
  /**
   * Returns the reranker behind a name.
   * @throws Fault MODEL_UNSUPPORTED when the name is no reranker or the server is not configured.
   */
  resolveReranker(name: string): Reranker;
  /** Lists all providers in the order in which names are matched. */
  listProviders(): readonly ProviderStatus[];
  /** Ends the active responses and closes the socket pools. */
  close(): void;
}

/** A provider and the state of its worst circuit. */
export interface ProviderStatus {
  readonly name: ProviderName;
  /** Undefined when the provider is not configured. */
  readonly circuit: CircuitStatus | undefined;
}

/** What the models need. */
export interface ModelsOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly events: Events;
  /** Returns a number in [0, 1), like `Math.random`. */
  readonly random: () => number;
  /** Loads the images and files of clients' URLs. */
  readonly egress: Pick<Egress, "get">;
}

/** Opens the accounts of all configured providers. */
export function openModels({ config, clock, events, random, egress }: ModelsOptions): Models {
  const accounts = new Map(
    providerNames.flatMap((name) => {
      const open = openers[name];
      return open.isConfigured(config) ? [[name, open.account(config, clock)] as const] : [];
    }),
  );
  const circuits = new Map<string, Circuits>(
    Array.from(accounts.keys(), (name) => [name, openCircuits(name, { config, clock, events })]),
  );
  const router = createModelRouter({ providers: Object.fromEntries(accounts), demo: createDemoModel({ clock }) });
  const rerankAccount = isRerankConfigured(config) ? openRerankAccount(config, clock) : undefined;
  const retry = { ...retryDefaults, baseDelayMs: config.retryBaseMs, clock, random };
  return {
    defaultModel: config.defaultModel || defaultModelOf(accounts),
    resolve: (name) => {
      const model = router.resolve(name);
      const ofAccount = circuits.get(model.provider);
      const guarded = ofAccount === undefined ? model : withCircuits(model, ofAccount);
      const retried = withRetry(withResponseFormat(withEvents(guarded, { clock, events })), retry);
      return withMedia(retried, { egress, clock, takesUrls: loadsUrls(model.provider, config) });
    },
    resolveReranker: createRerankRouter(rerankAccount),
    listProviders: () => providerNames.map((name) => ({ name, circuit: circuits.get(name)?.worst })),
    close: () => {
      for (const account of accounts.values()) {
        account.close();
      }
      rerankAccount?.close();
    },
  };
}

interface Opener {
  readonly isConfigured: (config: Config) => boolean;
  readonly account: (config: Config, clock: Clock) => ModelProvider;
  /** The model that is used when no model was chosen; undefined when only the server's owner knows its models. */
  readonly defaultModel: string | undefined;
}

const openers: Readonly<Record<ProviderName, Opener>> = {
  openai: {
    isConfigured: isOpenAiConfigured,
    account: ({ openaiBaseUrl: baseUrl, openaiKey: apiKey, openaiApi }, clock) => {
      const account: Account = { name: "openai", baseUrl, apiKey, clock };
      return openaiApi === "responses" ? createOpenAiResponses(account) : createOpenAiCompatible(account);
    },
    defaultModel: "gpt-4o-mini",
  },
  gemini: {
    isConfigured: isGeminiConfigured,
    account: ({ geminiBaseUrl: baseUrl, geminiKey: apiKey }, clock) =>
      createGemini({ name: "gemini", baseUrl, apiKey, clock }),
    defaultModel: "gemini-2.5-flash",
  },
  anthropic: {
    isConfigured: isAnthropicConfigured,
    account: ({ anthropicBaseUrl: baseUrl, anthropicKey: apiKey }, clock) =>
      createAnthropic({ name: "anthropic", baseUrl, apiKey, clock }),
    defaultModel: "claude-haiku-4-5",
  },
  compatible: {
    isConfigured: isCompatibleConfigured,
    account: ({ compatibleBaseUrl: baseUrl, compatibleKey: apiKey }, clock) =>
      createOpenAiCompatible({ name: "compatible", baseUrl, apiKey, clock }),
    defaultModel: undefined,
  },
};

function openRerankAccount({ rerankBaseUrl: baseUrl, rerankKey: apiKey }: Config, clock: Clock): RerankProvider {
  return createHttpReranker({ name: "rerank", baseUrl, apiKey, clock });
}

function defaultModelOf(accounts: ReadonlyMap<ProviderName, ModelProvider>): string {
  const names = providerNames.filter((name) => accounts.has(name));
  return names.map((name) => openers[name].defaultModel).find((model) => model !== undefined) ?? demoModelName;
}

function openCircuits(
  provider: ProviderName,
  { config, clock, events }: Omit<ModelsOptions, "random" | "egress">,
): Circuits {
  const resetMs = config.circuitResetTimeoutSec * 1_000;
  const onChange = ({ state, model, client, failures }: CircuitChange): void => {
    const circuit = { provider, model, client };
    const tell = {
      open: () => events.circuitOpened({ ...circuit, failures, retryInMs: resetMs }),
      "half-open": () => events.circuitHalfOpened(circuit),
      closed: () => events.circuitClosed(circuit),
    };
    tell[state]();
  };
  return new Circuits({ clock, failuresMax: config.circuitMaxFailures, resetMs, onChange });
}
