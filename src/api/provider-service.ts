// ProviderService: the model providers and their circuit breakers, as this replica sees them.

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type CountTokensRequest, Provider_Circuit, type ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { AgentSchema, AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";
import { estimatePrompt } from "../agent/budget/usage.ts";
import { requestOf } from "../agent/loop/model-request.ts";
import type { CircuitState } from "../agent/models/breaker.ts";
import { catalogue, contextTokensOf } from "../agent/models/catalogue.ts";
import { askForCount } from "../agent/models/count.ts";
import { demoModelName } from "../agent/models/demo/demo-model.ts";
import type { Models, ProviderStatus } from "../agent/models/open.ts";
import { responseFormatOf } from "../agent/response/response-format.ts";
import { settingsOf } from "../agent/response/settings.ts";
import { Fault } from "../platform/base/fault.ts";
import type { ServiceDeps } from "./deps.ts";

/** Returns the handlers of ProviderService. */
export function createProviderService(deps: ServiceDeps): ServiceImpl<typeof ProviderService> {
  const { models, clock } = deps;
  return {
    listProviders: () => ({
      providers: models.listProviders().map((status) => providerToProto(status, clock.nowMs())),
    }),
    listModels: () => ({ models: knownModels(models) }),
    countTokens: async (request, { signal }) => ({ inputTokens: BigInt(await countTokens(deps, request, signal)) }),
    getModel: ({ name }) => ({ model: describeModel(models, name) }),
  };
}

/** Throws Fault MODEL_UNSUPPORTED for an unknown model, and INVALID_ARGUMENT for an invalid tool, schema or option of the agent. */
async function countTokens(
  { models, selectTools, clock }: ServiceDeps,
  { agent = create(AgentSchema), messages }: CountTokensRequest,
  signal: AbortSignal,
): Promise<number> {
  const model = models.resolve(agent.model || models.defaultModel);
  // Tools of other servers would have to be asked for, and belong to a session.
  const { builtin = [], functions = [] } = agent.tools ?? {};
  const selected = selectTools(create(AgentToolsSchema, { builtin, functions }), noSession);
  const request = requestOf(agent, {
    ...{ model, transcript: messages, maxTokens: Math.max(agent.maxTokens, 1) },
    tools: [...selected.tools, ...selected.functions],
    responseFormat: responseFormatOf(agent),
    settings: settingsOf(agent),
  });
  return (await askForCount(model, request, { clock, signal })) ?? estimatePrompt(request);
}

const noSession = { client: "", name: "", callback: undefined };

function knownModels(models: Models) {
  const configured = new Set<string>(
    models.listProviders().flatMap(({ name, circuit }) => (circuit === undefined ? [] : [name])),
  );
  const names = [
    models.defaultModel,
    ...catalogue().flatMap(({ provider, name }) => (configured.has(provider) ? [name] : [])),
    demoModelName,
  ];
  return [...new Set(names)].flatMap((name) => findModel(models, name));
}

function describeModel(models: Models, name: string) {
  const model = models.resolve(name);
  return { name, provider: model.provider, contextTokens: contextTokensOf(model) };
}

/** Returns nothing for a default model whose provider is not configured. */
function findModel(models: Models, name: string) {
  try {
    return [describeModel(models, name)];
  } catch (error) {
    if (error instanceof Fault) {
      return [];
    }
    throw error;
  }
}

const circuits = {
  closed: Provider_Circuit.CLOSED,
  open: Provider_Circuit.OPEN,
  "half-open": Provider_Circuit.HALF_OPEN,
} as const satisfies Record<CircuitState, Provider_Circuit>;

function providerToProto({ name, circuit }: ProviderStatus, nowMs: number) {
  if (circuit === undefined) {
    return { name, configured: false };
  }
  const { state, failures, retryInMs } = circuit;
  const retryTime = retryInMs > 0 ? { retryTime: timestampFromMs(nowMs + retryInMs) } : {};
  return { name, configured: true, circuit: circuits[state], failures, ...retryTime };
}
