// Finds the resources of this service that a run of a runner may be granted.

import { create } from "@bufbuild/protobuf";
import { AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";
import { contextTokensOf } from "../../../agent/models/catalogue.ts";
import type { Models } from "../../../agent/models/open.ts";
import type { ServiceDeps } from "../../../api/deps.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { ReasonName } from "../../../platform/base/reasons.ts";
import type { FoundModel, ResourceFinder } from "../runners/authorize.ts";
import { findKnowledgeBases } from "../storage/knowledge.ts";

/** Creates the finder of models, tools and knowledge bases. It returns undefined for an unknown model or tool. */
export function createResourceFinder({
  db,
  models,
  selectTools,
}: Pick<ServiceDeps, "db" | "models" | "selectTools">): ResourceFinder {
  return {
    findModel: (id) => findLlm(models, id) ?? findReranker(models, id),
    findTool: (name) =>
      unlessRefused("TOOL_UNKNOWN", () =>
        unlessRefused("TOOL_UNSUPPORTED", () => {
          return selectTools(create(AgentToolsSchema, { builtin: [name] }), noSession).tools[0];
        }),
      ),
    findKnowledgeBases: async (client, ids) => {
      const rows = await findKnowledgeBases(db, client, ids);
      return new Map(rows.map(({ kb_id, name }) => [kb_id, { name }]));
    },
  };
}

function findLlm(models: Models, id: string): FoundModel | undefined {
  return unlessRefused("MODEL_UNSUPPORTED", () => {
    const model = models.resolve(id);
    return { provider: model.provider, type: "llm", contextTokens: contextTokensOf(model) };
  });
}

function findReranker(models: Models, id: string): FoundModel | undefined {
  return unlessRefused("MODEL_UNSUPPORTED", () => ({ provider: models.resolveReranker(id).provider, type: "rerank" }));
}

/** A placeholder for the session of the tools. Only remote tools use it. */
const noSession = { client: "", name: "", callback: undefined } as const;

function unlessRefused<T>(reason: ReasonName, find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof Fault && error.reason === reason) {
      return undefined;
    }
    throw error;
  }
}
