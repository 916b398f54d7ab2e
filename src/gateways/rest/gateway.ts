// The REST surface: HTTP requests → routes → in-process calls of the router's handlers → JSON or SSE. Everything it
// knows it reads from descriptors when it starts; a service that cannot be served that way fails then.

import { type DescService, getOption, toBinary } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { ErrorBody, rest } from "#gen/runnel/options/v1/options_pb.js";
import { Fault } from "../../base/fault.ts";
import { assertMediaType, decodeBody, readBody, restBodyBytesMax } from "./body.ts";
import type { CallOptions } from "./call.ts";
import { isUnexpected } from "./errors.ts";
import { compileEventReader, type EventReader } from "./event.ts";
import { readFieldJson, readMessageJson } from "./json-read.ts";
import { compileJsonShapes } from "./json-shape.ts";
import { assignPath, assignQuery, parseQuery } from "./params.ts";
import { type RestRequest, type RestResponse, sendEmpty, sendFailure } from "./respond.ts";
import { createRouter, type Route, splitRequestTarget } from "./route.ts";
import { type Binding, compileBindings } from "./rule.ts";
import { answerStream } from "./stream.ts";
import { answerUnary } from "./unary.ts";

export interface RestGatewayOptions {
  /** `handlers` of a Connect router on which all the services are registered. */
  readonly handlers: readonly UniversalHandler[];
  readonly services: readonly DescService[];
  /** Most bytes of a request body. */
  readonly bodyBytesMax?: number;
  /** Told of every failure that nobody planned. Its answer says no more than "internal error". */
  readonly reportError?: (error: unknown) => void;
}

/** What the server has found out about a request before the gateway sees it. */
export interface RestCall {
  /** Travels to the handler, for instance with the caller's identity. */
  readonly contextValues?: ContextValues;
  /** The body, when it was already read, for instance to check its signature. */
  readonly body?: Uint8Array;
}

export interface RestGateway {
  /** Whether the request target belongs to a REST route, whatever the method. */
  matches(requestTarget: string): boolean;
  /** Answers every request, one without a route by 404. Resolves when the answer is written or the client is gone. */
  handle(request: RestRequest, response: RestResponse, call?: RestCall): Promise<void>;
}

/** Throws CONFIG_INVALID when a service cannot be served: a rule that cannot work, a shape without JSON, no handler. */
export function createRestGateway(options: RestGatewayOptions): RestGateway {
  const { bodyBytesMax = restBodyBytesMax, reportError = () => undefined } = options;
  const router = createRouter(options.services.flatMap((service) => compileRoutes(service, options.handlers)));
  return {
    matches: (requestTarget) => router.matches(splitRequestTarget(requestTarget).path),
    handle: async (request, response, call = {}) => {
      // A client that goes away makes the response fail; its `close` says all that there is to know.
      response.on("error", () => undefined);
      const { path, query } = splitRequestTarget(request.url ?? "");
      const match = router.find(request.method ?? "", path);
      if (match.kind === "not_found") {
        sendFailure(response, new Fault("ROUTE_NOT_FOUND", "no such route"), ErrorBody.RUNNEL);
      } else if (match.kind === "method_not_allowed") {
        refuseMethod(request, response, match.allowed, match.nearest.errorBody);
      } else {
        const readInput = async (): Promise<Uint8Array> =>
          readMessage(match.target, request, { query, variables: match.capture(), call, bodyBytesMax });
        await answer(match.target, request, response, { call, readInput, reportError });
      }
    },
  };
}

/** A binding with what it takes to serve it. */
interface Target extends Binding {
  readonly handler: UniversalHandler;
  readonly lenient: boolean;
  readonly errorBody: ErrorBody;
  /** Set for a stream. */
  readonly events: EventReader | undefined;
}

function compileRoutes(service: DescService, handlers: readonly UniversalHandler[]): Route<Target>[] {
  const { lenient, errorBody } = getOption(service, rest);
  return service.methods.flatMap((method) =>
    compileBindings(method).map((binding) => {
      const handler = handlers.find((candidate) => candidate.method === method);
      if (handler === undefined) {
        throw new Fault("CONFIG_INVALID", `${service.typeName}.${method.name} has a REST route but no handler`);
      }
      compileJsonShapes(method.input);
      compileJsonShapes(method.output);
      const events = method.methodKind === "server_streaming" ? compileEventReader(method) : undefined;
      const { httpMethod, template } = binding;
      return { httpMethod, template, target: { ...binding, handler, lenient, errorBody, events } };
    }),
  );
}

/** HEAD is refused unless a route declares it; OPTIONS is answered, since asking what is allowed cannot be forbidden. */
function refuseMethod(
  request: RestRequest,
  response: RestResponse,
  allowed: readonly string[],
  errorBody: ErrorBody,
): void {
  if (request.method === "OPTIONS") {
    sendEmpty(response, { allow: [...allowed, "OPTIONS"].join(", ") });
    return;
  }
  const allow = allowed.join(", ");
  sendFailure(response, new Fault("METHOD_NOT_ALLOWED", `method not allowed: use ${allow}`), errorBody, { allow });
}

interface AnswerContext {
  readonly call: RestCall;
  readonly readInput: () => Promise<Uint8Array>;
  readonly reportError: (error: unknown) => void;
}

async function answer(
  target: Target,
  request: RestRequest,
  response: RestResponse,
  { call, readInput, reportError }: AnswerContext,
): Promise<void> {
  const { httpVersion, headers } = request;
  const options: CallOptions = { httpVersion, headers, signal: signalOf(response), contextValues: call.contextValues };
  const { events } = target;
  try {
    const message = await readInput();
    if (events === undefined) {
      await answerUnary(target, message, response, options);
    } else {
      await answerStream({ ...target, events }, message, response, options);
    }
  } catch (error) {
    if (isUnexpected(error) && !options.signal.aborted) {
      reportError(error);
    }
    sendFailure(response, error, target.errorBody);
  }
}

/** Aborts when the client goes away; also after the answer, when nobody listens any more. */
function signalOf(response: RestResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  if (response.destroyed) {
    controller.abort();
  }
  return controller.signal;
}

interface InputSource {
  readonly query: string;
  readonly variables: ReadonlyMap<string, string>;
  readonly call: RestCall;
  readonly bodyBytesMax: number;
}

/** Body, then query, then path: what comes later wins where two may say the same. */
async function readMessage(
  target: Target,
  request: RestRequest,
  { query, variables, call, bodyBytesMax }: InputSource,
): Promise<Uint8Array> {
  const { input } = target.method;
  const message = reflect(input);
  if (target.body.kind !== "none") {
    const bytes = call.body ?? (await readBody(request, bodyBytesMax));
    readBodyInto(message, target, request, bytes);
  }
  const lastEventId = request.headers["last-event-id"];
  assignQuery(message, target, parseQuery(query), typeof lastEventId === "string" ? lastEventId : "");
  assignPath(message, target, variables);
  return toBinary(input, message.message);
}

function readBodyInto(message: ReflectMessage, target: Target, request: RestRequest, bytes: Uint8Array): void {
  const { body, lenient } = target;
  if (body.kind === "none" || (body.kind === "whole" && body.optional && bytes.byteLength === 0)) {
    return;
  }
  assertMediaType(request, lenient);
  const text = decodeBody(bytes, lenient);
  if (body.kind === "whole") {
    readMessageJson(message, text, { lenient });
  } else {
    readFieldJson(message, body.field, text, { lenient });
  }
}
