// The surface of OpenAI's API: its routes, and how its failures are answered.

import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { FieldNames } from "../in-process/field-names.ts";
import {
  createRoutedSurface,
  type PrintedError,
  type Route,
  route,
  type SurfaceOptions,
} from "../in-process/routed-surface.ts";
import type { RestRequest } from "../rest/respond.ts";
import { splitRequestTarget } from "../rest/route.ts";
import { createChatCompletion } from "./chat.ts";
import { compactResponse } from "./compact.ts";
import {
  addConversationItems,
  createConversation,
  deleteConversation,
  deleteConversationItem,
  getConversation,
  getConversationItem,
  listConversationItems,
  updateConversation,
} from "./conversations.ts";
import { ApiError, isDefect, toApiError } from "./errors.ts";
import { getModel, listModels } from "./models.ts";
import {
  cancelResponse,
  countInputTokens,
  createResponse,
  deleteResponse,
  getResponse,
  listInputItems,
} from "./responses.ts";

const { addMessages, deleteMessage, updateSession } = SessionService.method;
const { sendMessage, getSession, createSession, deleteSession, listMessages: listItems } = SessionService.method;
const { getRun, cancelRun, deleteRun, getRunInput } = RunService.method;
const { listModels: modelsMethod, getModel: modelMethod, countTokens } = ProviderService.method;

const routes: readonly Route[] = [
  route("POST", "/v1/responses", sendMessage, createResponse),
  route("POST", "/v1/responses/input_tokens", countTokens, countInputTokens),
  route("POST", "/v1/responses/compact", sendMessage, compactResponse),
  route("GET", "/v1/responses/{id}", getRun, getResponse),
  route("DELETE", "/v1/responses/{id}", deleteRun, deleteResponse),
  route("POST", "/v1/responses/{id}/cancel", cancelRun, cancelResponse),
  route("GET", "/v1/responses/{id}/input_items", getRunInput, listInputItems),
  route("POST", "/v1/conversations", createSession, createConversation),
  route("GET", "/v1/conversations/{id}", getSession, getConversation),
  route("POST", "/v1/conversations/{id}", updateSession, updateConversation),
  route("DELETE", "/v1/conversations/{id}", deleteSession, deleteConversation),
  route("GET", "/v1/conversations/{id}/items", listItems, listConversationItems),
  route("POST", "/v1/conversations/{id}/items", addMessages, addConversationItems),
  route("GET", "/v1/conversations/{id}/items/{item_id}", listItems, getConversationItem),
  route("DELETE", "/v1/conversations/{id}/items/{item_id}", deleteMessage, deleteConversationItem),
  route("POST", "/v1/chat/completions", sendMessage, createChatCompletion),
  route("GET", "/v1/models", modelsMethod, listModels),
  route("GET", "/v1/models/{name}", modelMethod, getModel),
];

/**
 * The first segments of OpenAI's paths. This service has the first four; it has other paths below `/v1/threads`. A program with a wrong base
 * URL leaves `/v1` out, or has it twice: the answer shows it the routes.
 */
const ownPaths =
  /^(?:\/v1)*\/(?:responses|conversations|chat|models|completions|embeddings|files|uploads|images|audio|moderations|batches|fine_tuning|vector_stores|assistants|realtime|evals|containers|videos)(?:\/|$)/;

/** Returns the surface of OpenAI's API. */
export function createOpenAiSurface(options: SurfaceOptions) {
  const owns = (path: string): boolean => ownPaths.test(path);
  return createRoutedSurface({ routes, owns, unknownRoute, isDefect, printError }, options);
}

function unknownRoute(asked: string, there: string): ApiError {
  const message = `Unknown request URL: ${asked}. This service has: ${there}.`;
  return new ApiError(404, { message, code: "unknown_url" });
}

function printError(error: unknown, { url = "" }: RestRequest): PrintedError {
  const isChat = splitRequestTarget(url).path.startsWith("/v1/chat/");
  const { status, body, headers } = toApiError(error, isChat ? chatNames : responseNames);
  return { status, json: JSON.stringify({ error: body }), headers };
}

const names: FieldNames = [
  ["tools", "tools"],
  ["max_tokens", "max_output_tokens"],
  ["system_prompt", "instructions"],
  ["work_dir", "metadata.runnel.work_dir"],
  ["request_id", "Idempotency-Key"],
  ["tool_choice", "tool_choice"],
  ["callback", "tools"],
  ["annotations", "tools"],
];
const responseNames: FieldNames = [["messages", "input"], ...names];
const chatNames: FieldNames = [["max_tokens", "max_completion_tokens"], ...names];
