// Opens the models of a service: an account for each configured provider, with socket pool, circuit breakers and retries.
// Clients reach them by model name.

import type { Clock } from "../../platform/base/clock.ts";
import type { Config } from "../../platform/config/keys.ts";
import type { Egress } from "../../platform/egress/post.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type CircuitChange, type CircuitStatus, Circuits, withCircuits } from "./circuits.ts";
import { createDemoModel, demoModelName } from "./demo/demo-model.ts";
import { loadsUrls } from "./media/hosted.ts";
import { withMedia } from "./media/with-media.ts";
import type { Model } from "./model.ts";
import { isConfigured, providers } from "./providers.ts";
import { createHttpReranker, type RerankProvider } from "./rerank/http-reranker.ts";
import type { Reranker } from "./rerank/reranker.ts";
import { createRerankRouter } from "./rerank/route.ts";
import { withResponseFormat } from "./response-format.ts";
import { retryDefaults, withRetry } from "./retry.ts";
import { createModelRouter } from "./route.ts";
import { withEvents } from "./with-events.ts";

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
  readonly name: string;
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
  /** Returns the same model, which keeps its calls; undefined when the service keeps none. */
  readonly keepCalls?: ((model: Model) => Model) | undefined;
}

/** Opens the accounts of all configured providers. */
export function openModels({ config, clock, events, random, egress, keepCalls }: ModelsOptions): Models {
  const configured = providers.filter((provider) => isConfigured(provider, config));
  const accounts = new Map(
    configured.map(({ name, baseUrl, key, open }) => {
      const account = { name, baseUrl: config[baseUrl], apiKey: config[key], clock };
      return [name, open(account, config)];
    }),
  );
  const circuits = new Map(configured.map(({ name }) => [name, openCircuits(name, { config, clock, events })]));
  const router = createModelRouter({ accounts, demo: createDemoModel({ clock }) });
  const rerankAccount = config.rerankBaseUrl === "" ? undefined : openRerankAccount(config, clock);
  const retry = { ...retryDefaults, baseDelayMs: config.retryBaseMs, clock, random };
  const smallModel = configured.find(({ defaultModel }) => defaultModel !== undefined)?.defaultModel;
  return {
    defaultModel: config.defaultModel || (smallModel ?? demoModelName),
    resolve: (name) => {
      const resolved = router.resolve(name);
      const model = keepCalls?.(resolved) ?? resolved;
      const ofAccount = circuits.get(model.provider);
      const guarded = ofAccount === undefined ? model : withCircuits(model, ofAccount);
      const retried = withRetry(withResponseFormat(withEvents(guarded, { clock, events })), retry);
      return withMedia(retried, { egress, clock, takesUrls: loadsUrls(model.provider, config) });
    },
    resolveReranker: createRerankRouter(rerankAccount),
    listProviders: () => providers.map(({ name }) => ({ name, circuit: circuits.get(name)?.worst })),
    close: () => {
      for (const account of accounts.values()) {
        account.close();
      }
      rerankAccount?.close();
    },
  };
}

function openRerankAccount({ rerankBaseUrl: baseUrl, rerankKey: apiKey }: Config, clock: Clock): RerankProvider {
  return createHttpReranker({ name: "rerank", baseUrl, apiKey, clock });
}

function openCircuits(
  provider: string,
  { config, clock, events }: Pick<ModelsOptions, "config" | "clock" | "events">,
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
