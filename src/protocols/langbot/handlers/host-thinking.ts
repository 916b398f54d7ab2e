// The half of the host API that does work for runners: calls to models, tools and knowledge bases.

import type { ServiceImpl } from "@connectrpc/connect";
import type { HostKnowledgeService } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import type { HostModelService } from "#gen/runnel/host/v1/host_model_service_pb.js";
import type { HostToolService } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { runBudgetOfService } from "../../../agent/budget/budget.ts";
import { maxTokensOf } from "../../../platform/context.ts";
import { type HostDeps, streamHostRun, withHostRun } from "../host/access.ts";
import { createPostgresKnowledge, retrieveKnowledge } from "../host/knowledge.ts";
import { countTokens, invokeModel, invokeModelStream, type ModelDeps, rerank } from "../host/models.ts";
import { callTool, getTool, type ToolDeps } from "../host/tools.ts";
import type { LangbotDeps } from "./deps.ts";

type HostThinking = ServiceImpl<typeof HostModelService> &
  ServiceImpl<typeof HostToolService> &
  ServiceImpl<typeof HostKnowledgeService>;

/** Dependencies of the handlers for models, tools and knowledge. */
export type HostThinkingDeps = HostDeps &
  Pick<
    LangbotDeps,
    | "db"
    | "clock"
    | "events"
    | "config"
    | "models"
    | "dayBudget"
    | "selectTools"
    | "workDirs"
    | "runServers"
    | "wakeup"
    | "drain"
  >;

/** Creates the handlers for models, tools and knowledge. */
export function createHostThinking(deps: HostThinkingDeps): HostThinking {
  const models = modelDeps(deps);
  const tools = toolDeps(deps);
  const knowledge = createPostgresKnowledge(deps.db);
  return {
    invokeModel: async (request, context) => {
      const needs = { model: request.modelId, operation: "invoke" };
      const call = { runId: request.runId, action: "invoke_llm", needs } as const;
      return await withHostRun(deps, context, call, (run) => invokeModel(models, run, request));
    },
    invokeModelStream: async function* (request, context) {
      const needs = { model: request.modelId, operation: "stream" };
      const call = { runId: request.runId, action: "invoke_llm_stream", needs } as const;
      yield* streamHostRun(deps, context, call, (run) => invokeModelStream(models, run, request));
    },
    rerank: async (request, context) => {
      const needs = { model: request.modelId, operation: "rerank" };
      const call = { runId: request.runId, action: "invoke_rerank", needs } as const;
      return await withHostRun(deps, context, call, async (run) => ({
        results: [...(await rerank(models, run, request))],
      }));
    },
    countTokens: async (request, context) => {
      const needs = { model: request.modelId, operation: "count_tokens" };
      const call = { runId: request.runId, action: "count_tokens", needs } as const;
      return await withHostRun(deps, context, call, async () => ({ tokens: BigInt(countTokens(models, request)) }));
    },
    getTool: async (request, context) => {
      const needs = { tool: request.toolName, operation: "detail" };
      const call = { runId: request.runId, action: "get_tool_detail", needs } as const;
      return await withHostRun(deps, context, call, async (run) => ({ tool: await getTool(tools, run, request) }));
    },
    callTool: async (request, context) => {
      const needs = { tool: request.toolName, operation: "call" };
      const call = { runId: request.runId, action: "call_tool", needs } as const;
      return await withHostRun(deps, context, call, async (run) => ({ result: await callTool(tools, run, request) }));
    },
    retrieveKnowledge: async (request, context) => {
      const needs = { knowledgeBase: request.kbId, operation: "retrieve" };
      const call = { runId: request.runId, action: "retrieve_knowledge_base", needs } as const;
      return await withHostRun(deps, context, call, async (run) => ({
        results: await retrieveKnowledge({ knowledge }, run, request),
      }));
    },
  };
}

function modelDeps({ models, config, ...deps }: HostThinkingDeps): ModelDeps {
  return {
    ...deps,
    resolveModel: models.resolve,
    resolveReranker: models.resolveReranker,
    runBudget: runBudgetOfService(config),
    modelCallsMax: config.hostModelCalls,
    maxTokens: maxTokensOf(config),
  };
}

function toolDeps({ selectTools, config, ...deps }: HostThinkingDeps): ToolDeps {
  return { ...deps, toolbox: { select: selectTools }, toolCallsMax: config.hostToolCalls };
}
