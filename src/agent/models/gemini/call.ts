// A call as generateContent accepts it: nothing empty, the results of one turn side by side, arguments that are objects. Pure.

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isThinkingModel } from "./thinking.ts";

type Prompt = readonly LanguageModelV4Message[];
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

export function adaptCall(call: LanguageModelV4CallOptions, modelName: string): LanguageModelV4CallOptions {
  const prompt = joinNeighbours(call.prompt.flatMap(adaptMessage));
  return isThinkingModel(modelName) ? { ...call, prompt, providerOptions: withThoughts } : { ...call, prompt };
}

const withThoughts = { google: { thinkingConfig: { includeThoughts: true } } };

// The service refuses contents without parts and parts without text.
function adaptMessage(message: LanguageModelV4Message): LanguageModelV4Message[] {
  switch (message.role) {
    case "user": {
      const content = message.content.filter((part) => part.type !== "text" || part.text !== "");
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    case "assistant": {
      const content = message.content.filter(isSaid).map(adaptArguments);
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    case "system":
    case "tool":
      return [message];
    default:
      return message satisfies never;
  }
}

// A signature may stand alone.
function isSaid(part: AssistantPart): boolean {
  return (part.type !== "text" && part.type !== "reasoning") || part.text !== "" || part.providerOptions !== undefined;
}

// Arguments are an object on this wire. What a model wrote that is none is shown to it as it wrote it.
function adaptArguments(part: AssistantPart): AssistantPart {
  return part.type === "tool-call" ? { ...part, input: asObject(String(part.input)) } : part;
}

function asObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { arguments: value };
  } catch {
    return { arguments: json };
  }
}

// All results of a turn have to stand in one content, which may hold nothing else: a user's text starts another one. A
// content of calls has to follow one of the other side, so that what a model said in two messages is one as well.
function joinNeighbours(prompt: Prompt): LanguageModelV4Message[] {
  const joined: LanguageModelV4Message[] = [];
  for (const message of prompt) {
    const last = joined.at(-1);
    if (last === undefined || last.role !== message.role || message.role === "system") {
      joined.push(message);
    } else {
      joined.splice(-1, 1, { ...last, content: [...last.content, ...message.content] } as LanguageModelV4Message);
    }
  }
  return joined;
}
