// McpService: the MCP servers that a client's agents may have, for people who look at them and try their tools.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { KnownMcpServer_Transport, type McpService } from "#gen/runnel/v1/mcp_service_pb.js";
import { type McpServer, McpServerSchema } from "#gen/runnel/v1/session_pb.js";
import { runCall } from "../agent/tools/call.ts";
import type { KeptTool, ToolHints } from "../agent/tools/mcp/catalogue.ts";
import type { McpTools } from "../agent/tools/mcp/run-servers.ts";
import { printResult } from "../agent/tools/result-json.ts";
import type { Tool, ToolContext } from "../agent/tools/tool.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import { parseBoundedObject } from "../platform/base/json/parse-object.ts";
import { suggest } from "../platform/base/nearest.ts";
import type { McpServerSetting } from "../platform/config/mcp-servers.ts";
import { unaryTimeoutMs } from "./deadline.ts";
import type { ServiceDeps } from "./deps.ts";

/** The maximum time of a call: with the time to connect it stays below that of every unary call. */
const callTimeoutMs = 45_000;

/** Returns the handlers of McpService. */
export function createMcpService(deps: ServiceDeps): ServiceImpl<typeof McpService> {
  const { toolbox, clock } = deps;
  return {
    listMcpServers: (_, { values }) => ({
      servers: toolbox.mcp.known(requireClient(values).client).map(serverToProto),
    }),
    listMcpTools: async ({ server }, context) => {
      await using opened = await openServer(deps, server, context);
      const { kept, hints, problems } = opened;
      const tools = kept.map((tool) =>
        toolToProto(
          tool,
          hints.find(({ name }) => name === tool.name),
        ),
      );
      return { tools, problems: [...problems] };
    },
    callMcpTool: async ({ server, tool: name, arguments: args }, context) => {
      if (args !== "" && parseBoundedObject(args) === undefined) {
        throw invalidField("arguments", "must be a JSON object");
      }
      await using opened = await openServer(deps, server, context);
      const tool = findTool(opened, name);
      const timeoutMs = Math.min(tool.timeoutMs ?? callTimeoutMs, callTimeoutMs);
      const outcome = await runCall(tool, args, await opened.openContext(), { timeoutMs, clock });
      return "error" in outcome ? { error: outcome.error } : { result: printResult(outcome) };
    },
  };
}

interface OpenedServer extends McpTools {
  /** Why tools are left out. */
  readonly problems: readonly string[];
  readonly openContext: () => Promise<ToolContext>;
}

/** Connects to a server. Throws MCP_SERVER_NOT_FOUND, MCP_SERVER_FAILED, and INVALID_ARGUMENT for one that no agent may have. */
async function openServer(
  { toolbox: { mcp }, workDirs }: Pick<ServiceDeps, "toolbox" | "workDirs">,
  server: McpServer = create(McpServerSchema),
  { values, signal: left }: Pick<HandlerContext, "values" | "signal">,
): Promise<OpenedServer> {
  const { client } = requireClient(values);
  const isUnknown = server.url === "" && !mcp.known(client).some(({ name }) => name === server.name);
  try {
    mcp.check([server], client);
  } catch (error) {
    throw blame(error, isUnknown ? "MCP_SERVER_NOT_FOUND" : "INVALID_ARGUMENT");
  }
  const signal = AbortSignal.any([left, AbortSignal.timeout(unaryTimeoutMs)]);
  const place = placeOf(client);
  const openContext = async () => ({ ...(await workDirs.open(place, workDirs.usual)), sessionId: place.name, signal });
  const problems: string[] = [];
  const tell = (problem: string): void => void problems.push(problem);
  try {
    const opened = await mcp.open([server], { client, signal, kept: undefined, taken: [], tell, openContext });
    return { ...opened, problems, openContext };
  } catch (error) {
    signal.throwIfAborted();
    // A fault below says that the request asks for tools that the server lacks, or for too many.
    const isAsked = error instanceof Fault && error.cause instanceof Fault && error.cause.reason === "INVALID_ARGUMENT";
    throw blame(error, isAsked ? "INVALID_ARGUMENT" : "MCP_SERVER_FAILED");
  }
}

/** Returns the fault of a server with another reason, and with the field of these requests. */
function blame(error: unknown, reason: "INVALID_ARGUMENT" | "MCP_SERVER_NOT_FOUND" | "MCP_SERVER_FAILED"): unknown {
  if (!(error instanceof Fault)) {
    return error;
  }
  const violations =
    reason === "INVALID_ARGUMENT" ? error.violations.map((violation) => ({ ...violation, field: "server" })) : [];
  return new Fault(reason, error.message, { violations, cause: error });
}

/** Where programs of servers work outside of sessions. A client has one such place, so calls in a row meet the same program. */
function placeOf(client: string) {
  // No session has a name with a dot.
  return { client, id: "mcp", name: `mcp.${createHash("sha256").update(client).digest("hex").slice(0, 16)}` };
}

/** Throws MCP_TOOL_NOT_FOUND. */
function findTool({ kept, tools, problems }: OpenedServer, name: string): Tool {
  const found = kept.find(({ tool }) => tool === name);
  const tool = tools.find((each) => each.name === found?.name);
  if (tool === undefined) {
    const known = kept.map((each) => each.tool);
    const why = found === undefined ? suggest(name, known) : `: ${problems.join("; ")}`;
    throw new Fault("MCP_TOOL_NOT_FOUND", `the server offers no tool ${JSON.stringify(name)}${why}`);
  }
  return tool;
}

const transports = {
  http: KnownMcpServer_Transport.HTTP,
  sse: KnownMcpServer_Transport.SSE,
  program: KnownMcpServer_Transport.STDIO,
} as const satisfies Record<McpServerSetting["address"]["kind"], KnownMcpServer_Transport>;

/** Shows no path: those of some servers are secret. */
function serverToProto({ name, address }: McpServerSetting) {
  const origin = address.kind === "program" ? "" : new URL(address.url).origin;
  return { name, transport: transports[address.kind], origin };
}

function toolToProto({ tool, name, description, schema }: KeptTool, hints: ToolHints | undefined) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hints?.annotations ?? {};
  return {
    ...{ name: tool, toolName: name, title: hints?.title ?? "", description, inputSchema: schema },
    ...(hints?.annotations !== undefined && {
      annotations: {
        readOnly: readOnlyHint,
        destructive: destructiveHint,
        idempotent: idempotentHint,
        openWorld: openWorldHint,
      },
    }),
  };
}
