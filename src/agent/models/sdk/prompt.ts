// Turns a ModelRequest into the call options of the AI SDK. Pure; keeps the order of messages, calls and tools.

import type { LanguageModelV4CallOptions, LanguageModelV4FilePart, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ModelContent, ModelMedia, ModelMessage, ModelRequest, ModelToolCall, ResponseFormat } from "../model.ts";
import { argumentsOf } from "../wire/calls.ts";
import { adaptTool } from "../wire/tool.ts";
import { readState } from "./replay.ts";

/** Returns the call options for a request. */
export function toCallOptions(
  request: ModelRequest,
  provider: string,
  stateKind: string | undefined,
): LanguageModelV4CallOptions {
  const messages = request.messages.map((message) => toPromptMessage(message, provider, stateKind));
  return {
    prompt: [...toSystemMessages(request.system), ...messages],
    maxOutputTokens: request.maxTokens,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    tools: request.tools.map(adaptTool).map((tool) => ({
      type: "function",
      name: tool.name,
      description: tool.description,
      inputSchema: tool.parameters,
    })),
    ...(request.reasoningEffort && { reasoning: request.reasoningEffort }),
    ...(request.responseFormat && { responseFormat: toResponseFormat(request.responseFormat) }),
  };
}

function toResponseFormat(format: ResponseFormat): NonNullable<LanguageModelV4CallOptions["responseFormat"]> {
  if (format.type === "json-object") {
    return { type: "json" };
  }
  const { name, description, schema } = format;
  return { type: "json", name, schema, ...(description !== undefined && { description }) };
}

function toSystemMessages(text: string): LanguageModelV4Message[] {
  return text === "" ? [] : [{ role: "system", content: text }];
}

function toPromptMessage(
  message: ModelMessage,
  provider: string,
  stateKind: string | undefined,
): LanguageModelV4Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: (message.parts ?? [{ type: "text", text: message.text }]).map(toPromptPart) };
    case "assistant":
      return {
        role: "assistant",
        content: readState(provider, stateKind, message) ?? [
          { type: "text" as const, text: message.text },
          ...message.toolCalls.map(toPromptCall),
        ],
      };
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.toolCallId,
            toolName: message.toolName,
            output: toOutput(message),
          },
        ],
      };
    default:
      return message satisfies never;
  }
}

function toPromptPart(part: ModelContent): { type: "text"; text: string } | LanguageModelV4FilePart {
  return "data" in part ? toFile(part) : { type: "text", text: part.text };
}

/** Returns the file for the SDK. It sends URLs unchanged: it loads none for user messages, and tool messages have none. */
function toFile({ type, name, mediaType, data }: ModelMedia): LanguageModelV4FilePart {
  return {
    type: "file",
    mediaType: mediaType ?? (type === "image" ? "image/*" : "application/octet-stream"),
    ...(name !== undefined && { filename: name }),
    // Bytes, not base64: the SDK would take a text that begins like a file id for one of the operator's files.
    data: data instanceof URL ? { type: "url", url: data } : { type: "data", data },
  };
}

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type ToolOutput = Extract<
  Extract<LanguageModelV4Message, { role: "tool" }>["content"][number],
  { type: "tool-result" }
>["output"];

function toOutput({ text, parts, isError }: ToolMessage): ToolOutput {
  if (parts !== undefined) {
    return { type: "content", value: parts.map(toPromptPart) };
  }
  return { type: isError === true ? "error-text" : "text", value: text };
}

function toPromptCall(call: ModelToolCall): { type: "tool-call"; toolCallId: string; toolName: string; input: string } {
  // As text, the arguments are sent byte for byte.
  return { type: "tool-call", toolCallId: call.id, toolName: call.name, input: argumentsOf(call.argumentsJson) };
}
