// Reads the requests of the Responses API.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import { type AgentSchema, ReasoningEffort } from "#gen/runnel/v1/session_pb.js";
import type { Echo } from "./echo.ts";
import { ApiError, invalid, notFound } from "./errors.ts";
import type { Fields } from "./fields.ts";
import { runIdOf, sessionIdOf } from "./ids.ts";
import { readInput } from "./messages.ts";
import { readResponseSettings, readTextSettings } from "./settings.ts";
import { readTools } from "./tools.ts";

/** A request, read and checked. */
export interface Asked {
  readonly isStream: boolean;
  readonly messages: readonly Message[];
  readonly agent: MessageInitShape<typeof AgentSchema>;
  readonly conversation: string | undefined;
  readonly previousRunId: string | undefined;
  readonly workDir: string;
  readonly echo: Echo;
}

/** Reads a request. Throws an ApiError that names the first field that is wrong or not supported. */
export function readRequest(request: Fields): Asked {
  const conversation = readConversation(request);
  const previous = request.text("previous_response_id");
  if (conversation !== undefined && previous !== undefined) {
    throw invalid("previous_response_id", "set conversation or previous_response_id, not both");
  }
  const instructions = request.text("instructions");
  const toolsGiven = request.list("tools") ?? [];
  const tools = readTools(request, { isChat: false });
  const metadata = readMetadata(request);
  const reasoning = request.child("reasoning");
  const asked: Asked = {
    isStream: request.flag("stream") ?? false,
    messages: readInput(request),
    agent: {
      model: request.text("model") ?? "",
      systemPrompt: instructions ?? "",
      maxTokens: request.count("max_output_tokens") ?? 0,
      ...readResponseSettings(request),
      ...readTextSettings(request),
      ...(tools && { tools }),
      reasoningEffort: readEffort(reasoning?.text("effort")),
    },
    conversation,
    previousRunId: previous === undefined ? undefined : requirePrevious(previous),
    workDir: metadata["runnel.work_dir"] ?? "",
    echo: {
      background: request.flag("background") ?? false,
      store: request.flag("store") ?? true,
      hasInstructions: instructions !== undefined,
      previous_response_id: previous ?? null,
      metadata,
      tools: toolsGiven,
      tool_choice: request.raw("tool_choice") ?? "auto",
      text: request.raw("text") ?? { format: { type: "text" } },
      reasoning: reasoning === undefined ? null : { effort: reasoning.text("effort") ?? null, summary: null },
      user: request.text("user") ?? null,
      safety_identifier: request.text("safety_identifier") ?? null,
      prompt_cache_key: request.text("prompt_cache_key") ?? null,
    },
  };
  request.ignore("truncation", "stream_options", "prompt_cache_retention");
  request.assertAllRead();
  return asked;
}

function readConversation(request: Fields): string | undefined {
  const given = request.raw("conversation");
  const id =
    typeof given === "object" ? request.child("conversation")?.requireText("id") : request.text("conversation");
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
  const given = request.child("metadata");
  const pairs = Object.entries(given === undefined ? {} : (request.raw("metadata") as object));
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
  const runId = runIdOf(id);
  if (runId === undefined) {
    throw previousNotFound(id);
  }
  return runId;
}

/** Returns the answer for a previous response that the caller does not have. */
export function previousNotFound(id: string): ApiError {
  const message = `Previous response with id '${id}' not found.`;
  return new ApiError(400, { message, param: "previous_response_id", code: "previous_response_not_found" });
}
