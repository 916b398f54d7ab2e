// Reads the requests of the Responses API.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { ReasoningEffort } from "#gen/runnel/v1/session_pb.js";
import type { ResumeEntry } from "../in-process/interrupts.ts";
import { readAnswers } from "./approvals.ts";
import type { Echo } from "./echo.ts";
import { ApiError, invalid, notFound } from "./errors.ts";
import type { Fields } from "./fields.ts";
import { responsePlaceOf, sessionIdOf } from "./ids.ts";
import { ownerOf, type References, readInput, toolsOfInput } from "./input.ts";
import { withoutSecrets } from "./mcp-servers.ts";
import { readExtras, readResponseSettings, readTextSettings, type Settings } from "./settings.ts";
import { readTools } from "./tools.ts";

/** A request, read and checked. */
export interface Asked {
  readonly isStream: boolean;
  readonly messages: readonly Message[];
  /** The answers to requests for approval; empty for a request that starts a run. */
  readonly answers: readonly ResumeEntry[];
  readonly agent: Settings;
  readonly conversation: string | undefined;
  readonly previousRunId: string | undefined;
  readonly workDir: string;
  readonly echo: Echo;
}

/** Fields that save tokens or time, or tell OpenAI more about the caller. */
const withoutEffect = [
  ...(["truncation", "stream_options", "prompt_cache_retention", "prompt_cache_options", "client_metadata"] as const),
  ...(["context_management", "moderation", "access_programs"] as const),
];

/** Reads a request. Throws an ApiError that names the first field that is wrong or not supported. */
export function readRequest(request: Fields, references: References): Asked {
  const conversation = readConversation(request);
  const previous = request.findText("previous_response_id");
  if (conversation !== undefined && previous !== undefined) {
    throw invalid("previous_response_id", "set conversation or previous_response_id, not both");
  }
  const instructions = request.findText("instructions");
  const more = toolsOfInput(request);
  const tools = readTools(request, { more });
  const toolsGiven = [...(request.findItems("tools") ?? []), ...more.map(({ value }) => value)];
  const metadata = readMetadata(request);
  const reasoning = ownerOf(request, "reasoning").findObject("reasoning");
  const model = request.findText("model") ?? "";
  const answers = readAnswers(request);
  const asked: Asked = {
    isStream: request.findFlag("stream") ?? false,
    messages: answers.length > 0 ? [] : readInput(request, references),
    answers,
    agent: {
      model,
      systemPrompt: instructions ?? "",
      maxTokens: request.findCount("max_output_tokens") ?? 0,
      ...readResponseSettings(request),
      ...readTextSettings(request, ownerOf(request, "text")),
      ...(tools && { tools }),
      reasoningEffort: readEffort(reasoning?.findText("effort")),
    },
    conversation,
    previousRunId: previous === undefined ? undefined : requirePrevious(previous),
    workDir: metadata["runnel.work_dir"] ?? "",
    echo: {
      background: request.findFlag("background") ?? false,
      store: request.findFlag("store") ?? true,
      hasInstructions: instructions !== undefined,
      hasState: readIncludes(request).has("reasoning.encrypted_content"),
      max_tool_calls: request.findCount("max_tool_calls") ?? null,
      previous_response_id: previous ?? null,
      metadata,
      tools: toolsGiven.map(withoutSecrets),
      tool_choice: request.find("tool_choice") ?? "auto",
      text: { format: { type: "text" }, ...(request.find("text") as object | undefined) },
      reasoning: reasoning === undefined ? null : { effort: reasoning.findText("effort") ?? null, summary: null },
      user: request.findText("user") ?? null,
      safety_identifier: request.findText("safety_identifier") ?? null,
      prompt_cache_key: request.findText("prompt_cache_key") ?? null,
    },
  };
  request.ignore(...withoutEffect);
  return { ...asked, agent: { ...asked.agent, ...readExtras(request, model) } };
}

/** The values of `include`. Results of tools are in their items without being asked for. */
const includes: ReadonlySet<unknown> = new Set([
  "code_interpreter_call.outputs",
  "computer_call_output.output.image_url",
  "file_search_call.results",
  "message.input_image.image_url",
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
  "web_search_call.action.sources",
  "web_search_call.results",
]);

function readIncludes(request: Fields): ReadonlySet<unknown> {
  const given = request.findItems("include") ?? [];
  const unknown = given.findIndex((each) => !includes.has(each));
  if (unknown !== -1) {
    throw invalid(`include[${unknown}]`, `must be one of ${[...includes].join(", ")}`);
  }
  return new Set(given);
}

/** Returns the session of the conversation; undefined for none. */
export function readConversation(request: Fields): string | undefined {
  const given = request.find("conversation");
  const id =
    typeof given === "object"
      ? request.findObject("conversation")?.requireText("id")
      : request.findText("conversation");
  if (id === undefined) {
    return undefined;
  }
  const session = sessionIdOf(id);
  if (session === undefined) {
    throw notFound("Conversation", id);
  }
  return session;
}

/** Reads up to 16 pairs of texts. */
export function readMetadata(request: Fields): Readonly<Record<string, string>> {
  const given = request.findObject("metadata");
  const pairs = Object.entries(given === undefined ? {} : (request.find("metadata") as object));
  const isText = pairs.every(([key, value]) => key.length <= 64 && typeof value === "string" && value.length <= 512);
  if (pairs.length > 16 || !isText) {
    throw invalid("metadata", "give at most 16 pairs: keys of at most 64 characters, texts of at most 512");
  }
  return Object.fromEntries(pairs);
}

/** Returns the effort; other values leave it to the provider. */
export function readEffort(effort: string | undefined): ReasoningEffort {
  switch (effort) {
    case "none":
    case "minimal":
      return ReasoningEffort.MINIMAL;
    case "low":
      return ReasoningEffort.LOW;
    case "medium":
      return ReasoningEffort.MEDIUM;
    case "high":
    case "xhigh":
      return ReasoningEffort.HIGH;
    default:
      return ReasoningEffort.UNSPECIFIED;
  }
}

function requirePrevious(id: string): string {
  const place = responsePlaceOf(id);
  if (place === undefined) {
    throw previousNotFound(id);
  }
  return place.runId;
}

/** Returns the answer for a previous response that the caller does not have. */
export function previousNotFound(id: string): ApiError {
  const message = `Previous response with id '${id}' not found.`;
  return new ApiError(400, { message, param: "previous_response_id", code: "previous_response_not_found" });
}
