// Rows for people: columns aligned, without lines, so that a terminal, a mail and `awk` all read them.

import type { Paint } from "./output.ts";
import { shorten } from "./show.ts";

const gap = "  ";

/** A cell holds one line: what a service says is shown without what could act on a terminal. */
export function showTable(head: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const cells = rows.map((row) => row.map(shorten));
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const align = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(gap)
      .trimEnd();
  return [paint("bold", align(head)), ...cells.map(align)].join("\n");
}

/** A time as people compare it, to the second; a dash for none. */
export function showTime(date: Date | undefined): string {
  return date === undefined ? "–" : date.toISOString().replace(/\.\d+Z$/, "Z");
}
