// How `npm run faults` continues from a tally: no cell is left out, and no cell of the tally is played again.

import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failpoints } from "../../../src/platform/base/failpoint.ts";
import { openFolder } from "../../fixtures.ts";
import { type Cell, nameOf, nameOfClock, productOf, sampleOf } from "./scenarios.ts";
import { addToTally, dueCells, type Played, readTally, summarize } from "./tally.ts";

const whole = { index: 1, count: 1 };

test("a round has every failpoint with one and two processes and with both kinds of readers", () => {
  const killed = dueCells(0, whole, []).filter(({ death }) => death === "killed");
  const kinds = killed.map(({ failpoint, processes, surface }) => `${failpoint} ${processes} ${surface}`);
  const expected = failpoints.flatMap((name) =>
    [1, 2].flatMap((processes) => ["grpc", "sse"].map((surface) => `${name} ${processes} ${surface}`)),
  );
  expect(kinds.sort()).toEqual(expected.sort());
});

test("in two rounds a process is frozen at every failpoint, with both kinds of readers", () => {
  const rounds = [0, 1].flatMap((round) => dueCells(round, whole, []));
  const kinds = rounds
    .filter(({ death }) => death === "frozen")
    .map(({ failpoint, surface }) => `${failpoint} ${surface}`);
  expect(kinds.sort()).toEqual(failpoints.flatMap((name) => [`${name} grpc`, `${name} sse`]).sort());
});

test("in five rounds every kind of every failpoint is played with every clock", () => {
  const rounds = [0, 1, 2, 3, 4].flatMap((round) => dueCells(round, whole, []));
  const kinds = rounds.map(({ failpoint, processes, surface, death, wrongClock }) => {
    const kind = death === "killed" ? `${processes} ${surface}` : death;
    return `${failpoint} ${kind} ${nameOfClock(wrongClock)}`;
  });
  expect(new Set(kinds).size).toBe(failpoints.length * 5 * 5);
});

test("the sample kills at every failpoint, freezes with both kinds of readers, and has every clock", () => {
  const sample = sampleOf(failpoints);
  expect(sample.filter(({ death }) => death === "killed").map(({ failpoint }) => failpoint)).toEqual(failpoints);
  const frozen = sample.filter(({ death }) => death === "frozen");
  expect(new Set(frozen.map(({ surface }) => surface))).toEqual(new Set(["grpc", "sse"]));
  expect(new Set(frozen.map(({ wrongClock }) => nameOfClock(wrongClock))).size).toBe(5);
  expect(new Set(sample.map(({ wrongClock }) => nameOfClock(wrongClock))).size).toBe(5);
});

test("shards divide a round", () => {
  const shards = [1, 2, 3, 4].flatMap((index) => namesOf(dueCells(0, { index, count: 4 }, [])));
  expect(shards.sort()).toEqual(namesOf(productOf(failpoints, 0)).sort());
});

test("a cell of the tally is not played again, and half a line of the tally is ignored", async () => {
  const directory = await openFolder();
  const path = join(directory, "tally.jsonl");
  expect(readTally(path)).toEqual([]);
  const [first, second, ...rest] = namesOf(productOf(failpoints, 0));
  addToTally(path, playedOf({ cell: String(first), nextResultMs: 7, terminalMs: 9 }));
  await appendFile(path, '\n{"round":0,"cell":');
  addToTally(path, playedOf({ cell: String(second), violations: ["I1 a gap"] }));
  const tally = readTally(path);
  expect(namesOf(dueCells(0, whole, tally))).toEqual(rest);
  expect(dueCells(1, whole, tally)).toHaveLength(productOf(failpoints, 1).length);
  expect(summarize(tally)).toContain("2 cells, 2 kills, 0 freezes, 1 cells with violations");
  expect(summarize(tally)).toContain(`round 1, ${second}: I1 a gap`);
});

function namesOf(cells: readonly Cell[]): string[] {
  return cells.map(nameOf);
}

function playedOf(part: Partial<Played>): Played {
  return { round: 0, cell: "", kills: 1, freezes: 0, tookMs: 1, violations: [], ...part };
}
