// A changed file as lines: those that went, those that came, and some around them.

import { structuredPatch } from "diff";
import type { FileChange } from "./changes-of.ts";

export interface ChangedLine {
  /** `…` takes the place of lines that are left out. */
  readonly sign: "+" | "-" | " " | "…";
  readonly text: string;
}

/** The lines of a change, with the lines around them. */
export interface LineChange {
  readonly lines: readonly ChangedLine[];
  readonly added: number;
  readonly removed: number;
}

const contextLines = 3;
/** The search for the shortest change takes the product of this and the number of lines. */
const editsMax = 1_000;
const searchMs = 200;
/** What the library writes for a text whose last line has no end. */
const noLineEnd = "No newline at end of file";

/** Returns the lines of a change. Two texts that differ in too much become all lines before and all lines after. */
export function linesOf({ before = "", after }: FileChange): LineChange {
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context: contextLines,
    maxEditLength: editsMax,
    timeout: searchMs,
  });
  // A part of a file has no line end, and says nothing by that.
  const endsDiffer = before.endsWith("\n") !== after.endsWith("\n");
  const lines =
    patch === undefined
      ? [...signed("-", before), ...signed("+", after)]
      : patch.hunks.flatMap((hunk, index) => [
          ...(index > 0 ? [{ sign: "…", text: "" } as const] : []),
          ...hunk.lines.map(readLine).filter(({ sign, text }) => sign !== "…" || text !== noLineEnd || endsDiffer),
        ]);
  const count = (sign: ChangedLine["sign"]): number => lines.filter((line) => line.sign === sign).length;
  return { lines, added: count("+"), removed: count("-") };
}

function readLine(line: string): ChangedLine {
  const [first = ""] = line;
  return first === "+" || first === "-" || first === " "
    ? { sign: first, text: line.slice(1) }
    : { sign: "…", text: noLineEnd };
}

function signed(sign: "+" | "-", text: string): ChangedLine[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => ({ sign, text: line }));
}
