// What a stream says, in plain values: the judge reads it from the recorded frames, and the parts of the product are turned into it.

import type { FinishReason } from "../../src/agent/models/model.ts";
import { at, readExact, textAt } from "./exact-json.ts";

/** A whole answer, or the part of one before a failure. */
export interface Answer {
  readonly text: string;
  /** The blocks of reasoning; the judge accepts line ends between them. */
  readonly reasoning: readonly string[];
  readonly calls: readonly AnswerCall[];
  /** Tools that the provider has run: the name, and `failed` after it for a call without a result. */
  readonly providerCalls: readonly string[];
  /** Calls of tools of the provider's kinds that it leaves to its caller. They may count as calls without a result. */
  readonly leftCalls?: readonly string[];
  readonly finish: FinishReason | "failure" | "nothing";
  /** The words of an error. */
  readonly failure?: string | undefined;
  /** Tokens as the provider counts them. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** A call of a function. */
export interface AnswerCall {
  /** Empty when the provider gave none. */
  readonly id: string;
  readonly name: string;
  /** Undefined for a call in a response that its token limit has cut: it must not run. */
  readonly arguments: string | undefined;
}

/** What a reader of the judge has found in the frames. */
export interface Found extends Omit<Answer, "finish"> {
  /** Undefined when no frame says how the response ended. */
  readonly finish: FinishReason | undefined;
  /** True when the model has refused in words of its own. */
  readonly isRefused?: boolean;
}

/** Names a call of a tool that the provider has run. */
export function nameCall(name: string, hasResult: boolean): string {
  return hasResult ? name : `${name} failed`;
}

/** Applies what every API shares: calls count only in a complete response, and a response with calls ends with them. */
export function toAnswer({ finish, isRefused = false, ...found }: Found): Answer {
  if (found.failure !== undefined || finish === undefined) {
    return { ...found, calls: [], failure: found.failure ?? "cut off", finish: "failure" };
  }
  if (finish === "content-filter" || isRefused) {
    return { ...found, calls: [], finish: "content-filter" };
  }
  if (finish === "length") {
    return { ...found, calls: found.calls.map((call) => ({ ...call, arguments: undefined })), finish };
  }
  const asks = found.calls.length > 0 && (finish === "stop" || finish === "other");
  return { ...found, finish: asks ? "tool-calls" : finish };
}

/** Returns the words of a recorded error of any shape: of an event's data, or of a value in it. */
export function wordsOf(error: unknown): string {
  const value = typeof error === "string" ? parse(error) : error;
  const inner = at(value, "error") ?? value;
  return typeof inner === "string" ? inner : textAt(inner, "message") || JSON.stringify(inner);
}

function parse(data: string): unknown {
  try {
    return readExact(data);
  } catch {
    return data;
  }
}

/** Returns the arguments of a call, which may be a text or a value of JSON; `{}` for none. */
export function argumentsOf(given: unknown): string {
  const text = typeof given === "string" ? given : JSON.stringify(given ?? null);
  return ["", "null"].includes(text.trim()) ? "{}" : text;
}
