// Builds the body of a Chat Completions request. Keeps the order of messages, calls and tools. Arguments and schemas are sent
// unchanged, except for choices at the top of a schema.

import { RawJson } from "../../../platform/base/json/exact.ts";
import { audioOf, urlOf } from "../media/printed.ts";
import type {
  ModelContent,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ModelToolDefinition,
  ResponseFormat,
} from "../model.ts";
import { argumentsOf } from "../wire/calls.ts";
import type { Origin } from "../wire/origin.ts";
import type { SafeIds } from "../wire/safe-id.ts";
import { adaptTool } from "../wire/tool.ts";
import { idsOf } from "./ids.ts";
import { adaptParameters } from "./parameters.ts";
import { writeSettings } from "./settings.ts";
import { readState } from "./state.ts";

/** Returns the body for a streamed response. `reasons` says that the model reasons although its name does not show it. */
export function chatBody(origin: Origin, request: ModelRequest, reasons: boolean): object {
  const { provider, model } = origin;
  const { system, messages, tools, providerTools = [], maxTokens, temperature, settings = {} } = request;
  const { responseFormat, reasoningEffort, providerOptions } = request;
  const allTools = [...tools.map(chatTool), ...providerTools.map((tool) => new RawJson(tool))];
  const idOf = idsOf(model, messages);
  const said = messages.map((message) => chatMessage(message, origin, idOf));
  const body = {
    ...providerOptions,
    model,
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...writeSettings(settings, { provider, hasTools: allTools.length > 0 }),
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...said],
    ...(allTools.length > 0 && { tools: allTools }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(responseFormat !== undefined && { response_format: chatFormat(responseFormat) }),
    stream: true,
    stream_options: { include_usage: true },
  };
  return adaptParameters(body, reasons);
}

function chatMessage(message: ModelMessage, origin: Origin, idOf: SafeIds): object {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.parts?.map(chatPart) ?? message.text };
    case "assistant": {
      const { thoughts, extras, details } = readState(origin, message);
      return {
        role: "assistant",
        content: message.text === "" && message.toolCalls.length > 0 ? null : message.text,
        ...(thoughts !== undefined && { reasoning_content: thoughts }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(message.toolCalls.length > 0 && {
          tool_calls: message.toolCalls.map((call) => chatCall(call, idOf(call), extras)),
        }),
      };
    }
    case "tool":
      return { role: "tool", tool_call_id: idOf(message), content: message.text };
    default:
      return message satisfies never;
  }
}

function chatPart(part: ModelContent): object {
  switch (part.type) {
    case "text":
    case "placeholder":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: { url: urlOf(part) } };
    case "audio":
      return { type: "input_audio", input_audio: audioOf(part) };
    case "file":
      return { type: "file", file: { filename: part.name ?? "file.pdf", file_data: urlOf(part) } };
    default:
      return part satisfies never;
  }
}

function chatCall(call: ModelToolCall, id: string, extras: ReadonlyMap<string, unknown>): object {
  const { name, argumentsJson } = call;
  const extra = extras.get(call.id);
  return {
    id,
    type: "function",
    function: { name, arguments: argumentsOf(argumentsJson) },
    ...(extra !== undefined && { extra_content: extra }),
  };
}

function chatFormat(format: ResponseFormat): object {
  if (format.type === "json-object") {
    return { type: "json_object" };
  }
  const { name, description, strict, schema } = format;
  return { type: "json_schema", json_schema: { name, description, strict, schema } };
}

function chatTool(tool: ModelToolDefinition): object {
  const { name, description, parameters } = adaptTool(tool);
  return { type: "function", function: { name, description, parameters } };
}
