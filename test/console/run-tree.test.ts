// The lines that the console makes of the runs of a tree, and their sums.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Run, Run_State, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { foldTree, joinRuns, layTree, type Used } from "../../console/src/run/run-tree.ts";

const { RUNNING, COMPLETED, CANCELLED } = Run_State;
const idOf = (index: number): string => String(index).padStart(5, "0");
const runOf = (index: number, parent: number | undefined, more: MessageInitShape<typeof RunSchema> = {}): Run =>
  create(RunSchema, {
    runId: idOf(index),
    ...(parent !== undefined && { parentRunId: idOf(parent), rootRunId: idOf(0) }),
    state: COMPLETED,
    turns: 1,
    ...more,
  });
const usedOf = (tokens: number, cost?: number) => ({
  usage: { totalTokens: BigInt(tokens), ...(cost !== undefined && { costMicroUsd: BigInt(cost) }) },
});

test("each line has its own figures and those of all runs below it, for any tree in any order", () => {
  const run = fc.record({
    parent: fc.nat(),
    tokens: fc.nat(10_000),
    cost: fc.option(fc.nat(10_000), { nil: undefined }),
    isActive: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 60 }), fc.integer(), (drawn, seed) => {
      const runs = drawn.map(({ parent, tokens, cost, isActive }, index) =>
        runOf(index, index === 0 ? undefined : parent % index, {
          state: isActive ? RUNNING : COMPLETED,
          ...(!isActive && usedOf(tokens, cost)),
        }),
      );
      const isBelow = (one: Run, top: Run): boolean =>
        one === top || runs.some((each) => each.runId === one.parentRunId && isBelow(each, top));
      const shuffled = runs.toSorted(
        (one, other) => ((Number(one.runId) * seed) % 7) - ((Number(other.runId) * seed) % 7),
      );
      const lines = layTree(shuffled, idOf(0));
      expect(lines).toHaveLength(runs.length);
      for (const { run: top, sum } of lines) {
        const all = runs.filter((each) => isBelow(each, top));
        const ended = all.filter(({ state }) => state === COMPLETED);
        const total = (figure: (each: Run) => bigint | undefined): number =>
          ended.reduce((before, each) => before + Number(figure(each) ?? 0n), 0);
        expect(sum).toEqual({
          runs: all.length,
          active: all.length - ended.length,
          tokens: total(({ usage }) => usage?.totalTokens),
          costMicroUsd: total(({ usage }) => usage?.costMicroUsd),
          withoutTokens: 0,
          withoutCost: ended.filter(({ usage }) => usage?.costMicroUsd === undefined).length,
        } satisfies Used);
      }
    }),
  );
});

test("runs stand below the one that called them, in the order of their start, and a fold hides what is below it", () => {
  const runs = [runOf(0, undefined), runOf(4, 1), runOf(3, 0), runOf(2, 1), runOf(1, 0), runOf(5, 99)];
  const lines = layTree(runs, idOf(0));
  const places = lines.map(({ run, level, place, siblings }) => [Number(run.runId), level, place, siblings]);
  expect(places).toEqual([
    [0, 0, 1, 1],
    [1, 1, 1, 3],
    [2, 2, 1, 2],
    [4, 2, 2, 2],
    [3, 1, 2, 3],
    // The run that called it is deleted.
    [5, 1, 3, 3],
  ]);
  const shown = (folded: readonly number[]) =>
    foldTree(lines, new Set(folded.map(idOf))).map(({ run }) => Number(run.runId));
  expect(shown([1])).toEqual([0, 1, 3, 5]);
  expect(shown([1, 0])).toEqual([0]);
});

test("what is not reported is unknown, and a run that ended before its first response has used nothing", () => {
  const [line] = layTree([runOf(0, undefined)], idOf(0));
  expect(line?.sum).toMatchObject({ withoutTokens: 1, withoutCost: 1 });
  const [cancelled] = layTree([runOf(0, undefined, { state: CANCELLED, turns: 0 })], idOf(0));
  expect(cancelled?.sum).toMatchObject({ withoutTokens: 0, withoutCost: 0, tokens: 0 });
});

test("the end of a run stays its last state", () => {
  const known = new Map<string, Run>();
  const ended = runOf(0, undefined);
  joinRuns(known, [runOf(0, undefined, { state: RUNNING }), ended, runOf(0, undefined, { state: RUNNING })]);
  expect(known.get(idOf(0))).toBe(ended);
});
