// The report of the benches: what it says about several rounds, what counts as reached, and how it changes the page.

import { expect, test } from "vitest";
import type { Variant } from "./bench.ts";
import { benches } from "./benches.ts";
import type { BenchResult, BenchRun } from "./report/bench-run.ts";
import { drawCharts } from "./report/charts.ts";
import { describeMachine } from "./report/machine.ts";
import { fillPage } from "./report/page.ts";
import { targets } from "./report/targets.ts";
import { judge } from "./report/verdicts.ts";
import { combineRounds } from "./rounds.ts";

const variant = (name: string, metrics: Variant["metrics"], faults: string[] = []): Variant => ({
  name,
  metrics,
  faults,
});

/** The bench `ready` with these times, in three rounds. */
function readyResult(coldMs: number, warmMs: readonly [number, number, number]): BenchResult {
  const rounds = warmMs.map((ms) => [
    variant("bare server", { "ready, ms": 40 }),
    variant("cold (creates the database)", { "ready, ms": coldMs, "ready, ratio to bare": coldMs / 40 }),
    variant("warm (Postgres stopped)", { "ready, ms": ms }),
  ]);
  return { name: "ready", title: "Time to ready", notMeasured: "npm's own time.", variants: combineRounds(rounds) };
}

function runOf(...results: BenchResult[]): BenchRun {
  return { machine: describeMachine("18.4"), quick: false, seconds: 300, benches: results, verdicts: judge(results) };
}

const emptyPage = [
  "# Performance\n",
  "<!-- run: written by `node scripts/performance-page.ts <file>` -->",
  "an older run",
  "<!-- /run -->\n",
  "## Misses\n\nBy hand.",
].join("\n");

test("the combined value of a metric is the median of its rounds, with minimum and maximum", () => {
  const [combined] = combineRounds([
    [variant("gRPC", { "p50, ms": 9 })],
    [variant("gRPC", { "p50, ms": 1 })],
    [variant("gRPC", { "p50, ms": 2 })],
  ]);
  expect(combined?.metrics).toEqual({ "p50, ms": 2 });
  expect(combined?.spread).toEqual({ "p50, ms": [1, 9] });
});

test("a round without a metric leaves a gap instead of a median of the others", () => {
  const [combined] = combineRounds([[variant("a", { x: 1 })], [variant("a", {})], [variant("a", { x: 2 })]]);
  expect(combined?.metrics).toEqual({ x: Number.NaN });
});

test("a fault of any round is a fault of the whole, listed once", () => {
  const torn = variant("a", {}, ["torn"]);
  expect(combineRounds([[torn], [variant("a", {})], [torn]])[0]?.faults).toEqual(["torn"]);
});

test("a target is reached at its bound and missed beyond it", () => {
  const verdicts = judge([readyResult(4_000, [1_400, 1_501, 1_600])]);
  expect(verdicts.map(({ work, value, reached }) => [work, value, reached])).toEqual([
    ["start, cold", 4_000, true],
    ["start, warm", 1_501, false],
  ]);
});

test("a missing figure reaches no target", () => {
  const [cold] = judge([readyResult(Number.NaN, [1, 2, 3])]);
  expect(cold).toMatchObject({ value: null, reached: false });
});

test("a target whose figure is missing in its bench fails the report", () => {
  const result = { ...readyResult(1, [1, 2, 3]), variants: [] };
  expect(() => judge([result])).toThrow('bench ready has no "ready, ms" of "cold (creates the database)"');
});

test("every target belongs to an existing bench, and has exactly one bound", () => {
  const names = benches.map(({ name }) => name);
  expect(targets.length).toBeGreaterThan(0);
  expect(targets.filter(({ bench }) => !names.includes(bench))).toEqual([]);
  expect(targets.filter(({ least, most }) => (least === undefined) === (most === undefined))).toEqual([]);
});

test("the page gets the run and keeps its handwritten parts", () => {
  const run = runOf(readyResult(3_000, [1_400, 1_600, 1_800]));
  const page = fillPage(emptyPage, run, drawCharts(run));
  expect(page).toContain("| start, cold | ready, ms | ≤ 4,000 | 3,000 | 3,000 – 3,000 |  |");
  expect(page).toContain("| start, warm | ready, ms | ≤ 1,500 | 1,600 | 1,400 – 1,800 | **missed** |");
  expect(page).toContain("1 of 2 targets reached");
  expect(page).toContain("| ready | cold (creates the database) | ready, ratio to bare | 75 |");
  expect(page).toContain("* **ready**: npm's own time.");
  expect(page).toContain("## Misses\n\nBy hand.");
  expect(page).not.toContain("an older run");
  expect(fillPage(page, run, drawCharts(run))).toBe(page);
});

test("the page says that the round was short, and lists its faults", () => {
  const broken = { ...readyResult(1, [1, 2, 3]) };
  const variants = broken.variants.map((each) => ({ ...each, faults: ["3 runs without their end"] }));
  const page = fillPage(emptyPage, { ...runOf({ ...broken, variants }), quick: true }, []);
  expect(page).toContain("A short round");
  expect(page).toContain("* **ready**, bare server: 3 runs without their end");
});
