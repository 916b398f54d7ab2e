// A request as the Messages format accepts it: nothing empty, and marked for the cache. Pure.

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ResponseFormat } from "../model.ts";

type Prompt = readonly LanguageModelV4Message[];

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
        // Otherwise arguments come sooner but unchecked, by a field of each tool that only the service itself knows.
        toolStreaming: false,
        // Otherwise the SDK's own table of models decides, and makes a tool of the schema.
        structuredOutputMode: "outputFormat",
      },
    },
  };
}

// The service enforces every schema and closes all of its objects, so that one with open objects could not be answered.
function isEnforceable(format: ResponseFormat | undefined): boolean {
  return format?.type === "json-schema" && format.strict;
}

// The service refuses blocks of text that are blank, and messages that end in a thought.
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

// Everything up to a mark is read from the cache when an earlier request had the same. Tools stand before the system
// prompt and are covered by its mark. A mark finds earlier ones only within some 20 blocks, which one turn of parallel
// calls exceeds: so the end of the request before this one is marked again.
function markForCache(prompt: Prompt): LanguageModelV4Message[] {
  const lastAnswer = prompt.findLastIndex(({ role }) => role === "assistant");
  const marked = new Set([prompt.findIndex(({ role }) => role === "system"), lastAnswer - 1, prompt.length - 1]);
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: cacheMark } : message));
}

const cacheMark = { anthropic: { cacheControl: { type: "ephemeral" } } };
