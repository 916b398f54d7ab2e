// The way of a request through the doors, in the order that the Agent Runner document has: id and log line, probes, pages
// of other origins, who calls and how often, then the surface that it belongs to. RPCs are known by their exact paths,
// everything else is REST.

import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { setAdmission } from "../../platform/auth/caller.ts";
import { accessOf } from "../../platform/base/access.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { isFrequent } from "../../platform/base/frequent.ts";
import type { Sink } from "../../platform/base/sink.ts";
import { TimeLimit } from "../../platform/base/time-limit.ts";
import { setTraceParent } from "../../platform/base/trace-parent.ts";
import { messageBytesMax } from "../../platform/config/limits.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type AdmissionOptions, admit } from "./admission.ts";
import { openAnswerSink } from "./answer-sink.ts";
import { answerCors, isForeignPage } from "./cors.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import { answerProbe, type Probes } from "./probes.ts";
import { hasSeveralHosts, normalizeTarget } from "./request-target.ts";
import { answerRpc, createRpcTable, isGone, type Request, type Response } from "./rpc.ts";

/** The surface of everything that is no RPC. */
export interface RestSurface {
  /** The method that a request would call, if there is one. */
  describe(requestTarget: string, httpMethod: string): { readonly method: DescMethod | undefined };
  /** Answers every request. `body` is what was read of it already, `sink` is another way into the response's body. */
  handle(
    request: Request,
    response: Response,
    call: { readonly contextValues: ContextValues; readonly body?: Uint8Array; readonly sink: Sink<Uint8Array> },
  ): Promise<void>;
  /** Answers by a failure, in the form of the route. */
  refuse(request: Request, response: Response, fault: Fault): void;
}

export interface RequestListenerOptions {
  readonly handlers: readonly UniversalHandler[];
  readonly rest: RestSurface;
  readonly probes: Probes;
  /** What never changes while the service runs, by path. */
  readonly documents: ReadonlyMap<string, { readonly contentType: string; readonly print: () => string }>;
  readonly admission: AdmissionOptions;
  readonly corsOrigins: readonly string[];
  /** True when no credentials are asked for: then pages of other origins are kept out by other means. */
  readonly isOpen: boolean;
  readonly bodyBytesMax: number;
  /** Of an answer that is no stream; 0 means no limit. */
  readonly writeTimeoutMs: number;
  readonly clock: Clock;
  readonly events: Events;
}

export function createRequestListener(options: RequestListenerOptions): (request: Request, response: Response) => void {
  const { clock, writeTimeoutMs } = options;
  const rpcs = createRpcTable(options.handlers);
  const answerLimit = writeTimeoutMs === 0 ? undefined : new TimeLimit(clock, writeTimeoutMs);
  return (request, response) => {
    normalizeTarget(request);
    const exchange = openExchange(request, response, options);
    answer(request, response, { ...options, rpcs, answerLimit, exchange }).catch((error: unknown) => {
      // A client that leaves in the middle of an answer is nothing to report.
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
  if (isOpen && isForeignPage(request, corsOrigins)) {
    const fix = "set RUNNEL_SERVER_CORS_ORIGINS to let its origin in";
    rest.refuse(request, response, new Fault("ORIGIN_REFUSED", `a page of another origin may not call: ${fix}`));
    return;
  }
  if (!answerDocument(request, response, visit)) {
    await answerCall(request, response, visit);
  }
}

function answerDocument(request: Request, response: Response, { documents }: Visit): boolean {
  const document = documents.get(request.url?.split("?", 1)[0] ?? "");
  if (document === undefined || request.method !== "GET") {
    return false;
  }
  response.setHeader("content-type", document.contentType);
  const text = document.print();
  response.setHeader("content-length", Buffer.byteLength(text));
  response.end(text);
  return true;
}

async function answerCall(request: Request, response: Response, visit: Visit): Promise<void> {
  const { rest, rpcs, exchange, bodyBytesMax } = visit;
  const path = request.url?.split("?", 1)[0] ?? "";
  const rpc = rpcs.get(path);
  const method = rpc?.method ?? rest.describe(request.url ?? "", request.method ?? "").method;
  boundAnswer(response, method, visit);
  const { admission, body } = await admit(
    request,
    {
      isPublic: isPublic(method, path),
      bodyBytesMax: rpc === undefined ? bodyBytesMax : messageBytesMax + envelopeBytesMax,
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
  if (rpc !== undefined) {
    if ("fault" in admission && !request.complete && !("stream" in response)) {
      // What is left of the request is not waited for.
      response.setHeader("connection", "close");
    }
    await answerRpc(rpc, request, response, { contextValues, body, clock: visit.clock });
  } else if ("fault" in admission) {
    rest.refuse(request, response, admission.fault);
  } else {
    await rest.handle(request, response, {
      contextValues,
      sink: openAnswerSink(response),
      ...(body !== undefined && { body }),
    });
  }
}

/** Prefix of an envelope, and room for a message that its compression made longer. */
const envelopeBytesMax = 1_024;

/** Below /v1/ nobody learns without credentials which routes there are; elsewhere there is nothing to hide. */
function isPublic(method: DescMethod | undefined, path: string): boolean {
  return method === undefined ? !path.startsWith("/v1/") : accessOf(method) === Access.PUBLIC;
}

/** An answer that is no stream must be out in time, however slowly its reader reads. */
function boundAnswer(response: Response, method: DescMethod | undefined, { answerLimit }: Visit): void {
  if (answerLimit !== undefined && (method === undefined || method.methodKind === "unary")) {
    response.once(
      "close",
      answerLimit.watch(() => response.destroy()),
    );
  }
}

/** Something of ours broke: the caller learns that much, and is not kept waiting. */
function endWithoutAnswer(response: Response): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.statusCode = 500;
  response.end();
}
