// The results of the rounds so far: a file of JSON lines, one for each cell that was played. An interrupted round continues
// from it.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { failpoints } from "../../../src/platform/base/failpoint.ts";
import type { Outcome } from "./cell.ts";
import { type Cell, nameOf, productOf } from "./scenarios.ts";

export interface Played extends Outcome {
  readonly round: number;
}

/** Each of several machines plays the cells of one shard: 1 of 4, 2 of 4, … */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export function readTally(path: string): Played[] {
  if (!existsSync(path)) {
    return [];
  }
  const lines = readFileSync(path, "utf8").split("\n");
  // The last line of an interrupted tally may be half a line.
  return lines.filter((line) => line.startsWith("{") && line.endsWith("}")).map((line): Played => JSON.parse(line));
}

export function addToTally(path: string, played: Played): void {
  appendFileSync(path, `\n${JSON.stringify(played)}`);
}

/** The cells of a round and a shard that the tally does not contain yet. */
export function dueCells(round: number, { index, count }: Shard, tally: readonly Played[]): Cell[] {
  const known = new Set(tally.filter((played) => played.round === round).map(({ cell }) => cell));
  const ours = productOf(failpoints, round).filter((_, place) => place % count === index - 1);
  return ours.filter((cell) => !known.has(nameOf(cell)));
}

/** A few lines for people. */
export function summarize(tally: readonly Played[]): string {
  const kills = tally.reduce((sum, played) => sum + played.kills, 0);
  const frozen = tally.reduce((sum, played) => sum + played.freezes, 0);
  const faulty = tally.filter(({ violations }) => violations.length > 0);
  const alone = tally.filter(({ cell }) => cell.includes("one process"));
  const together = tally.filter(({ cell }) => !cell.includes("one process"));
  return [
    `${tally.length} cells, ${kills} kills, ${frozen} freezes, ${faulty.length} cells with violations`,
    `from a kill to the next result, with another process there:   ${spread(together, "nextResultMs")}`,
    `from a kill to the next result, with a process started anew:  ${spread(alone, "nextResultMs")}`,
    `from a kill to the end of the run:                            ${spread(tally, "terminalMs")}`,
    ...faulty.map(({ round, cell, violations }) => `round ${round + 1}, ${cell}: ${violations[0]}`),
  ].join("\n");
}

function spread(tally: readonly Played[], field: "nextResultMs" | "terminalMs"): string {
  const times = tally.map((played) => played[field]).filter((ms) => ms !== undefined);
  times.sort((left, right) => left - right);
  const at = (share: number): string => `${Math.round(times[Math.ceil(times.length * share) - 1] ?? 0)} ms`;
  return times.length === 0 ? "none" : `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`;
}
