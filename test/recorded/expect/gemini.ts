// Reads Gemini's frames for the judge.

import type { FinishReason } from "../../../src/agent/models/model.ts";
import { type Answer, type AnswerCall, argumentsOf, nameCall, toAnswer, wordsOf } from "../answer.ts";
import { at, countAt, hasAt, listAt, textAt } from "../exact-json.ts";
import type { RecordedEvent } from "../recording.ts";

const finishes: Readonly<Record<string, FinishReason>> = { STOP: "stop", MAX_TOKENS: "length" };
const filters = /SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED|SPII/;

/** Returns what a stream says. Only its first candidate counts. */
export function expectOfGemini(events: readonly RecordedEvent[]): Answer {
  const frames = events.map(({ frame }) => (Array.isArray(frame) ? frame[0] : frame));
  const parts = frames.flatMap((frame) => listAt(frame, "candidates", 0, "content", "parts"));
  const failed = events.find((_, index) => hasAt(frames[index], "error"));
  const word = frames.map((frame) => textAt(frame, "candidates", 0, "finishReason")).findLast((each) => each !== "");
  const isBlocked = frames.some((frame) => hasAt(frame, "promptFeedback", "blockReason"));
  const finish = isBlocked || filters.test(word ?? "") ? "content-filter" : finishes[word ?? ""];
  // Each frame counts from the beginning.
  const usage = frames.map((frame) => at(frame, "usageMetadata")).findLast((each) => hasAt(each, "totalTokenCount"));
  return toAnswer({
    text: textOf(parts.filter((part) => at(part, "thought") !== true)),
    reasoning: [textOf(parts.filter((part) => at(part, "thought") === true))],
    calls: joinCalls(parts.filter((part) => hasAt(part, "functionCall")).map((part) => at(part, "functionCall"))),
    providerCalls: providerCallsOf(parts, frames),
    finish,
    failure: failed === undefined ? (finish === undefined ? word : undefined) : wordsOf(failed.data),
    inputTokens: sum(countAt(usage, "promptTokenCount"), countAt(usage, "toolUsePromptTokenCount")),
    outputTokens: sum(countAt(usage, "candidatesTokenCount"), countAt(usage, "thoughtsTokenCount")),
  });
}

function textOf(parts: readonly unknown[]): string {
  return parts.map((part) => textAt(part, "text")).join("");
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

/** Returns the tools that the provider has run. Results come in the order of calls. Some answers have only the sources of a tool. */
function providerCallsOf(parts: readonly unknown[], frames: readonly unknown[]): readonly string[] {
  const membersOf = (kind: string): readonly unknown[] => parts.flatMap((part) => at(part, kind) ?? []);
  const codes = membersOf("executableCode").map((_, index) => {
    return nameCall("code_execution", at(membersOf("codeExecutionResult")[index], "outcome") === "OUTCOME_OK");
  });
  const tools = membersOf("toolCall").map((call, index) => {
    return nameCall(textAt(call, "toolType").toLowerCase(), membersOf("toolResponse")[index] !== undefined);
  });
  const has = (...path: readonly string[]): boolean =>
    frames.some((frame) => listAt(frame, "candidates", 0, ...path).length > 0);
  const searches = has("groundingMetadata", "webSearchQueries") && !tools.some((name) => name.includes("search_web"));
  const reads = has("urlContextMetadata", "urlMetadata") && !tools.some((name) => name.includes("url_context"));
  return [...codes, ...tools, ...(searches ? ["google_search"] : []), ...(reads ? ["url_context"] : [])];
}

/** Joins calls whose arguments arrive by paths: a part without a name continues the call before it. */
function joinCalls(parts: readonly unknown[]): readonly AnswerCall[] {
  const calls: { readonly id: string; readonly name: string; readonly args: { value: unknown } }[] = [];
  for (const part of parts) {
    const name = textAt(part, "name");
    if (name !== "") {
      calls.push({ id: textAt(part, "id"), name, args: { value: at(part, "args") } });
    }
    for (const piece of listAt(part, "partialArgs")) {
      const steps = textAt(piece, "jsonPath").match(/[^$.[\]'"]+/g) ?? [];
      place(calls.at(-1)?.args ?? {}, ["value", ...steps], piece);
    }
  }
  return calls.map(({ id, name, args }) => ({ id, name, arguments: argumentsOf(args.value) }));
}

/** Puts a value at its place; a piece of a text after the pieces before it. */
function place(holder: unknown, [step = "", ...rest]: readonly string[], piece: unknown): void {
  const members = holder as Record<string, unknown>;
  const text = at(piece, "stringValue");
  if (rest.length > 0) {
    members[step] ??= /^\d+$/.test(rest[0] ?? "") ? [] : {};
    place(members[step], rest, piece);
  } else {
    const other = at(piece, "numberValue") ?? at(piece, "boolValue") ?? null;
    members[step] = typeof text === "string" ? textAt(members, step) + text : other;
  }
}
