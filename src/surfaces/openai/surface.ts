// The surface of OpenAI's API: its routes, and how its failures are answered. It calls the methods of the contract in process, as
// every surface does, and knows nothing of the service behind them.

import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Clock } from "../../platform/base/clock.ts";
import type { Fault } from "../../platform/base/fault.ts";
import type { LocalMethods } from "../../platform/base/local-methods.ts";
import { type BodyReader, jsonReader, noReader } from "../http/body-weight.ts";
import { Calls } from "../in-process/calls.ts";
import { signalOf } from "../rest/departure.ts";
import { isReason } from "../rest/failure.ts";
import type { RestCall } from "../rest/gateway.ts";
import { closeAfter, isGone, type RestRequest, type RestResponse, sendJson } from "../rest/respond.ts";
import { decodeSegment, splitRequestTarget } from "../rest/route.ts";
import { createChatCompletion } from "./chat.ts";
import { createConversation, deleteConversation, getConversation, listConversationItems } from "./conversations.ts";
import { ApiError, isDefect, toApiError } from "./errors.ts";
import { getModel, listModels } from "./models.ts";
import { cancelResponse, createResponse, deleteResponse, getResponse, listInputItems } from "./responses.ts";
import type { Visit } from "./visit.ts";

/** What the surface works with. */
export interface OpenAiOptions {
  /** All methods of the core. */
  readonly methods: LocalMethods;
  readonly clock: Clock;
  /** Reports every unexpected error. */
  readonly reportError: (error: unknown) => void;
}

interface Route {
  readonly httpMethod: string;
  readonly pattern: RegExp;
  readonly reader: BodyReader;
  /** The method of the contract whose name access logs and metrics show. */
  readonly method: DescMethod;
  readonly answer: (visit: Visit, id: string) => Promise<void>;
}

const { sendMessage, getSession, createSession, deleteSession, listMessages: listItems } = SessionService.method;
const { getRun, cancelRun, deleteRun, getRunInput } = RunService.method;
const { listModels: modelsMethod } = ProviderService.method;

const routes: readonly Route[] = [
  route("POST", "/v1/responses", sendMessage, createResponse),
  route("GET", "/v1/responses/{id}", getRun, getResponse),
  route("DELETE", "/v1/responses/{id}", deleteRun, deleteResponse),
  route("POST", "/v1/responses/{id}/cancel", cancelRun, cancelResponse),
  route("GET", "/v1/responses/{id}/input_items", getRunInput, listInputItems),
  route("POST", "/v1/conversations", createSession, createConversation),
  route("GET", "/v1/conversations/{id}", getSession, getConversation),
  route("DELETE", "/v1/conversations/{id}", deleteSession, deleteConversation),
  route("GET", "/v1/conversations/{id}/items", listItems, listConversationItems),
  route("POST", "/v1/chat/completions", sendMessage, createChatCompletion),
  route("GET", "/v1/models", modelsMethod, listModels),
  route("GET", "/v1/models/{id}", modelsMethod, getModel),
];

function route(httpMethod: string, path: string, method: DescMethod, answer: Route["answer"]): Route {
  const reader = httpMethod === "POST" && !path.includes("{id}") ? jsonReader : noReader;
  return { httpMethod, pattern: new RegExp(`^${path.replace("{id}", "([^/]+)")}$`), reader, method, answer };
}

/** The first segments of OpenAI's paths. This service has the first four; it has other paths below `/v1/threads`. */
const ownPaths =
  /^\/v1\/(?:responses|conversations|chat|models|completions|embeddings|files|uploads|images|audio|moderations|batches|fine_tuning|vector_stores|assistants|realtime|evals|containers|videos)(?:\/|$)/;

/** Returns the surface of OpenAI's API. */
export function createOpenAiSurface(options: OpenAiOptions) {
  return {
    owns: (path: string): boolean => ownPaths.test(path),
    describe: (requestTarget: string, httpMethod: string) => {
      const found = findRoute(splitRequestTarget(requestTarget).path, httpMethod);
      return { method: found?.route.method, isLong: true, reader: found?.route.reader ?? noReader };
    },
    handle: async (request: RestRequest, response: RestResponse, call: RestCall = {}): Promise<void> => {
      response.on("error", () => undefined);
      const signal = signalOf(response);
      try {
        await answer(request, response, { ...call, ...options, signal });
      } catch (error) {
        if (isDefect(error) && !signal.aborted) {
          options.reportError(error);
        }
        sendError(request, response, error);
      }
    },
    refuse: (request: RestRequest, response: RestResponse, fault: Fault): void => {
      response.on("error", () => undefined);
      sendError(request, response, fault);
    },
  };
}

interface Parts extends OpenAiOptions, RestCall {
  readonly signal: AbortSignal;
}

async function answer(request: RestRequest, response: RestResponse, parts: Parts): Promise<void> {
  const { path, query } = splitRequestTarget(request.url ?? "");
  const found = findRoute(path, request.method ?? "");
  if (found === undefined) {
    const there = routes.map(({ httpMethod, pattern }) => `${httpMethod} ${printPattern(pattern)}`).join(", ");
    const message = `Unknown request URL: ${request.method} ${path}. This service has: ${there}.`;
    throw new ApiError(404, { message, code: "unknown_url" });
  }
  const { methods, signal, clock, body, sink, contextValues = createContextValues() } = parts;
  const { headers } = request;
  const calls = new Calls(methods, { headers, signal, contextValues });
  const visit = { request, response, sink, calls, query: new URLSearchParams(query), body, clock };
  await found.route.answer(visit, found.id);
}

function findRoute(path: string, httpMethod: string): { route: Route; id: string } | undefined {
  for (const each of routes) {
    const match = each.httpMethod === httpMethod ? each.pattern.exec(path) : null;
    if (match !== null) {
      return { route: each, id: decodeSegment(match[1] ?? "") };
    }
  }
  return undefined;
}

function printPattern({ source }: RegExp): string {
  return source.replaceAll("\\/", "/").replace("([^/]+)", "{id}").slice(1, -1);
}

function sendError(request: RestRequest, response: RestResponse, error: unknown): void {
  if (response.headersSent || isGone(response)) {
    return;
  }
  const isChat = splitRequestTarget(request.url ?? "").path.startsWith("/v1/chat/");
  if (isReason(error, "BODY_TOO_LARGE", "OVERLOADED")) {
    closeAfter(response);
  }
  const { status, body, headers } = toApiError(error, isChat ? (field) => fieldOf(field, chatNames) : fieldOf);
  sendJson(response, status, JSON.stringify({ error: body }), headers);
}

/** Returns the request's name of a field of the contract. */
function fieldOf(field: string, own: Names = responseNames): string {
  const [, name = field] = /^agent\.(.+)$/.exec(field) ?? [];
  return [...own, ...names].find(([prefix]) => name.startsWith(prefix))?.[1] ?? name;
}

type Names = readonly (readonly [prefix: string, name: string])[];

const responseNames: Names = [["messages", "input"]];
const chatNames: Names = [["max_tokens", "max_completion_tokens"]];
const names: Names = [
  ["tools", "tools"],
  ["max_tokens", "max_output_tokens"],
  ["system_prompt", "instructions"],
  ["work_dir", "metadata.runnel.work_dir"],
  ["request_id", "Idempotency-Key"],
  ["tool_choice", "tool_choice"],
  ["callback", "tools"],
  ["annotations", "tools"],
];
