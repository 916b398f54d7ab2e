// Routes a request in the order of the Agent Runner document: id and log line, probes, CORS, authentication and rate limits,
// then the surface. RPCs are matched by their exact paths; everything else is REST.

import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { type Admission, setAdmission } from "../../platform/auth/caller.ts";
import type { OpenCredentials } from "../../platform/auth/open-credentials.ts";
import { accessOf } from "../../platform/base/access.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { setCredentialEnd } from "../../platform/base/credential-end.ts";
import { Fault } from "../../platform/base/fault.ts";
import { isFrequent } from "../../platform/base/frequent.ts";
import type { Sink } from "../../platform/base/sink.ts";
import { TimeLimit } from "../../platform/base/time-limit.ts";
import { setTraceParent } from "../../platform/base/trace-parent.ts";
import { messageBytesMax, publicBodyBytesMax } from "../../platform/config/limits.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type AdmissionOptions, admit } from "./admission.ts";
import { openAnswerSink } from "./answer-sink.ts";
import type { BodyReader } from "./body-weight.ts";
import { answerCors, refusalOfPage } from "./cors.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import { isGone, type Request, type Response } from "./message.ts";
import { answerProbe, type Probes } from "./probes.ts";
import { hasSeveralHosts, normalizeTarget } from "./request-target.ts";
import { answerRpc, createRpcTable } from "./rpc.ts";

/** The REST surface, which answers every request that is not an RPC. */
export interface RestSurface {
  /** Returns the method that a request would call. Undefined when the request fits no route. */
  describe(requestTarget: string, httpMethod: string): Described;
  /** Answers a request. `body` is the body when it was already read; `sink` writes directly into the response's body. */
  handle(
    request: Request,
    response: Response,
    call: { readonly contextValues: ContextValues; readonly body?: Uint8Array; readonly sink: Sink<Uint8Array> },
  ): Promise<void>;
  /** Answers with a failure, in the error format of the route. */
  refuse(request: Request, response: Response, fault: Fault): void;
}

/** A surface that answers all requests below paths of its own. The headers tell apart two that share a path. */
export interface OwnSurface extends Pick<RestSurface, "handle" | "refuse"> {
  owns(path: string, headers: Request["headers"]): boolean;
  describe(requestTarget: string, httpMethod: string): Described;
}

/** What a request would call. */
export interface Described {
  readonly method: DescMethod | undefined;
  /** True for an answer that may take as long as a run. */
  readonly isLong?: boolean;
  /** What reads the request's body. */
  readonly reader: BodyReader;
  /** The header that may have the bearer token of a request. */
  readonly keyHeader?: string;
}

/** Options of the request listener. */
export interface RequestListenerOptions {
  readonly handlers: readonly UniversalHandler[];
  readonly rest: RestSurface;
  readonly surfaces: readonly OwnSurface[];
  readonly probes: Probes;
  /** Documents that never change while the service runs, by path. */
  readonly documents: ReadonlyMap<string, { readonly contentType: string; readonly print: () => string | Uint8Array }>;
  /** Answers requests for the pages of the service, and returns false for all others. */
  readonly answerPage: (request: Request, response: Response) => boolean;
  readonly admission: AdmissionOptions;
  readonly credentials: Pick<OpenCredentials, "watch">;
  readonly corsOrigins: readonly string[];
  /** True when the service asks for no credentials: then it refuses pages of other origins. */
  readonly isOpen: boolean;
  readonly bodyBytesMax: number;
  /** The maximum time of an answer that is not a stream; 0 means no limit. */
  readonly writeTimeoutMs: number;
  readonly clock: Clock;
  readonly events: Events;
}

/** Returns the listener that answers every request of the port. */
export function createRequestListener(options: RequestListenerOptions): (request: Request, response: Response) => void {
  const { clock, writeTimeoutMs } = options;
  const rpcs = createRpcTable(options.handlers);
  const answerLimit = writeTimeoutMs === 0 ? undefined : new TimeLimit(clock, writeTimeoutMs);
  return (request, response) => {
    normalizeTarget(request);
    const exchange = openExchange(request, response, options);
    answer(request, response, { ...options, rpcs, answerLimit, exchange }).catch((error: unknown) => {
      // A client that leaves in the middle of an answer is not reported.
      if (isGone(response)) {
        return;
      }
      options.events.requestFailed({ method: request.url?.split("?", 1)[0] ?? "", error });
      endWithoutAnswer(response);
    });
  };
}

interface Visit extends RequestListenerOptions {
  readonly rpcs: ReadonlyMap<string, UniversalHandler>;
  readonly answerLimit: TimeLimit | undefined;
  readonly exchange: Exchange;
}

async function answer(request: Request, response: Response, visit: Visit): Promise<void> {
  const { rest, isOpen, corsOrigins } = visit;
  if (hasSeveralHosts(request)) {
    rest.refuse(request, response, new Fault("INVALID_ARGUMENT", "several Host headers: send one"));
    return;
  }
  if (answerProbe(visit.probes, request, response) || answerCors(request, response, corsOrigins)) {
    return;
  }
  if (!("stream" in request) && request.headers.host === undefined) {
    rest.refuse(request, response, new Fault("INVALID_ARGUMENT", "missing Host header"));
    return;
  }
  const why = isOpen ? refusalOfPage(request, corsOrigins) : undefined;
  if (why !== undefined) {
    rest.refuse(request, response, new Fault("ORIGIN_REFUSED", why));
    return;
  }
  if (!visit.answerPage(request, response) && !answerDocument(request, response, visit)) {
    await answerCall(request, response, visit);
  }
}

