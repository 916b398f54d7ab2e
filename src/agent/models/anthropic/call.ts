// Adapts a request to the Messages format: drops empty blocks and sets cache marks. Pure.

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ResponseFormat } from "../model.ts";

type Prompt = readonly LanguageModelV4Message[];

/** Returns the call without empty blocks, with cache marks and the options of the Messages format. */
export function adaptCall(
  { responseFormat, ...call }: LanguageModelV4CallOptions,
  _modelName: string,
  format: ResponseFormat | undefined,
): LanguageModelV4CallOptions {
  return {
    ...call,
    ...(isEnforceable(format) && { responseFormat }),
    prompt: markForCache(call.prompt.flatMap(dropEmpty)),
    providerOptions: {
      anthropic: {
        // With tool streaming, arguments arrive sooner but unchecked. It uses a field of each tool that only Anthropic's
        // service knows.
        toolStreaming: false,
        // In the other modes the SDK's own table of models decides, and turns the schema into a tool.
        structuredOutputMode: "outputFormat",
      },
    },
  };
}

// The service enforces every schema and closes all of its objects, so a schema with open objects could not be answered.
function isEnforceable(format: ResponseFormat | undefined): boolean {
  return format?.type === "json-schema" && format.strict;
}

// The service refuses blank text blocks, and messages that end in a thinking block.
function dropEmpty(message: LanguageModelV4Message): LanguageModelV4Message[] {
  switch (message.role) {
    case "system":
      return isBlank(message.content) ? [] : [message];
    case "user": {
      const content = message.content.filter((part) => part.type !== "text" || !isBlank(part.text));
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    case "assistant": {
      const said = message.content.filter((part) => part.type !== "text" || !isBlank(part.text));
      const content = said.slice(0, said.findLastIndex((part) => part.type !== "reasoning") + 1);
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    case "tool":
      return [message];
    default:
      return message satisfies never;
  }
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

// A mark lets the service read everything before it from the cache when an earlier request had the same prefix. Tools come
// before the system prompt, so its mark covers them. A mark finds earlier marks only within some 20 blocks, which one turn of
// parallel calls exceeds. So the end of the previous request is marked again.
function markForCache(prompt: Prompt): LanguageModelV4Message[] {
  const lastAnswer = prompt.findLastIndex(({ role }) => role === "assistant");
  const marked = new Set([prompt.findIndex(({ role }) => role === "system"), lastAnswer - 1, prompt.length - 1]);
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: cacheMark } : message));
}

const cacheMark = { anthropic: { cacheControl: { type: "ephemeral" } } };
