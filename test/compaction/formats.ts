// A model that works on a long task over the format of each provider, which is as strict about the order of a conversation as the
// provider's service: what it would refuse is a problem. Each response has thoughts or signatures that have to come back.

import type { Config } from "../../src/platform/config/keys.ts";
import { answer as answerMessage, onMessages } from "../fakes/anthropic-provider.ts";
import { onGemini } from "../fakes/gemini-provider.ts";
import { answer, onChat } from "../fakes/provider.ts";
import { onResponses } from "../fakes/responses-provider.ts";
import type { RecordedBody, Script } from "../fakes/wire-server.ts";

/** A call of a model. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}

/** The format of a provider. */
export interface Format {
  readonly name: string;
  readonly settings: (origin: string) => Partial<Config>;
  readonly say: (text: string) => Script;
  /** A response that thinks and calls. `turn` tells responses apart. */
  readonly call: (turn: number, calls: readonly Call[]) => Script;
  /** The system prompt of a request. */
  readonly systemOf: (body: RecordedBody) => string;
  /** Everything after the system prompt. */
  readonly conversationOf: (body: RecordedBody) => readonly Part[];
  /** Why the provider would refuse the request; nothing for a valid one. */
  readonly problemsOf: (body: RecordedBody) => readonly string[];
}

/** A part of a request in any format. */
// biome-ignore lint/suspicious/noExplicitAny: the formats differ in every member.
type Part = Record<string, any>;

const partsOf = (body: RecordedBody, field: string): readonly Part[] => (body[field] ?? []) as Part[];

/** Each call has its result in the next message, and each result its call in the one before. */
function problemsOfPairs(
  steps: readonly { readonly calls: readonly string[]; readonly results: readonly string[] }[],
): string[] {
  return steps.flatMap(({ results }, index) => {
    const asked = index === 0 ? [] : (steps[index - 1]?.calls ?? []);
    const same = asked.length === results.length && asked.every((id) => results.includes(id));
    return same ? [] : [`message ${index} has the results of ${results.join()}, and the calls are ${asked.join()}`];
  });
}

const chat: Format = {
  name: "Chat Completions",
  settings: (origin) => ({ compatibleBaseUrl: `${origin}/v1`, defaultModel: "compatible:long" }),
  say: (text) => onChat(answer(text)),
  call: (_, calls) =>
    onChat((wire) => {
      for (const [index, { id, name, args }] of calls.entries()) {
        wire.toolCalls({ index, id, name, arguments: JSON.stringify(args) });
      }
      wire.done("tool_calls");
    }),
  systemOf: ({ messages }) => String(messages[0]?.role === "system" ? messages[0].content : ""),
  conversationOf: ({ messages }) => messages.slice(messages[0]?.role === "system" ? 1 : 0),
  problemsOf: (body) => {
    const said = chat.conversationOf(body);
    // The results of a response are one step.
    const steps: { calls: string[]; results: string[] }[] = [];
    for (const { role, tool_calls: calls = [], tool_call_id: id } of said) {
      const last = steps.at(-1);
      if (role === "tool" && last !== undefined && last.results.length > 0 && last.calls.length === 0) {
        last.results.push(id);
      } else {
        steps.push({ calls: calls.map((each: Part) => each.id), results: role === "tool" ? [id] : [] });
      }
    }
    return [...(said[0]?.role === "user" ? [] : ["it does not begin with a user"]), ...problemsOfPairs(steps)];
  },
};

const anthropic: Format = {
  name: "Anthropic Messages",
  settings: (origin) => ({
    anthropicKey: "a-key",
    anthropicBaseUrl: `${origin}/v1`,
    defaultModel: "anthropic:claude-sonnet-4-5",
  }),
  say: (text) => onMessages(answerMessage(text)),
  call: (turn, calls) =>
    onMessages((wire) => {
      wire.start();
      wire.thinking(signatureOf(turn), `turn ${turn}`);
      for (const { id, name, args } of calls) {
        wire.toolUse(id, name, JSON.stringify(args));
      }
      wire.done("tool_use");
    }),
  systemOf: ({ system }) => (Array.isArray(system) ? system.map(({ text }) => text).join("") : String(system ?? "")),
  conversationOf: ({ messages }) => messages,
  problemsOf: ({ messages }) => {
    const contents = messages.map(({ content }) =>
      typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Part[]),
    );
    const ofType = (index: number, type: string) => contents[index]?.filter((block) => block.type === type) ?? [];
    const steps = messages.map((_, index) => ({
      calls: ofType(index, "tool_use").map((block) => String((block as Part).id)),
      results: ofType(index, "tool_result").map((block) => String((block as Part).tool_use_id)),
    }));
    const problems = messages.flatMap(({ role }, index) => {
      const blocks: readonly Part[] = contents[index] ?? [];
      const firstOther = blocks.findIndex(({ type }) => type !== "tool_result");
      const lastResult = blocks.findLastIndex(({ type }) => type === "tool_result");
      const isCall = blocks.some(({ type }) => type === "tool_use");
      return [
        ...(role === (index % 2 === 0 ? "user" : "assistant") ? [] : [`message ${index} is of ${role}`]),
        ...(blocks.length === 0 ? [`message ${index} is empty`] : []),
        ...(blocks.some(({ type, text }) => type === "text" && text.trim() === "")
          ? [`${index} has an empty text`]
          : []),
        ...(firstOther !== -1 && firstOther < lastResult ? [`message ${index} has results behind its text`] : []),
        // A response that thought and called begins with its signed thoughts.
        ...(isCall && (blocks[0]?.type !== "thinking" || !/^c2ln/.test(blocks[0].signature))
          ? [`message ${index} has lost its thoughts`]
          : []),
      ];
    });
    return [
      ...problems,
      ...problemsOfPairs(steps),
      ...(messages.at(-1)?.role === "user" ? [] : ["it does not end with a user"]),
    ];
  },
};

