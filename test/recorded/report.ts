// Prints what was played: a line for each difference and each stream that was left out, and a table.

import type { Difference } from "./compare.ts";
import type { Api, LeftOut } from "./recording.ts";

/** A stream that was played. */
export interface Played {
  readonly path: string;
  readonly provider: string;
  readonly api: Api;
  readonly differences: readonly Difference[];
}

/** Returns the lines of one stream; none for an exact one. */
export function printStream(stream: Played | LeftOut): readonly string[] {
  if ("why" in stream) {
    return [`- ${stream.provider}  ${stream.path}: not played: ${stream.why}`];
  }
  const { provider, path, differences } = stream;
  return differences.map(
    ({ kind, expected, got }) => `✗ ${provider}  ${path}: ${kind}: expected ${expected}, got ${got}`,
  );
}

/** Returns the table of the providers, the differences of each kind, and the total. */
export function printTable(streams: readonly (Played | LeftOut)[]): readonly string[] {
  const played = streams.filter((stream) => "differences" in stream);
  const groups = Object.values(Object.groupBy(played, ({ provider, api }) => `${provider}\n${api}`));
  const rows = groups.map((group = []) => {
    const [{ provider, api } = { provider: "", api: "" }] = group;
    return [provider, api, String(group.length), String(group.filter(isExact).length)];
  });
  const kinds = Object.entries(
    Object.groupBy(
      played.flatMap(({ differences }) => differences),
      ({ kind }) => kind,
    ),
  );
  return [
    ...alignColumns([["provider", "API", "streams", "exact"], ...rows]),
    ...kinds.map(([kind, all = []]) => `${all.length} × ${kind}`),
    `${played.filter(isExact).length} of ${played.length} exact`,
  ];
}

/** Returns 1 when a stream that was played has a difference, otherwise 0. */
export function exitCodeOf(streams: readonly (Played | LeftOut)[]): 0 | 1 {
  return streams.every((stream) => "why" in stream || isExact(stream)) ? 0 : 1;
}

function isExact({ differences }: Played): boolean {
  return differences.length === 0;
}

function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
