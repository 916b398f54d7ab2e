// Shows a changed file as lines that went and lines that came, with the lines around them.

import { shorten } from "./shorten.ts";

/** A changed file. */
export interface FileChange {
  readonly path: string;
  /** Undefined for a new file. */
  readonly oldText: string | undefined;
  readonly newText: string;
}

/** The lines around a change that are shown. */
const contextLines = 3;
/** The maximum number of lines of one change that are shown. */
const linesMax = 60;

/**
 * Prints a change, with two spaces before each line:
 *
 *     a.txt +1 -1
 *       first
 *     - old
 *     + new
 */
export function printDiff({ path, oldText, newText }: FileChange): string {
  const before = linesOf(oldText ?? "");
  const after = linesOf(newText);
  const start = countWhile(Math.min(before.length, after.length), (index) => before[index] === after[index]);
  const left = Math.min(before.length, after.length) - start;
  const end = countWhile(left, (index) => before.at(-1 - index) === after.at(-1 - index));
  const gone = before.slice(start, before.length - end);
  const come = after.slice(start, after.length - end);
  const lines = [
    ...before.slice(Math.max(0, start - contextLines), start).map((line) => `  ${line}`),
    ...gone.map((line) => `- ${line}`),
    ...come.map((line) => `+ ${line}`),
    ...before.slice(before.length - end, before.length - end + contextLines).map((line) => `  ${line}`),
  ];
  const more = lines.length > linesMax ? [`… ${lines.length - linesMax} more lines`] : [];
  const title = `${shorten(path)}${oldText === undefined ? " (new)" : ""} +${come.length} -${gone.length}`;
  return [title, ...lines.slice(0, linesMax), ...more].map((line) => `  ${line}\n`).join("");
}

/** Returns the lines of a text; a final line end begins no line. */
function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function countWhile(limit: number, holds: (index: number) => boolean): number {
  let count = 0;
  while (count < limit && holds(count)) {
    count += 1;
  }
  return count;
}