const gemini: Format = {
  name: "Gemini generateContent",
  settings: (origin) => ({
    geminiKey: "a-key",
    geminiBaseUrl: `${origin}/v1beta`,
    defaultModel: "gemini:gemini-2.5-flash",
  }),
  say: (text) =>
    onGemini((wire) => {
      wire.text(text);
      wire.finish("STOP");
    }),
  call: (turn, calls) =>
    onGemini((wire) => {
      const parts = calls.map(({ name, args }, index) => ({
        functionCall: { name, args },
        // Of parallel calls the first one is signed.
        ...(index === 0 && { thoughtSignature: signatureOf(turn) }),
      }));
      wire.parts(parts, { finishReason: "STOP" });
    }),
  systemOf: ({ systemInstruction }) =>
    ((systemInstruction as Part | undefined)?.parts ?? []).map(({ text }: Part) => text).join(""),
  conversationOf: (body) => partsOf(body, "contents"),
  problemsOf: (body) => {
    const contents = partsOf(body, "contents");
    const named = (content: Part, member: string): string[] =>
      content.parts.flatMap((part: Part) => (part[member] === undefined ? [] : [part[member].name]));
    const steps = contents.map((content) => ({
      calls: named(content, "functionCall"),
      results: named(content, "functionResponse"),
    }));
    // "Function call turn comes immediately after a user turn or after a function response turn."
    const orders = contents.flatMap((content, index) => {
      const before = contents[index - 1]?.role;
      const isCall = named(content, "functionCall").length > 0;
      const [first] = content.parts.filter((part: Part) => part.functionCall !== undefined);
      return [
        ...(content.parts.length === 0 ? [`content ${index} is empty`] : []),
        ...(isCall && before !== "user" && before !== "function" ? [`content ${index} calls after ${before}`] : []),
        ...(isCall && !/^c2ln/.test(first.thoughtSignature ?? "") ? [`content ${index} has lost its signature`] : []),
        ...(content.role === before ? [`contents ${index - 1} and ${index} are both of ${content.role}`] : []),
      ];
    });
    return [
      ...(contents[0]?.role === "user" ? [] : ["it does not begin with a user"]),
      ...orders,
      ...problemsOfPairs(steps),
    ];
  },
};

const responses: Format = {
  name: "OpenAI Responses",
  settings: (origin) => ({
    openaiKey: "a-key",
    openaiBaseUrl: `${origin}/v1`,
    openaiApi: "responses",
    defaultModel: "openai:gpt-4o",
  }),
  say: (text) =>
    onResponses((wire) => {
      wire.text(text);
      wire.completed();
    }),
  call: (turn, calls) =>
    onResponses((wire) => {
      wire.reasoning({ id: `rs_${turn}`, summary: [`turn ${turn}`], encrypted: signatureOf(turn) });
      for (const { id, name, args } of calls) {
        wire.call({ id, name, arguments: JSON.stringify(args) });
      }
      wire.completed();
    }),
  systemOf: (body) => {
    const [first] = partsOf(body, "input");
    const isSystem = first?.role === "system" || first?.role === "developer";
    return String(body.instructions ?? (isSystem ? textOfContent(first?.content) : ""));
  },
  conversationOf: (body) => partsOf(body, "input").filter(({ role }) => role !== "system" && role !== "developer"),
  problemsOf: (body) => {
    const items = responses.conversationOf(body);
    const problems: string[] = [];
    const open = new Set<string>();
    for (const [index, { type = "message", call_id: id, encrypted_content: state }] of items.entries()) {
      const next = items[index + 1]?.type ?? "message";
      if (type === "function_call_output" ? !open.delete(id) : open.size > 0 && type !== "function_call") {
        problems.push(`item ${index}: no call or no output of ${id ?? [...open].join()}`);
      }
      if (type === "function_call") {
        open.add(id);
        const before = items.slice(0, index).findLast((item) => item.type !== "function_call");
        problems.push(
          ...(before?.type === "reasoning" ? [] : [`item ${index} is without its required reasoning item`]),
        );
      }
      if (type === "reasoning" && (!/^c2ln/.test(state ?? "") || next !== "function_call")) {
        problems.push(`item ${index} of type reasoning is without its required following item`);
      }
    }
    problems.push(...[...open].map((id) => `no tool output found for function call ${id}`));
    return [...(items[0]?.role === "user" ? [] : ["it does not begin with a user"]), ...problems];
  },
};

function textOfContent(content: unknown): string {
  return Array.isArray(content) ? content.map(({ text }) => text).join("") : String(content ?? "");
}

function signatureOf(turn: number): string {
  return Buffer.from(`sig ${turn}`).toString("base64");
}

export const formats: readonly Format[] = [chat, anthropic, gemini, responses];
