// The API through its RPCs: a client of any RPC protocol that implements these two methods is a surface.

import type { DescMethodServerStreaming, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { FileService } from "#gen/runnel/v1/file_service_pb.js";
import { McpService } from "#gen/runnel/v1/mcp_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { UsageService } from "#gen/runnel/v1/usage_service_pb.js";
import { plain, plainEvents, plainResult } from "./plain.ts";
import type { Plain, Surface } from "./surface.ts";

export interface RpcClient {
  /** Rejects with `Refused`. */
  call<M extends DescMethodUnary>(method: M, request: MessageInitShape<M["input"]>): Promise<MessageShape<M["output"]>>;
  /** Throws `Refused` for any end but a proper one. Leaving the loop cancels the stream. */
  follow<M extends DescMethodServerStreaming>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): AsyncGenerator<MessageShape<M["output"]>>;
}

export function rpcSurface(client: RpcClient): Surface {
  const sessions = SessionService.method;
  const runs = RunService.method;
  const system = SystemService.method;

  async function call<M extends DescMethodUnary, T>(method: M, request: MessageInitShape<M["input"]>): Promise<T> {
    return plain<T>(method.output, await client.call(method, request));
  }

  return {
    createSession: (request) => call(sessions.createSession, request),
    getSession: async (sessionId) =>
      (await call<DescMethodUnary, { session: Plain }>(sessions.getSession, { sessionId })).session,
    listSessions: (request) => call(sessions.listSessions, request),
    deleteSession: (sessionId) => call(sessions.deleteSession, { sessionId }),
    sendMessage: (request) => call(sessions.sendMessage, request),
    followSession: async function* (sessionId, after = "") {
      for await (const message of client.follow(sessions.streamSession, { sessionId, after })) {
        yield* plainEvents(message);
      }
    },
    listMessages: (request) => call(sessions.listMessages, request),
    listFiles: (request) => call(FileService.method.listFiles, request),
    readFile: async function* (request) {
      for await (const { piece } of client.follow(FileService.method.readFile, request)) {
        yield piece?.data ?? new Uint8Array();
      }
    },
    getRunInput: (runId) => call(runs.getRunInput, { runId }),
    getRun: async (runId, outputCharsMax = 0) =>
      (await call<DescMethodUnary, { run: Plain }>(runs.getRun, { runId, outputCharsMax })).run,
    listRuns: (request) => call(runs.listRuns, request),
    followRun: async function* (runId, after = 0) {
      for await (const { results } of client.follow(runs.tailRun, { runId, after: BigInt(after) })) {
        yield* results.map(plainResult);
      }
    },
    listResults: async (request) => {
      const { results, nextPageToken } = await client.call(runs.listRunResults, request);
      return { results: results.map(plainResult), ...(nextPageToken !== "" && { next_page_token: nextPageToken }) };
    },
    cancelRun: async (runId) => (await call<DescMethodUnary, { run: Plain }>(runs.cancelRun, { runId })).run,
    cancelRuns: (request) => call(runs.cancelRuns, request),
    getVersion: () => call(system.getVersion, {}),
    getLimits: () => call(system.getLimits, {}),
    getUsage: () => call(system.getUsage, {}),
    listUsage: (request) => call(system.listUsage, request),
    queryUsage: async (request) =>
      (await call<DescMethodUnary, { report: Plain }>(UsageService.method.queryUsage, request)).report,
    listMcpServers: () => call(McpService.method.listMcpServers, {}),
    listMcpTools: (request) => call(McpService.method.listMcpTools, request),
    callMcpTool: (request) => call(McpService.method.callMcpTool, request),
    queryUsageOfClients: async (request) =>
      (await call<DescMethodUnary, { report: Plain }>(UsageService.method.queryUsageOfClients, request)).report,
    listReplicas: () => call(system.listReplicas, {}),
  };
}
