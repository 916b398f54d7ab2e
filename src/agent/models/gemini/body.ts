// Builds the body of a generateContent request: no empty parts, the results of one turn together, arguments always an object.
// Arguments and signatures of the model are sent as it wrote them. Pure.

import { RawJson } from "../../../platform/base/json/exact.ts";
import type {
  ModelContent,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ModelToolDefinition,
  ReasoningEffort,
  ResponseFormat,
} from "../model.ts";
import { asRecord } from "../wire/frame.ts";
import type { Origin } from "../wire/origin.ts";
import { adaptTool } from "../wire/tool.ts";
import { argumentsObject } from "./arguments.ts";
import { isGemini3, takesSystemInstruction, thinkingAmount } from "./families.ts";
import { adaptSchema } from "./schema.ts";
import { callingOf, forcesCall, samplingOf } from "./settings.ts";
import { FileRoom, readState } from "./state.ts";
import { isThinkingModel } from "./thinking.ts";

/** A message on the wire. */
interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly object[];
}

/** Returns the body for a streamed response. The caller's options are below what the request itself sets. */
export function contentBody(origin: Origin, request: ModelRequest): object {
  const { model: modelName } = origin;
  const { system, tools, providerTools = [], settings, providerOptions = {} } = request;
  const declared = tools.length > 0 ? [{ functionDeclarations: tools.map(declare) }] : [];
  const allTools = [...declared, ...providerTools.map((tool) => new RawJson(tool))];
  const contents = contentsOf(origin, request);
  const choice = tools.length > 0 ? settings?.toolChoice : undefined;
  return {
    ...providerOptions,
    ...(system !== "" && takesSystemInstruction(modelName) && { systemInstruction: { parts: [{ text: system }] } }),
    contents: takesSystemInstruction(modelName) ? contents : withSystemText(system, contents),
    generationConfig: { ...asRecord(providerOptions.generationConfig), ...generationConfig(modelName, request) },
    ...(allTools.length > 0 && { tools: allTools }),
    ...(choice !== undefined && {
      toolConfig: { ...asRecord(providerOptions.toolConfig), functionCallingConfig: callingOf(choice) },
    }),
  };
}

function generationConfig(modelName: string, request: ModelRequest): object {
  const { maxTokens, temperature, tools, settings, reasoningEffort, responseFormat, providerOptions } = request;
  // The service refuses a form of the text beside a call that must be made.
  const isFormed = responseFormat !== undefined && !(tools.length > 0 && forcesCall(settings?.toolChoice));
  const config = {
    maxOutputTokens: maxTokens,
    temperature,
    ...samplingOf(settings),
    ...(isFormed && formatOf(responseFormat)),
    thinkingConfig: thinkingConfig(modelName, reasoningEffort, asRecord(providerOptions?.generationConfig)),
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}

/** Returns undefined when nothing is known about thoughts. Models that think are asked for their thoughts. */
function thinkingConfig(
  modelName: string,
  effort: ReasoningEffort | undefined,
  options: Readonly<Record<string, unknown>>,
): object | undefined {
  const config = {
    // The caller's amount and ours would be two amounts, which the service refuses.
    ...(effort === undefined ? asRecord(options.thinkingConfig) : thinkingAmount(modelName, effort)),
    ...(isThinkingModel(modelName) && { includeThoughts: true }),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

function formatOf(format: ResponseFormat): object {
  const responseMimeType = "application/json";
  return format.type === "json-object"
    ? { responseMimeType }
    : { responseMimeType, responseJsonSchema: adaptSchema(format.schema) };
}

function declare(tool: ModelToolDefinition): object {
  const { name, description, parameters } = adaptTool(tool);
  return { name, description, parametersJsonSchema: parameters };
}

/**
 * Returns the messages. Neighbours of one role are one content: a content with calls must follow one of the other role. All results
 * of a turn must be in one content that holds nothing else, so the text of a user begins another one. A content needs parts.
 */
function contentsOf(origin: Origin, { messages }: ModelRequest): readonly Content[] {
  const contents: { role: Content["role"]; from: ModelMessage["role"]; parts: object[] }[] = [];
  const room = new FileRoom();
  // The newest files find room first.
  const said = messages.toReversed().map((message) => ({ message, parts: partsOf(origin, message, room) }));
  for (const { message, parts } of said.toReversed()) {
    const last = contents.at(-1);
    if (last?.from === message.role) {
      last.parts.push(...parts);
    } else if (parts.length > 0) {
      contents.push({ role: message.role === "assistant" ? "model" : "user", from: message.role, parts: [...parts] });
    }
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

function partsOf(origin: Origin, message: ModelMessage, room: FileRoom): readonly object[] {
  switch (message.role) {
    case "user":
      return message.parts?.flatMap(contentPart) ?? textPart(message.text);
    case "assistant": {
      const parts = readState(origin, message, room) ?? [...textPart(message.text), ...message.toolCalls.map(callPart)];
      return isGemini3(origin.model) ? withSignatures(parts) : parts;
    }
    case "tool": {
      const { toolCallId: id, toolName: name, text, isError } = message;
      const response = isError === true ? { error: text } : { output: text };
      return [{ functionResponse: { id, name, response } }];
    }
    default:
      return message satisfies never;
  }
}

function contentPart(part: ModelContent): readonly object[] {
  if (!("data" in part)) {
    return textPart(part.text);
  }
  const { mediaType: mimeType = "application/octet-stream", data } = part;
  // The service loads the files behind URLs before a request comes here, so that no URL reaches the provider.
  return data instanceof URL ? [] : [{ inlineData: { mimeType, data: Buffer.from(data).toString("base64") } }];
}

/** Returns no part for an empty text, which the service refuses. */
function textPart(text: string): readonly object[] {
  return text === "" ? [] : [{ text }];
}

function callPart({ id, name, argumentsJson }: ModelToolCall): object {
  return { functionCall: { id, name, args: argumentsObject(argumentsJson) } };
}

/** Google's own mark for a call whose signature is missing, such as a call of another provider's model. */
const missingSignature = "skip_thought_signature_validator";

/** Marks calls without a signature. Only the first one of several calls in a response is signed, so later ones need no mark. */
function withSignatures(parts: readonly object[]): readonly object[] {
  let isSigned = false;
  return parts.map((part) => {
    const { functionCall, thoughtSignature } = asRecord(part);
    isSigned ||= functionCall !== undefined && thoughtSignature !== undefined;
    return functionCall === undefined || isSigned ? part : { ...part, thoughtSignature: missingSignature };
  });
}

/** Puts the system text before the first message of the user. */
function withSystemText(system: string, contents: readonly Content[]): readonly Content[] {
  const [first, ...rest] = contents;
  return system === "" || first?.role !== "user"
    ? contents
    : [{ role: "user", parts: [{ text: `${system}\n\n` }, ...first.parts] }, ...rest];
}
