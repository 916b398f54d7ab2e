// Adapts a call to generateContent: no empty parts, the results of one turn together, arguments always an object. Pure.

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isThinkingModel } from "./thinking.ts";

type Prompt = readonly LanguageModelV4Message[];
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/** Returns the call as generateContent accepts it. Models that think are asked for their thoughts. */
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

// An empty text may carry a signature and is then kept.
function isSaid(part: AssistantPart): boolean {
  return (part.type !== "text" && part.type !== "reasoning") || part.text !== "" || part.providerOptions !== undefined;
}

// Arguments must be an object in this format. A model that wrote anything else reads its own text under `arguments`.
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

// All results of a turn must be in one content that holds nothing else; the text of a user starts another content. A content
// with calls must follow one of the other role, so consecutive messages of the model are joined as well.
function joinNeighbours(prompt: Prompt): LanguageModelV4Message[] {
  const groups: LanguageModelV4Message[][] = [];
  for (const message of prompt) {
    const group = groups.at(-1);
    if (group === undefined || group[0]?.role !== message.role || message.role === "system") {
      groups.push([message]);
    } else {
      group.push(message);
    }
  }
  return groups.flatMap(joinGroup);
}

/** Joins messages of one role. */
function joinGroup(group: readonly LanguageModelV4Message[]): readonly LanguageModelV4Message[] {
  const [first] = group;
  return first === undefined || group.length === 1
    ? group
    : [
        {
          ...first,
          content: group.flatMap(({ content }): readonly unknown[] => [...content]),
        } as LanguageModelV4Message,
      ];
}
