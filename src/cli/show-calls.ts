// Prints the calls of a run and their results. A result stands below its own call: where something else was printed since, such as a
// call beside it, the line of its call is printed again.

import type { ToolCallCompleted, ToolCallStarted } from "#gen/runnel/v1/result_pb.js";
import { isObject, parseObject } from "../platform/base/json/parse-object.ts";
import { type FileChange, printDiff } from "./diff.ts";
import { shorten } from "./shorten.ts";

/** The lines of a result that are shown. */
const resultLinesMax = 4;

/** Prints the calls of one run. */
export interface CallView {
  start(call: ToolCallStarted): string;
  complete(call: ToolCallCompleted): string;
  /** Something else was printed. */
  interrupt(): void;
}

/** Creates the view. */
export function createCallView(): CallView {
  /** The lines of calls that have no result yet. */
  const lines = new Map<string, string>();
  let lastId: string | undefined;
  return {
    start: ({ toolCallId, toolName, parameters, runByProvider }) => {
      const line = `\n→ ${toolName}${runByProvider ? " (run by the provider)" : ""} ${shorten(parameters)}\n`;
      lines.set(toolCallId, line);
      lastId = toolCallId;
      return line;
    },
    complete: ({ toolCallId, toolName, result = "", error }) => {
      // A reader that joins later has not seen the call.
      const line = lines.get(toolCallId) ?? `\n→ ${toolName}\n`;
      const again = lastId === toolCallId ? "" : line;
      lines.delete(toolCallId);
      lastId = undefined;
      return `${again}${error === undefined ? showResult(result) : `← failed: ${shorten(error)}\n`}`;
    },
    interrupt: () => {
      lastId = undefined;
    },
  };
}

/** Prints the beginning of a result. Changed files, as coding agents report them, follow as diffs. */
function showResult(json: string): string {
  const result = parseObject(json);
  const changes = Array.isArray(result?.diffs) ? result.diffs.flatMap(changeOf) : [];
  const { title, content } = result ?? {};
  if (changes.length > 0) {
    return `← ${shorten(typeof title === "string" ? title : "")}\n${changes.map(printDiff).join("")}`;
  }
  return fold(typeof content === "string" && content !== "" ? content : json);
}

/**
 * Prints the first lines of a text, and how many follow:
 *
 *     ← first
 *       second
 *       … 12 more lines
 */
function fold(text: string): string {
  const lines = text.trimEnd().split("\n");
  // A line for "1 more line" can show that line instead.
  const shown = lines.slice(0, lines.length === resultLinesMax + 1 ? lines.length : resultLinesMax);
  const more = lines.length - shown.length;
  const folded = [...shown.map(shorten), ...(more === 0 ? [] : [`… ${more} more lines`])];
  return folded.map((line, index) => `${index === 0 ? "←" : " "} ${line}\n`).join("");
}

function changeOf(value: unknown): readonly FileChange[] {
  const { path, old_text: oldText, new_text: newText } = isObject(value) ? value : {};
  return typeof path === "string" && typeof newText === "string"
    ? [{ path, oldText: typeof oldText === "string" ? oldText : undefined, newText }]
    : [];
}
