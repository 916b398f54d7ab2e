// Builds the body of a Responses request. Keeps the order of messages, calls and tools. Arguments and schemas are sent unchanged,
// except for choices at the top of a schema. Stateless: the service stores nothing, and a reasoning model gets its own encrypted
// thoughts back.

import { RawJson } from "../../../platform/base/json/exact.ts";
import { audioOf, urlOf } from "../media/printed.ts";
import type {
  ModelContent,
  ModelMessage,
  ModelRequest,
  ModelToolDefinition,
  ReasoningEffort,
  ResponseFormat,
} from "../model.ts";
import { isReasoningModel } from "../openai-compatible/parameters.ts";
import { asRecord } from "../wire/frame.ts";
import type { Origin } from "../wire/origin.ts";
import { adaptTool } from "../wire/tool.ts";
import { printSettings } from "./settings.ts";
import { printCall, readState } from "./state.ts";

/** Returns the body for a streamed response. It may hold `RawJson`. */
export function responsesBody(origin: Origin, request: ModelRequest): object {
  const { model } = origin;
  const {
    system,
    messages,
    tools,
    providerTools = [],
    maxTokens,
    temperature,
    settings = {},
    providerOptions,
  } = request;
  const allTools = [...tools.map(functionTool), ...providerTools.map((tool) => new RawJson(tool))];
  const reasons = isReasoningModel(model);
  const instructions = system === "" ? [] : [{ role: reasons ? "developer" : "system", content: system }];
  return {
    ...providerOptions,
    model,
    input: [...instructions, ...messages.flatMap((message) => inputItems(message, origin))],
    max_output_tokens: maxTokens,
    ...(temperature !== undefined && !reasons && { temperature }),
    ...(allTools.length > 0 && { tools: allTools }),
    ...printSettings(settings, { hasTools: allTools.length > 0, reasons }),
    ...textField(request),
    ...includeField(request, reasons),
    ...(reasons && reasoningField(model, request)),
    store: false,
    stream: true,
  };
}

function textField({ responseFormat, settings, providerOptions }: ModelRequest): object {
  const text = {
    ...(responseFormat !== undefined && { format: textFormat(responseFormat) }),
    ...(settings?.verbosity !== undefined && { verbosity: settings.verbosity }),
  };
  return Object.keys(text).length === 0 ? {} : { text: { ...asRecord(providerOptions?.text), ...text } };
}

function textFormat(format: ResponseFormat): object {
  if (format.type === "json-object") {
    return { type: "json_object" };
  }
  const { name, description, strict, schema } = format;
  return { type: "json_schema", name, description, strict, schema };
}

/** Asks for log probabilities, and for the encrypted thoughts of a model that reasons, beside what the caller asks for. */
function includeField({ settings, providerOptions }: ModelRequest, reasons: boolean): object {
  const own = [
    ...(settings?.topLogprobs === undefined ? [] : ["message.output_text.logprobs"]),
    ...(reasons ? ["reasoning.encrypted_content"] : []),
  ];
  const include = providerOptions?.include;
  const included: readonly unknown[] = Array.isArray(include) ? include : [];
  return own.length === 0 ? {} : { include: [...new Set([...included, ...own])] };
}

/** Asks for a summary of the thoughts beside an effort. */
function reasoningField(model: string, { reasoningEffort, providerOptions }: ModelRequest): object {
  const own = { effort: effortOf(model, reasoningEffort), summary: "detailed" };
  const reasoning = { ...own, ...asRecord(providerOptions?.reasoning), effort: own.effort };
  return reasoningEffort === undefined ? {} : { reasoning };
}

/** Families that have no minimal effort. */
const withoutMinimal = /^gpt-(?:5\.|6)/;

function effortOf(model: string, effort: ReasoningEffort | undefined): ReasoningEffort | undefined {
  return effort === "minimal" && withoutMinimal.test(model) ? "low" : effort;
}

function functionTool(tool: ModelToolDefinition): object {
  const { name, description, parameters } = adaptTool(tool);
  return { type: "function", name, description, parameters, strict: false };
}

function inputItems(message: ModelMessage, origin: Origin): readonly unknown[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.parts?.map(inputPart) ?? [{ type: "input_text", text: message.text }] }];
    case "assistant":
      return readState(origin, message) ?? plainItems(message);
    case "tool": {
      // The format has no failed results; the text itself says that the call failed.
      const output = message.parts?.map(inputPart) ?? message.text;
      return [{ type: "function_call_output", call_id: message.toolCallId, output }];
    }
    default:
      return message satisfies never;
  }
}

/** OpenAI refuses a message without text. */
function plainItems({ text, toolCalls }: Extract<ModelMessage, { role: "assistant" }>): readonly unknown[] {
  const said = text === "" ? [] : [{ role: "assistant", content: text }];
  return [...said, ...toolCalls.map((call) => printCall(call))];
}

function inputPart(part: ModelContent, index: number): object {
  switch (part.type) {
    case "text":
    case "placeholder":
      return { type: "input_text", text: part.text };
    case "audio":
      return { type: "input_audio", input_audio: audioOf(part) };
    case "image":
      // The format requires the detail, although `auto` is what its absence means.
      return { type: "input_image", image_url: urlOf(part), detail: "auto" };
    case "file":
      return part.data instanceof URL
        ? { type: "input_file", file_url: part.data.href }
        : { type: "input_file", filename: part.name ?? `part-${index}.pdf`, file_data: urlOf(part) };
    default:
      return part satisfies never;
  }
}
