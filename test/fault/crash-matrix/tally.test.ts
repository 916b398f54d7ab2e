// What `npm run faults` goes on from: no cell is left out, and none that is in the tally is played again.

import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { failpoints } from "../../../src/base/failpoint.ts";
import { type Cell, nameOf, productOf, sampleOf } from "./scenarios.ts";
import { addToTally, dueCells, type Played, readTally, summarize } from "./tally.ts";

const whole = { index: 1, count: 1 };

test("a round has every place with one and two processes and with both kinds of readers", () => {
  const kinds = dueCells(0, whole, []).map(
    ({ failpoint, processes, surface }) => `${failpoint} ${processes} ${surface}`,
  );
  const expected = failpoints.flatMap((name) =>
    [1, 2].flatMap((processes) => ["grpc", "sse"].map((surface) => `${name} ${processes} ${surface}`)),
  );
  expect(kinds.sort()).toEqual(expected.sort());
  expect(sampleOf(failpoints).map(({ failpoint }) => failpoint)).toEqual(failpoints);
});

test("shards divide a round", () => {
  const shards = [1, 2, 3, 4].flatMap((index) => namesOf(dueCells(0, { index, count: 4 }, [])));
  expect(shards.sort()).toEqual(namesOf(productOf(failpoints, 0)).sort());
});

test("what a tally has is not played again, and half a line of it counts as nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "runnel-tally-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "tally.jsonl");
  expect(readTally(path)).toEqual([]);
  const [first, second, ...rest] = namesOf(productOf(failpoints, 0));
  addToTally(path, playedOf({ cell: String(first), nextResultMs: 7, terminalMs: 9 }));
  await appendFile(path, '\n{"round":0,"cell":');
  addToTally(path, playedOf({ cell: String(second), violations: ["I1 a gap"] }));
  const tally = readTally(path);
  expect(namesOf(dueCells(0, whole, tally))).toEqual(rest);
  expect(dueCells(1, whole, tally)).toHaveLength(productOf(failpoints, 1).length);
  expect(summarize(tally)).toContain("2 cells, 2 kills, 1 cells with violations");
  expect(summarize(tally)).toContain(`round 1, ${second}: I1 a gap`);
});

function namesOf(cells: readonly Cell[]): string[] {
  return cells.map(nameOf);
}

function playedOf(part: Partial<Played>): Played {
  return { round: 0, cell: "", kills: 1, tookMs: 1, violations: [], ...part };
}
