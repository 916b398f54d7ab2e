// Finds the resources of this service that a run of a runner may be granted.

import { create } from "@bufbuild/protobuf";
import { AgentToolsSchema, type McpServer } from "#gen/runnel/v1/session_pb.js";
import { contextTokensOf } from "../../../agent/models/catalogue.ts";
import type { Models } from "../../../agent/models/open.ts";
import type { ServiceDeps } from "../../../api/deps.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { ReasonName } from "../../../platform/base/reasons.ts";
import { openServers } from "../host/run-servers.ts";
import type { FoundModel, ListedServerTools, ListingRun, ResourceFinder } from "../runners/authorize.ts";
import { findKnowledgeBases } from "../storage/knowledge.ts";

/** Dependencies of the finder. */
type FinderDeps = Pick<ServiceDeps, "db" | "events" | "models" | "selectTools" | "toolbox" | "workDirs">;

/** Creates the finder of models, tools and knowledge bases. It returns undefined for an unknown model or tool. */
export function createResourceFinder(deps: FinderDeps): ResourceFinder {
  const { db, models, selectTools } = deps;
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
    listServerTools: (servers, run) => listServerTools(deps, servers, run),
  };
}

/** The time in which all servers of a run give their lists: the caller of StartRun waits for them. */
const listingTimeoutMs = 20_000;
/** The lists of foreign servers must not flood the log. */
const problemsLoggedMax = 10;

async function listServerTools(
  deps: FinderDeps,
  servers: readonly McpServer[],
  { client, session, taken }: ListingRun,
): Promise<ListedServerTools> {
  const signal = AbortSignal.timeout(listingTimeoutMs);
  const problems: string[] = [];
  const place = { id: session, client, name: session };
  const tell = (problem: string): void => void problems.push(problem);
  try {
    await using opened = await openServers(deps, { servers, session: place, kept: undefined, taken, signal, tell });
    if (problems.length > 0) {
      deps.events.toolsMended({ client, session, problems: problems.slice(0, problemsLoggedMax) });
    }
    return { tools: opened.tools, kept: opened.kept };
  } catch (error) {
    await deps.workDirs.remove(place);
    if (signal.aborted) {
      const names = servers.map(({ name }) => JSON.stringify(name)).join(", ");
      throw new Fault(
        "MCP_SERVER_FAILED",
        `the mcp servers ${names} gave no lists within ${listingTimeoutMs / 1_000} s`,
      );
    }
    throw error instanceof Fault ? new Fault("MCP_SERVER_FAILED", error.message) : error;
  }
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
