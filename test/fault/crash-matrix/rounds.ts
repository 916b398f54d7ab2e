// One round of the matrix for `npm run faults`; the environment says which one. Every combination that is due is played and
// written to the tally, and a violation also fails the test.

import { expect, test } from "vitest";
import { playCell } from "./cell.ts";
import { type Cell, inBatches, nameOf } from "./scenarios.ts";
import { addToTally, dueCells, readTally } from "./tally.ts";

const round = Number(process.env.FAULTS_ROUND);
const [index = 1, count = 1] = (process.env.FAULTS_SHARD ?? "1/1").split("/").map(Number);
const tallyPath = process.env.FAULTS_TALLY ?? "";

const due = dueCells(round, { index, count }, readTally(tallyPath));

test.each(inBatches(due))("promises hold after %s", async (_names: string, batch: readonly Cell[]) => {
  const outcomes = await Promise.all(
    batch.map(async (cell) => {
      const outcome = await playCell(cell);
      addToTally(tallyPath, { round, ...outcome });
      return outcome;
    }),
  );
  expect(outcomes.filter(({ violations }) => violations.length > 0)).toEqual([]);
  expect(outcomes.map(({ cell }) => cell)).toEqual(batch.map(nameOf));
});
