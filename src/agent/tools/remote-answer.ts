// What a caller's host may answer to the call of one of its tools, in the words of the Agent Runner document. Pure.

import type { EgressAnswer } from "../../platform/egress/post.ts";
import { capContent } from "./cap.ts";
import type { ToolOutcome } from "./tool.ts";

/** Longer answers are not read, and count as none. */
export const answerBytesMax = 204_800;

/** The call may go better the next time. */
export interface Again {
  readonly again: string;
}

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
