// The surface of MCP: `POST /mcp` for both eras of the protocol, and the stream of a session at `GET /mcp`. It calls the methods of
// the contract in process and knows nothing of the service behind them.

import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { jsonReader, noReader } from "../http/body-weight.ts";
import { isForeignOrigin } from "../http/cors.ts";
import { Calls } from "../in-process/calls.ts";
import {
  findId,
  invalidRequest,
  isDefect,
  methodNotFound,
  type Params,
  printError,
  RpcError,
  type RpcMessage,
  readMessage,
  toRpcError,
} from "../in-process/json-rpc.ts";
import type { SurfaceOptions } from "../in-process/routed-surface.ts";
import { endSlowJson } from "../in-process/slow-json.ts";
import { signalOf } from "../rest/disconnect.ts";
import { isReason } from "../rest/failure.ts";
import type { RestCall } from "../rest/gateway.ts";
import {
  closeAfter,
  endStream,
  isGone,
  type RestRequest,
  type RestResponse,
  sendJson,
  setHead,
} from "../rest/respond.ts";
import { decide } from "./approvals.ts";
import { answer, type McpCall, type RequestRuns, type Seals, type Server } from "./call.ts";
import { answerCall, callTool, cancel } from "./call-tool.ts";
import { discover } from "./discover.ts";
import { initialize, readCancelled, readPlace, readSession } from "./legacy.ts";
import { listen, listenInSession } from "./listen.ts";
import { isModern, readEnvelope } from "./modern.ts";
import { listResources, listTemplates, readResource } from "./resources.ts";
import { findRun } from "./start.ts";
import { cancelTask, getTask, updateTask } from "./tasks.ts";
import { ToolWatches } from "./tool-watches.ts";
import { listTools } from "./tools.ts";

/** What the surface works with. */
export interface McpOptions extends SurfaceOptions, Omit<Server, "toolWatches"> {
  readonly callerOf: (values: ContextValues) => Caller;
  readonly corsOrigins: readonly string[];
  /** Where clients find out which authorization server gives them tokens; undefined without one. */
  readonly metadataUrl: string | undefined;
}

/** The caller, and what the service keeps for it. */
interface Caller {
  readonly client: string;
  readonly seals: Seals;
  readonly requestRuns: RequestRuns;
}

const path = "/mcp";

/** Returns the surface of MCP. */
export function createMcpSurface(given: McpOptions) {
  const options = { ...given, toolWatches: new ToolWatches(given.clock) };
  return {
    owns: (asked: string): boolean => asked === path || asked === `${path}/`,
    describe: (_requestTarget: string, httpMethod: string) => ({
      method: httpMethod === "GET" ? RunService.method.watchRuns : SessionService.method.sendMessage,
      isLong: true,
      reader: httpMethod === "POST" ? jsonReader : noReader,
    }),
    handle: async (request: RestRequest, response: RestResponse, call: RestCall = {}): Promise<void> => {
      response.on("error", () => undefined);
      const signal = signalOf(response);
      try {
        assertOrigin(request, options);
        await answerRequest(request, response, { ...options, ...call, signal });
      } catch (error) {
        if (isDefect(error) && !signal.aborted) {
          options.reportError(error);
        }
        sendError(response, error, call.body, options);
      }
    },
    refuse: (request: RestRequest, response: RestResponse, fault: Fault): void => {
      response.on("error", () => undefined);
      // Pages of other origins learn nothing, not even whether a key is right.
      sendError(response, findForeignOrigin(request, options) ?? fault, undefined, options);
    },
  };
}

interface Parts extends McpOptions, Server, RestCall {
  readonly signal: AbortSignal;
}

async function answerRequest(request: RestRequest, response: RestResponse, parts: Parts): Promise<void> {
  const { methods, signal, contextValues = createContextValues(), body } = parts;
  const calls = new Calls(methods, { headers: request.headers, signal, contextValues });
  const caller = parts.callerOf(contextValues);
  const visit: Visit = { ...parts, ...caller, request, response, calls, values: contextValues };
  switch (request.method) {
    case "POST":
      await takeMessage(visit, readMessage(request, body));
      return;
    case "GET":
      await openStream(visit);
      return;
    default:
      setHead(response, 405, { allow: "GET, POST" });
      throw new RpcError(invalidRequest, `${request.method} is not supported: sessions end by themselves`, {
        status: 405,
      });
  }
}

interface Visit extends Parts, Caller {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly calls: Calls;
  readonly values: ContextValues;
}

async function takeMessage(visit: Visit, message: RpcMessage): Promise<void> {
  const { request, response, seals, calls } = visit;
  const params = message.kind === "response" ? {} : message.params;
  const isOfModern = isModern(request, params);
  if (message.kind === "request" && message.method === "initialize" && !isOfModern) {
    initialize(response, { server: visit, clock: visit.clock, seals, id: message.id, params });
    return;
  }
  if (message.kind === "request") {
    await (isOfModern ? answerModern(visit, message) : answerLegacy(visit, message));
    return;
  }
  if (!isOfModern) {
    const session = readSession(request, seals);
    if (message.kind === "response") {
      await decide(calls, undefined, String(message.id), message.result);
    } else if (message.method === "notifications/cancelled") {
      await cancelRequest(visit, session.name, params);
    }
  }
  setHead(response, 202, {});
  endStream(response, "");
}

