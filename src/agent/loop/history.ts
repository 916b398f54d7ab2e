// Turns the session's transcript into messages for a model. A call without a result gets an error result, which says that the
// run ended before the call did.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import { messageText } from "../../engine/sessions/message-text.ts";
import { readElement } from "../models/media/element.ts";
import { withParts } from "../models/media/fit.ts";
import type { ModelCitation, ModelContent, ModelMessage, ModelToolCall } from "../models/model.ts";

const unanswered = "Error: interrupted: the run ended before the call did";
/** The text that a model reads when a tool returned nothing. */
const emptyContent = "Operation completed";

/** Returns the texts of the system's and the developer's messages, which join the system prompt. */
export function systemTexts(transcript: readonly Message[]): string[] {
  return transcript.filter(isSystem).map(messageText);
}

/** Returns whether a message joins the system prompt. */
export function isSystem({ role }: Message): boolean {
  return role === "system" || role === "developer";
}

/** Returns the messages for a model. Every tool call of an assistant message has a result. */
export function modelMessages(transcript: readonly Message[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let turn: TurnCalls = { calls: [], answered: new Set() };
  for (const message of transcript.filter((each) => !isSystem(each))) {
    if (message.role === "tool") {
      turn.answered.add(message.toolCallId);
    } else {
      addMissing(messages, turn);
      turn = { calls: message.toolCalls, answered: new Set() };
    }
    messages.push(modelMessage(message));
  }
  addMissing(messages, turn);
  return messages;
}

/** The calls of a message, and the ids of the results after it. */
interface TurnCalls {
  readonly calls: readonly ToolCall[];
  readonly answered: Set<string | undefined>;
}

function addMissing(messages: ModelMessage[], { calls, answered }: TurnCalls): void {
  for (const call of calls) {
    if (!answered.has(call.id)) {
      messages.push(answerMissing(call));
    }
  }
}

function modelMessage(message: Message): ModelMessage {
  const text = messageText(message);
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        text,
        toolCalls: message.toolCalls.map(modelToolCall),
        state: message.providerSpecificFields,
      };
    case "tool": {
      const { toolCallId = "", name: toolName = "", isError } = message;
      return withParts({ role: "tool", toolCallId, toolName, text, isError }, partsOf(message));
    }
    default:
      return withParts({ role: "user", text }, partsOf(message));
  }
}

/** Returns the parts of a message that is more than text. */
function partsOf({ content }: Message): readonly ModelContent[] | undefined {
  return content.case === "parts" ? content.value.elements.map(readElement) : undefined;
}

function modelToolCall({ id, name, arguments: argumentsJson }: ToolCall): ModelToolCall {
  return { id, name, argumentsJson };
}

function answerMissing(call: ToolCall): ModelMessage {
  return { role: "tool", toolCallId: call.id, toolName: call.name, text: unanswered, isError: true };
}

/** Returns a model's response as a message of the transcript. */
export function assistantMessage({ text, toolCalls, state, citations = [] }: AssistantTurn): Message {
  return create(MessageSchema, {
    role: "assistant",
    ...(text !== "" && { content: { case: "text", value: text } }),
    toolCalls: [...toolCalls],
    ...(state !== undefined && { providerSpecificFields: state }),
    citations: citations.map(({ url = "", title = "", text: words = "", start, end }) => ({
      ...{ url, title, text: words },
      ...(start !== undefined && { start }),
      ...(end !== undefined && { end }),
    })),
  });
}

interface AssistantTurn {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The provider's own data. The provider wants it back with this message. */
  readonly state: string | undefined;
  readonly citations?: readonly ModelCitation[];
}

/** Returns the message that reports the outcome of a call to the model. */
export function toolMessage(outcome: ToolCallCompleted): Message {
  return create(MessageSchema, {
    role: "tool",
    toolCallId: outcome.toolCallId,
    name: outcome.toolName,
    content: outcomeContent(outcome),
    ...(outcome.error !== undefined && { isError: true }),
  });
}

/** A result as a tool of this service writes it. */
interface LoggedResult {
  readonly content: string;
  readonly media?: readonly { readonly type: string; readonly mime_type: string; readonly data: string }[];
}

function outcomeContent({
  error,
  result,
}: ToolCallCompleted): MessageInitShape<typeof MessageSchema>["content"] & object {
  if (error !== undefined) {
    return { case: "text", value: `Error: ${error}` };
  }
  const { content, media = [] }: LoggedResult = JSON.parse(result ?? '{"content":""}');
  if (media.length === 0) {
    return { case: "text", value: content === "" ? emptyContent : content };
  }
  const shown = media.map(({ type, mime_type: mediaType, data }) => {
    const url = `data:${mediaType};base64,${data}`;
    return type === "image" ? { type: "image_base64", imageBase64: url } : { type: "file_base64", fileBase64: url };
  });
  const words = content === "" ? [] : [{ type: "text", text: content }];
  return { case: "parts", value: { elements: [...words, ...shown] } };
}
