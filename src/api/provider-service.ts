// ProviderService: the model providers and their circuit breakers, as this replica sees them.

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type CountTokensRequest, Provider_Circuit, type ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { estimatePrompt } from "../agent/budget/usage.ts";
import { modelMessages, systemTexts } from "../agent/loop/history.ts";
import type { CircuitState } from "../agent/models/breaker.ts";
import { catalogue, contextTokensOf } from "../agent/models/catalogue.ts";
import { demoModelName } from "../agent/models/demo/demo-model.ts";
import type { Models, ProviderStatus } from "../agent/models/open.ts";
import { responseFormatOf } from "../agent/response/response-format.ts";
import { Fault } from "../platform/base/fault.ts";
import { parseObject } from "../platform/base/json/parse-object.ts";
import type { ServiceDeps } from "./deps.ts";

/** Returns the handlers of ProviderService. */
export function createProviderService({ models, clock }: ServiceDeps): ServiceImpl<typeof ProviderService> {
  return {
    listProviders: () => ({
      providers: models.listProviders().map((status) => providerToProto(status, clock.nowMs())),
    }),
    listModels: () => ({ models: knownModels(models) }),
    countTokens: (request) => ({ inputTokens: BigInt(countTokens(models, request)) }),
    getModel: ({ name }) => ({ model: describeModel(models, name) }),
  };
}

/** Throws Fault MODEL_UNSUPPORTED for an unknown model, and INVALID_ARGUMENT for an invalid schema. */
function countTokens(models: Models, { agent = create(AgentSchema), messages }: CountTokensRequest): number {
  models.resolve(agent.model || models.defaultModel);
  const functions = agent.tools?.functions ?? [];
  return estimatePrompt({
    system: [agent.systemPrompt, ...systemTexts(messages)].join("\n\n"),
    messages: modelMessages(messages),
    tools: functions.map(({ name, description, parameters }) => ({
      ...{ name, description },
      parameters: parseObject(parameters) ?? {},
    })),
    responseFormat: responseFormatOf(agent),
  });
}

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
