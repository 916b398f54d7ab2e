// The surface of A2A over HTTP: the public agent card, JSON-RPC at `/a2a`, and HTTP+JSON below it. gRPC has the same handlers.

import { createContextValues } from "@connectrpc/connect";
import { A2AService } from "#gen/lf/a2a/v1/a2a_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { jsonReader, noReader } from "../http/body-weight.ts";
import { Calls } from "../in-process/calls.ts";
import { findId, parseError, RpcError } from "../in-process/json-rpc.ts";
import type { SurfaceOptions } from "../in-process/routed-surface.ts";
import { headerOf } from "../in-process/visit.ts";
import { signalOf } from "../rest/disconnect.ts";
import { isReason } from "../rest/failure.ts";
import type { RestCall } from "../rest/gateway.ts";
import { closeAfter, endStream, type RestRequest, type RestResponse, sendBody, setHead } from "../rest/respond.ts";
import { splitRequestTarget } from "../rest/route.ts";
import type { Server } from "./call.ts";
import { printCard } from "./card.ts";
import { InvalidField, isDefect } from "./errors.ts";
import { answerHttp, findTarget, sendHttpError } from "./http-json.ts";
import { answerRpc, sendRpcError } from "./json-rpc.ts";
import { assertVersion, versionHeader } from "./version.ts";

/** What the surface works with. */
export interface A2aOptions extends Omit<SurfaceOptions, "clock"> {
  readonly server: Server;
}

const prefix = "/a2a";
const cardPath = "/.well-known/agent-card.json";
/** The Python client looks below the address that it has. */
const cardPaths: ReadonlySet<string> = new Set([cardPath, `${prefix}${cardPath}`]);

/** Returns the surface of A2A. */
export function createA2aSurface(options: A2aOptions) {
  return {
    owns: (path: string): boolean => path === prefix || path.startsWith(`${prefix}/`) || path === cardPath,
    describe: (requestTarget: string, httpMethod: string) => {
      const { path } = splitRequestTarget(requestTarget);
      const isCall = isRpc({ url: requestTarget, method: httpMethod });
      const method = isCall ? A2AService.method.sendMessage : findTarget(httpMethod, path.slice(prefix.length))?.method;
      return { method, isLong: true, reader: httpMethod === "POST" ? jsonReader : noReader };
    },
    handle: async (request: RestRequest, response: RestResponse, call: RestCall = {}): Promise<void> => {
      response.on("error", () => undefined);
      const signal = signalOf(response);
      try {
        await answer(request, response, { ...options, ...call, signal });
      } catch (error) {
        if (isDefect(error) && !signal.aborted) {
          options.reportError(error);
        }
        sendError(request, response, error, call.body);
      }
    },
    refuse: (request: RestRequest, response: RestResponse, fault: Fault): void => {
      response.on("error", () => undefined);
      // Before a call only its body can be invalid.
      const isText = isReason(fault, "INVALID_ARGUMENT") && isRpc(request);
      sendError(request, response, isText ? new RpcError(parseError, fault.message) : fault, undefined);
    },
  };
}

interface Parts extends A2aOptions, RestCall {
  readonly signal: AbortSignal;
}

async function answer(request: RestRequest, response: RestResponse, parts: Parts): Promise<void> {
  const { server, methods, signal, contextValues = createContextValues(), body, sink } = parts;
  const { path, query: text } = splitRequestTarget(request.url ?? "");
  if (cardPaths.has(path) && request.method === "GET") {
    await sendCard(request, response, server);
    return;
  }
  const target = isRpc(request) ? undefined : findTarget(request.method ?? "", path.slice(prefix.length));
  if (!isRpc(request) && target === undefined) {
    throw new Fault("RESOURCE_NOT_FOUND", `A2A has no ${request.method} ${path}: ${cardPath} names its addresses`);
  }
  const query = new URLSearchParams(text);
  assertVersion(headerOf(request, versionHeader) ?? query.get("A2A-Version") ?? "");
  const address = addressOf(request, server);
  const calls = new Calls(methods, { headers: request.headers, signal, contextValues });
  const idempotencyKey = headerOf(request, "idempotency-key") ?? "";
  const call = { server, calls, values: contextValues, address, idempotencyKey, patienceMs: undefined };
  const visit = { request, response, sink, body, call };
  await (target === undefined ? answerRpc(visit) : answerHttp(visit, target, query));
}

async function sendCard(request: RestRequest, response: RestResponse, server: Server): Promise<void> {
  const { json, etag, lastModified } = await printCard(server, addressOf(request, server));
  const headers = { etag, "last-modified": lastModified, "cache-control": "public, max-age=300", vary: "Host" };
  if (request.headers["if-none-match"] === etag) {
    setHead(response, 304, headers);
    endStream(response, "");
    return;
  }
  sendBody(response, 200, json, { ...headers, "content-type": "application/json" });
}

function sendError(request: RestRequest, response: RestResponse, error: unknown, body: Uint8Array | undefined): void {
  if (!response.headersSent && isReason(error, "BODY_TOO_LARGE", "OVERLOADED")) {
    closeAfter(response);
  }
  if (isRpc(request)) {
    sendRpcError({ response }, findId(body), error);
  } else {
    sendHttpError({ request, response }, error);
  }
}

function isRpc({ url = "", method }: Pick<RestRequest, "url" | "method">): boolean {
  const { path } = splitRequestTarget(url);
  return method === "POST" && (path === prefix || path === `${prefix}/`);
}

/** A proxy that ends TLS says so; the first of several comes first. */
function addressOf(request: RestRequest, { publicPath }: Server): string {
  const host = "authority" in request ? request.authority : (request.headers.host ?? "");
  const isSecure =
    ("encrypted" in request.socket && request.socket.encrypted === true) ||
    /^\s*https\s*(?:,|$)/i.test(headerOf(request, "x-forwarded-proto") ?? "");
  const origin = `${isSecure ? "https" : "http"}://${host}`;
  if (!URL.canParse(origin)) {
    throw new InvalidField("Host", "must be the host and port of the service");
  }
  return origin + publicPath;
}