function answerDocument(request: Request, response: Response, { documents }: Visit): boolean {
  const document = documents.get(request.url?.split("?", 1)[0] ?? "");
  if (document === undefined || request.method !== "GET") {
    return false;
  }
  response.setHeader("content-type", document.contentType);
  const body = document.print();
  response.setHeader("content-length", Buffer.byteLength(body));
  response.end(body);
  return true;
}

async function answerCall(request: Request, response: Response, visit: Visit): Promise<void> {
  const { rpcs, exchange } = visit;
  const path = request.url?.split("?", 1)[0] ?? "";
  const rpc = rpcs.get(path);
  const surface = visit.surfaces.find((each) => each.owns(path, request.headers)) ?? visit.rest;
  const described: Described =
    rpc === undefined ? surface.describe(request.url ?? "", request.method ?? "") : describeRpc(rpc, request);
  const { method, isLong = false, reader, keyHeader } = described;
  if (!isLong) {
    boundAnswer(response, method, visit);
  }
  const { admission, body } = await admit(
    request,
    {
      isPublic: isPublic(method, path),
      bodyBytesMax: bodyLimitOf(rpc !== undefined, method, visit),
      reader,
      keyHeader,
      takesTicket: method !== undefined && accessOf(method) === Access.READER,
      needsAdmin: method !== undefined && accessOf(method) === Access.ADMIN,
      isFrequent: method !== undefined && isFrequent(method),
    },
    visit.admission,
  );
  exchange.note(admission, method === undefined ? "" : `${method.parent.typeName}/${method.name}`);
  const contextValues = createContextValues();
  setAdmission(contextValues, admission);
  setTraceParent(contextValues, request.headers.traceparent);
  if (isLong || method?.methodKind !== "unary") {
    watchCredential(admission, response, { contextValues, credentials: visit.credentials });
  }
  if (rpc !== undefined) {
    if ("fault" in admission && !request.complete && !("stream" in response)) {
      // Closes the connection instead of waiting for the rest of the request.
      response.setHeader("connection", "close");
    }
    await answerRpc(rpc, request, response, { contextValues, body, clock: visit.clock });
  } else if ("fault" in admission) {
    surface.refuse(request, response, admission.fault);
  } else {
    await surface.handle(request, response, {
      contextValues,
      sink: openAnswerSink(response),
      ...(body !== undefined && { body: body.bytes }),
    });
  }
}

/** Ends the streams of a call when its caller's credential ends. */
function watchCredential(
  admission: Admission,
  response: Response,
  { contextValues, credentials }: { contextValues: ContextValues } & Pick<Visit, "credentials">,
): void {
  const lifetime = "caller" in admission && "lifetime" in admission.caller ? admission.caller.lifetime : undefined;
  if (lifetime !== undefined && !isGone(response)) {
    const end = credentials.watch(lifetime);
    response.once("close", () => end[Symbol.dispose]());
    setCredentialEnd(contextValues, end.signal);
  }
}

function describeRpc({ method }: UniversalHandler, request: Request): Described {
  // Connect's GET has its message in the query.
  const reader: BodyReader =
    request.method === "GET"
      ? { kind: "none" }
      : method.methodKind === "unary" || method.methodKind === "server_streaming"
        ? { kind: "message", method }
        : { kind: "request" };
  return { method, reader };
}

function bodyLimitOf(isRpc: boolean, method: DescMethod | undefined, { bodyBytesMax }: Visit): number {
  const bytesMax = isRpc ? messageBytesMax + envelopeBytesMax : bodyBytesMax;
  const isOpenToAll = method !== undefined && accessOf(method) === Access.PUBLIC;
  return isOpenToAll ? Math.min(bytesMax, publicBodyBytesMax) : bytesMax;
}

/** The prefix of an envelope, and reserve for a message that compression made longer. */
const envelopeBytesMax = 1_024;

/**
 * Whether a path needs no credentials. Below /v1/ callers without credentials must not learn which routes exist; other paths
 * are no secret.
 */
function isPublic(method: DescMethod | undefined, path: string): boolean {
  return method === undefined ? !path.startsWith("/v1/") : accessOf(method) === Access.PUBLIC;
}

/** Destroys a non-streaming answer that is not sent in time, however slowly its reader reads. */
function boundAnswer(response: Response, method: DescMethod | undefined, { answerLimit }: Visit): void {
  if (answerLimit !== undefined && (method === undefined || method.methodKind === "unary")) {
    response.once(
      "close",
      answerLimit.watch(() => response.destroy()),
    );
  }
}

/** Ends a response after an internal error: the caller gets a 500 at once. */
function endWithoutAnswer(response: Response): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.statusCode = 500;
  response.end();
}
