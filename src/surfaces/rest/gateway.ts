// The REST surface: HTTP requests → routes → in-process calls of the handlers → JSON or SSE. It reads everything from
// descriptors at startup; a service that cannot be served fails then.

import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { ErrorBody, RestProfileSchema } from "#gen/runnel/options/v1/options_pb.js";
import type { Fault } from "../../platform/base/fault.ts";
import { setRestCallNotes } from "../../platform/base/rest-call.ts";
import type { Sink } from "../../platform/base/sink.ts";
import { type BodyReader, noReader } from "../http/body-weight.ts";
import { signalOf } from "./disconnect.ts";
import { answerDownload } from "./download.ts";
import { type ErrorStyle, errorStyleOf } from "./errors.ts";
import { isUnexpected } from "./failure.ts";
import { type InputSource, readInput } from "./input.ts";
import {
  type RestRequest,
  type RestResponse,
  sendEmpty,
  sendFailure,
  sendMethodNotAllowed,
  sendNotFound,
} from "./respond.ts";
import { createRouter, type RouteMatch, splitRequestTarget } from "./route.ts";
import { answerStream } from "./stream.ts";
import { compileRoutes, type Target, type TargetOptions } from "./target.ts";
import { answerUnary } from "./unary.ts";

/** Options of the gateway. */
export interface RestGatewayOptions extends TargetOptions {
  readonly services: readonly DescService[];
  /** Reports every unexpected error. The caller sees only "internal error". */
  readonly reportError?: (error: unknown) => void;
}

/** The results of the server's work on a request before the gateway. */
export interface RestCall {
  /** Passed to the handler, for instance with the caller's identity. */
  readonly contextValues?: ContextValues;
  /** The body; undefined for an empty one. */
  readonly body?: Uint8Array;
  /** Writes directly into the body of the response, for readers of streams that are in step. */
  readonly sink?: Sink<Uint8Array>;
}

/** The result of matching the first line of a request. */
export interface RestDescription {
  /** Undefined when the request fits no route. */
  readonly method: DescMethod | undefined;
  /** What reads the request's body. */
  readonly reader: BodyReader;
}

/** The REST surface. */
export interface RestGateway {
  /** Describes a request for decisions before the call. */
  describe(requestTarget: string, httpMethod: string): RestDescription;
  /** Answers a request; without a route by 404. Resolves when the answer is written or the client has left. */
  handle(request: RestRequest, response: RestResponse, call?: RestCall): Promise<void>;
  /** Answers with a failure from before the call, in the error format of the route's service. */
  refuse(request: RestRequest, response: RestResponse, fault: Fault): void;
}

/**
 * Creates the gateway. Throws Fault CONFIG_INVALID for an invalid rule, a message without a JSON form, or a missing handler.
 */
export function createRestGateway(options: RestGatewayOptions): RestGateway {
  const { reportError = () => undefined } = options;
  const router = createRouter(options.services.flatMap((service) => compileRoutes(service, options)));
  return {
    describe: (requestTarget, httpMethod) => {
      const match = router.find(httpMethod, splitRequestTarget(requestTarget).path);
      const target = match.kind === "found" ? match.target : undefined;
      return { method: target?.method, reader: readerOf(target) };
    },
    handle: async (request, response, call = {}) => {
      ignoreWriteErrors(response);
      const { path, query } = splitRequestTarget(request.url ?? "");
      const match = router.find(request.method ?? "", path);
      if (match.kind === "not_found") {
        sendNotFound(response);
      } else if (match.kind === "method_not_allowed") {
        answerOtherMethod(request, response, match.allowed);
      } else {
        const { target, capture } = match;
        await answer({ target, request, response, call, query, capture, reportError });
      }
    },
    refuse: (request, response, fault) => {
      ignoreWriteErrors(response);
      const match = router.find(request.method ?? "", splitRequestTarget(request.url ?? "").path);
      sendFailure(response, fault, errorStyleOfMatch(match));
    },
  };
}

/** The error format of a request without a route. */
const styleOfNothing = errorStyleOf(create(RestProfileSchema, { errorBody: ErrorBody.BARE }));

function errorStyleOfMatch(match: RouteMatch<Target>): ErrorStyle {
  switch (match.kind) {
    case "found":
      return match.target.errorStyle;
    case "method_not_allowed":
      return match.nearest.errorStyle;
    case "not_found":
      return styleOfNothing;
    default:
      return match satisfies never;
  }
}

/** A request without a route has no reader, and its answer does not depend on its body. */
function readerOf(target: Target | undefined): BodyReader {
  if (target === undefined) {
    return { kind: "request" };
  }
  return target.body.kind === "none" ? noReader : { kind: "text", takesPlainText: target.textRequest !== undefined };
}

/** Ignores errors of the response. They come from a client that leaves, and the `close` event already reports it. */
function ignoreWriteErrors(response: RestResponse): void {
  response.on("error", () => undefined);
}

/**
 * Answers a method that the path does not have. HEAD is refused unless a route declares it. OPTIONS is answered: a client may
 * always ask for the allowed methods.
 */
function answerOtherMethod(request: RestRequest, response: RestResponse, allowed: readonly string[]): void {
  if (request.method === "OPTIONS") {
    sendEmpty(response, { allow: [...allowed, "OPTIONS"].join(", ") });
  } else {
    sendMethodNotAllowed(response, allowed);
  }
}

interface Visit {
  readonly target: Target;
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly call: RestCall;
  readonly query: string;
  readonly capture: () => ReadonlyMap<string, string>;
  readonly reportError: (error: unknown) => void;
}

async function answer(visit: Visit): Promise<void> {
  const { target, response, reportError } = visit;
  const signal = signalOf(response);
  try {
    await call(visit, signal);
  } catch (error) {
    if (isUnexpected(error) && !signal.aborted) {
      reportError(error);
    }
    sendFailure(response, error, target.errorStyle);
  }
}

async function call(visit: Visit, signal: AbortSignal): Promise<void> {
  const { target, request, response, query } = visit;
  const { body, sink, contextValues = createContextValues() } = visit.call;
  const { headers } = request;
  const source: InputSource = { query, variables: visit.capture(), body };
  const { message, notes } = readInput(target, request, source);
  setRestCallNotes(contextValues, notes);
  const options = { headers, signal, contextValues };
  const { events, method } = target;
  if (events !== undefined) {
    await answerStream({ ...target, events, sink }, message, response, options);
  } else if (method.methodKind === "server_streaming") {
    await answerDownload(target, message, response, { ...options, notes });
  } else {
    await answerUnary(target, message, response, { ...options, notes });
  }
}