type RpcRequest = Extract<RpcMessage, { kind: "request" }>;

type Method = (call: McpCall) => Promise<void>;

const shared: Readonly<Record<string, Method>> = {
  "tools/list": listTools,
  "tools/call": callTool,
  "resources/list": listResources,
  "resources/templates/list": listTemplates,
  "resources/read": readResource,
};

const modernMethods: Readonly<Record<string, Method>> = {
  ...shared,
  "server/discover": discover,
  "subscriptions/listen": listen,
  "tasks/get": getTask,
  "tasks/update": updateTask,
  "tasks/cancel": cancelTask,
};

const legacyMethods: Readonly<Record<string, Method>> = {
  ...shared,
  ping: async (call) => answer(call, {}),
};

async function answerModern(visit: Visit, message: RpcRequest): Promise<void> {
  const abilities = readEnvelope(visit.request, message.method, message.params);
  const method = requireMethod(modernMethods, message.method, 404);
  await method({ ...callOf(visit, message), isModern: true, session: "", abilities });
}

async function answerLegacy(visit: Visit, message: RpcRequest): Promise<void> {
  const { name: session, abilities } = readSession(visit.request, visit.seals);
  const method = requireMethod(legacyMethods, message.method, 200);
  await method({ ...callOf(visit, message), isModern: false, session, abilities });
}

function requireMethod(methods: Readonly<Record<string, Method>>, name: string, status: number): Method {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method === undefined) {
    throw new RpcError(methodNotFound, `there is no method ${JSON.stringify(name)}`, { status });
  }
  return method;
}

function callOf(visit: Visit, { id, params }: Pick<RpcRequest, "id" | "params">) {
  const { request, response, sink, calls, values, clock, client, seals, requestRuns } = visit;
  const meta = params._meta;
  const token = isObject(meta) ? meta.progressToken : undefined;
  return {
    server: visit,
    response,
    sink,
    calls,
    values,
    clock,
    client,
    seals,
    requestRuns,
    id,
    params,
    progressToken: typeof token === "string" || typeof token === "number" ? token : undefined,
    takesStream: /\btext\/event-stream\b/i.test(request.headers.accept ?? ""),
  };
}

/** The stream of a session: the rest of a call's stream, or the changes of its tools. */
async function openStream(visit: Visit): Promise<void> {
  const { request, seals, calls } = visit;
  if (isModern(request, {})) {
    setHead(visit.response, 405, { allow: "POST" });
    throw new RpcError(invalidRequest, "send a POST: this revision has no other stream", { status: 405 });
  }
  const { name: session, abilities } = readSession(request, seals);
  const call = { ...callOf(visit, { id: 0, params: {} }), isModern: false, session, abilities, takesStream: true };
  if (request.headers["last-event-id"] === undefined) {
    await listenInSession(call);
    return;
  }
  const place = readPlace(request);
  const run = place === undefined ? undefined : await findRun(calls, place.runId);
  if (place === undefined || run?.note.session !== session) {
    throw new RpcError(invalidRequest, "the stream of last-event-id is not of this session", { status: 404 });
  }
  await answerCall(call, run, place.after);
}

async function cancelRequest(visit: Visit, session: string, params: Params): Promise<void> {
  const id = readCancelled(params);
  const runId = id === undefined ? undefined : await visit.requestRuns.find(session, id);
  if (runId !== undefined) {
    await cancel(visit, runId);
  }
}

function assertOrigin(request: RestRequest, options: McpOptions): void {
  const fault = findForeignOrigin(request, options);
  if (fault !== undefined) {
    throw fault;
  }
}

function findForeignOrigin(request: RestRequest, { corsOrigins }: McpOptions): Fault | undefined {
  return isForeignOrigin(request, corsOrigins)
    ? new Fault(
        "ORIGIN_REFUSED",
        "pages of other origins cannot call /mcp: add the origin to RUNNEL_SERVER_CORS_ORIGINS",
      )
    : undefined;
}

function sendError(
  response: RestResponse,
  error: unknown,
  body: Uint8Array | undefined,
  { metadataUrl }: Pick<McpOptions, "metadataUrl">,
): void {
  if (isGone(response)) {
    return;
  }
  const failure = toRpcError(error);
  const json = printError(findId(body), failure);
  if (response.headersSent) {
    endSlowJson(response, json);
    return;
  }
  if (isReason(error, "BODY_TOO_LARGE", "OVERLOADED")) {
    closeAfter(response);
  }
  sendJson(
    response,
    failure.status,
    json,
    failure.status === 401 ? { "www-authenticate": challengeOf(metadataUrl) } : {},
  );
}

/** Returns what a client needs to authenticate (RFC 6750, section 3; RFC 9728, section 5.1). */
function challengeOf(metadataUrl: string | undefined): string {
  return `Bearer realm="runnel"${metadataUrl === undefined ? "" : `, resource_metadata="${metadataUrl}"`}`;
}
