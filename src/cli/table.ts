// Tables for people: aligned columns without lines, readable in a terminal, in a mail and by `awk`.

import type { Paint } from "./output.ts";
import { shorten } from "./shorten.ts";

const gap = "  ";

/** Prints a table. Each cell becomes one line without control characters, so text of a service cannot act on a terminal. */
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

/** Prints a time to the second, such as `2031-12-31T12:00:00Z`; a dash when undefined. */
export function showTime(date: Date | undefined): string {
  return date === undefined ? "–" : date.toISOString().replace(/\.\d+Z$/, "Z");
}
