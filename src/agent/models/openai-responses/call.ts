// Adapts a call to the Responses format. Pure.

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ResponseFormat } from "../model.ts";
import { isReasoningModel } from "../openai-compatible/parameters.ts";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: "tool" }>;
type Format = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;
type Tool = NonNullable<LanguageModelV4CallOptions["tools"]>[number];

/** Returns the call as the Responses format accepts it. */
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
    // With these two options the SDK asks for encrypted thoughts and omits the temperature. Otherwise its own table of models
    // decides.
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

// OpenAI refuses a message without text, and a thought with nothing after it. A response that reached its token limit while the
// model was thinking ends with such a thought.
function adaptAnswer(content: AssistantMessage["content"]): AssistantMessage["content"] {
  const said = content.filter((part) => part.type !== "text" || part.text !== "");
  return said.slice(0, said.findLastIndex((part) => part.type !== "reasoning") + 1);
}

// The format has no failed results; the text itself says that the call failed. The SDK would wrap that text in its own JSON.
function adaptResult(part: ToolMessage["content"][number]): ToolMessage["content"][number] {
  if (part.type !== "tool-result" || part.output.type !== "error-text") {
    return part;
  }
  return { ...part, output: { type: "text", value: part.output.value } };
}

// The SDK removes from all schemas what OpenAI refuses only in strict ones, and throws for some. Our function schemas are not
// strict, and a client's strict schema is valid or gets refused. So `toJSON` writes the schema unchanged after the SDK's check.
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
