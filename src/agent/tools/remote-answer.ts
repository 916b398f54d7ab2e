// Reads the answer of a client's host to the call of a tool, in the words of the Agent Runner document. Pure.

import type { EgressAnswer } from "../../platform/egress/post.ts";
import { capContent } from "./cap.ts";
import type { ToolOutcome } from "./tool.ts";

/** The maximum size of an answer. A longer answer is cut off and counts as invalid. */
export const answerBytesMax = 204_800;

/** A failure after which a retry may succeed. */
export interface Again {
  readonly again: string;
}

/** Returns the outcome of a call, or a reason to retry it. */
export function readAnswer({ status, text, isCut }: EgressAnswer): ToolOutcome | Again {
  if (status >= 500) {
    return { again: `callback returned ${status}: ${capContent(text)}` };
  }
  if (status >= 400) {
    return { error: `callback returned ${status}: ${capContent(text)}` };
  }
  if (status >= 300) {
    return { error: `callback returned ${status}: redirects are not followed` };
  }
  return isCut ? unreadable(`the answer is longer than ${answerBytesMax} bytes`) : readResult(text);
}

function readResult(text: string): ToolOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable(text.trim() === "" ? "the answer is empty" : "the answer is not JSON");
  }
  if (value === null) {
    return { error: "" };
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    return unreadable("the answer is not a JSON object");
  }
  const { success = false, content, error } = value as { success?: unknown; content?: unknown; error?: unknown };
  const said = [content ?? "", error ?? ""] as const;
  if (typeof (success ?? false) !== "boolean") {
    return unreadable("success is not true or false");
  }
  if (!isTexts(said)) {
    return unreadable(`${typeof said[0] === "string" ? "error" : "content"} is not a string`);
  }
  return success === true ? { content: said[0] } : { error: capContent(said[1]) };
}

function isTexts(values: readonly [unknown, unknown]): values is readonly [string, string] {
  return values.every((value) => typeof value === "string");
}

function unreadable(problem: string): ToolOutcome {
  return { error: `callback failed after retries: parse response: ${problem}` };
}
