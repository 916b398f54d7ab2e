// kill -9 at each failpoint of a run, once, alternating between one process or two, readers over gRPC or SSE, and clocks
// that are right or wrong; at some failpoints a process is frozen as well. `npm run faults` plays every combination in rounds.

import { expect, test } from "vitest";
import { failpoints } from "../../../src/platform/base/failpoint.ts";
import { playCell } from "./cell.ts";
import { type Cell, inBatches, nameOf, sampleOf } from "./scenarios.ts";

/** Far above the longest cell, in which every wait reaches its own limit. */
const timeoutMs = 300_000;

const batches = inBatches(sampleOf(failpoints));

test.each(batches)("promises hold after %s", { timeout: timeoutMs }, async (_names, batch: readonly Cell[]) => {
  const outcomes = await Promise.all(batch.map((cell) => playCell(cell)));
  expect(outcomes.filter(({ violations }) => violations.length > 0)).toEqual([]);
  expect(outcomes.map(({ cell }) => cell)).toEqual(batch.map(nameOf));
  expect(outcomes.every(({ kills, freezes }) => kills + freezes > 0)).toBe(true);
});
