// Reads Chat Completions frames for the judge.

import type { FinishReason } from "../../../src/agent/models/model.ts";
import { type Answer, type AnswerCall, argumentsOf, toAnswer, wordsOf } from "../answer.ts";
import { at, countAt, hasAt, latestCount, listAt, textAt } from "../exact-json.ts";
import type { RecordedEvent } from "../recording.ts";

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
};

/** Returns what a stream says. Only its first choice counts. */
export function expectOfChat(events: readonly RecordedEvent[]): Answer {
  const failed = events.find(({ name, frame }) => name === "error" || isError(frame));
  const frames = events.slice(0, failed && events.indexOf(failed) + 1).map(({ frame }) => frame);
  const deltas = frames.map((frame) => at(frame, "choices", 0, "delta") ?? at(frame, "choices", 0, "message"));
  const word = frames.map((frame) => textAt(frame, "choices", 0, "finish_reason")).findLast((each) => each !== "");
  const text = deltas.map((delta) => contentOf(at(delta, "content"), "text")).join("");
  const calls = joinCalls(deltas.flatMap((delta) => listAt(delta, "tool_calls")));
  // Some servers mark the end and give no reason.
  const isMarked = events.some(({ data }) => data === "[DONE]") && (text !== "" || calls.length > 0);
  return toAnswer({
    text,
    reasoning: [deltas.map(reasoningOf).join("")],
    calls,
    providerCalls: providerCallsOf(deltas),
    finish: word === undefined && !isMarked ? undefined : (finishes[word ?? ""] ?? "other"),
    failure: failed && wordsOf(failed.data),
    isRefused: deltas.some((delta) => textAt(delta, "refusal") !== ""),
    inputTokens: countOf(frames, "prompt_tokens"),
    outputTokens: countOf(frames, "completion_tokens"),
  });
}

/** Groq counts in a member of its own unless the request asks for the usage. */
function countOf(frames: readonly unknown[], tokens: string): number | undefined {
  return latestCount(frames, "usage", tokens) ?? latestCount(frames, "x_groq", "usage", tokens);
}

function isError(frame: unknown): boolean {
  return hasAt(frame, "error") || at(frame, "object") === "error";
}

/** Returns the text or the thoughts of a content, which may be a list of parts. */
function contentOf(content: unknown, wanted: "text" | "thinking"): string {
  if (!Array.isArray(content)) {
    return typeof content === "string" && wanted === "text" ? content : "";
  }
  const parts = content.filter((part) => at(part, "type") === wanted);
  return parts.map((part) => textAt(part, wanted) || contentOf(at(part, wanted), "text")).join("");
}

/** Returns the thoughts of a delta. Gateways send details beside the text of thoughts, and some send details alone. */
function reasoningOf(delta: unknown): string {
  const details = listAt(delta, "reasoning_details").map(
    (detail) => textAt(detail, "text") || textAt(detail, "summary"),
  );
  const thought = textAt(delta, "reasoning_content") || textAt(delta, "reasoning") || details.join("");
  return thought + contentOf(at(delta, "content"), "thinking");
}

/** Joins the pieces of calls: by their id, otherwise by their index. */
function joinCalls(pieces: readonly unknown[]): readonly AnswerCall[] {
  const calls: { index: number; id: string; name: string; arguments: string }[] = [];
  for (const piece of pieces) {
    const [id, name] = [textAt(piece, "id"), textAt(piece, "function", "name")];
    const index = countAt(piece, "index");
    const known = calls.findLast((call) => (id !== "" && call.id === id) || call.index === index);
    const isOther = known === undefined || (id !== "" && known.id !== "" && known.id !== id && name !== "");
    const call = isOther ? { index: index ?? calls.length, id, name, arguments: "" } : known;
    if (isOther) {
      calls.push(call);
    }
    const given = at(piece, "function", "arguments") ?? "";
    call.arguments += typeof given === "string" ? given : JSON.stringify(given);
  }
  const ordered = calls.toSorted((one, other) => one.index - other.index);
  return ordered.map((call) => ({ ...call, arguments: argumentsOf(call.arguments) }));
}

/** Returns the tools that Groq's systems have run. A tool comes twice: when it begins, and with its output. */
function providerCallsOf(deltas: readonly unknown[]): readonly string[] {
  const tools = deltas.flatMap((delta) => listAt(delta, "executed_tools"));
  return [...new Map(tools.map((tool) => [countAt(tool, "index"), textAt(tool, "type")])).values()];
}
