// A call as the Responses format wants it. Pure.

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ResponseFormat } from "../model.ts";
import { isReasoningModel } from "../openai-compatible/parameters.ts";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: "tool" }>;
type Format = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;
type Tool = NonNullable<LanguageModelV4CallOptions["tools"]>[number];

export function adaptCall(
  call: LanguageModelV4CallOptions,
  modelName: string,
  format: ResponseFormat | undefined,
): LanguageModelV4CallOptions {
  return {
    ...call,
    prompt: call.prompt.map(adaptMessage),
    tools: (call.tools ?? []).map(keepToolSchema),
    ...(call.responseFormat && { responseFormat: keepFormatSchema(call.responseFormat) }),
    // With these two the SDK asks for encrypted thoughts and leaves the temperature out. Its own table of models would
    // otherwise decide.
    providerOptions: { openai: { store: false, forceReasoning: isReasoningModel(modelName), ...strictnessOf(format) } },
  };
}

function adaptMessage(message: LanguageModelV4Message): LanguageModelV4Message {
  switch (message.role) {
    case "assistant":
      return { ...message, content: adaptAnswer(message.content) };
    case "tool":
      return { ...message, content: message.content.map(adaptResult) };
    default:
      return message;
  }
}

// A message without text is refused, and so is a thought that nothing follows, as a response has it that reached its limit
// of tokens while the model was still thinking.
function adaptAnswer(content: AssistantMessage["content"]): AssistantMessage["content"] {
  const said = content.filter((part) => part.type !== "text" || part.text !== "");
  return said.slice(0, said.findLastIndex((part) => part.type !== "reasoning") + 1);
}

// The format knows no failed result; what failed says so in its text, which the SDK would wrap in JSON of its own.
function adaptResult(part: ToolMessage["content"][number]): ToolMessage["content"][number] {
  if (part.type !== "tool-result" || part.output.type !== "error-text") {
    return part;
  }
  return { ...part, output: { type: "text", value: part.output.value } };
}

// The SDK takes out of schemas what OpenAI refuses in strict ones alone, and throws for some. Those of functions are not strict,
// and a caller's strict one is right or refused. So schemas are written out by JSON itself, after the SDK looked.
function keepToolSchema(tool: Tool): Tool {
  return tool.type === "function" ? { ...tool, inputSchema: keepSchema(tool.inputSchema) } : tool;
}

function keepFormatSchema(format: Format): Format {
  return format.type === "json" && format.schema ? { ...format, schema: keepSchema(format.schema) } : format;
}

function keepSchema(schema: object): object {
  return { toJSON: () => schema };
}

function strictnessOf(format: ResponseFormat | undefined): { strictJsonSchema?: boolean } {
  return format?.type === "json-schema" ? { strictJsonSchema: format.strict } : {};
}
