// A run and all runs below it as the lines of a tree, each with what it and the runs below it have used.
//
// R1  A sum counts each run once: a node has its own figures and the sums of its child runs.
// R2  A figure that a provider did not report is unknown: a sum counts such runs, and never takes them for 0.

import type { Run } from "#gen/runnel/v1/run_pb.js";
import { isActive } from "../lib/run-state.ts";

/** What one or more runs have used. */
export interface Used {
  readonly runs: number;
  /** Runs that have not ended. What they use counts when they end. */
  readonly active: number;
  readonly tokens: number;
  readonly costMicroUsd: number;
  /** Runs that have ended, whose tokens are unknown. */
  readonly withoutTokens: number;
  /** Runs that have ended, whose cost is unknown. */
  readonly withoutCost: number;
}

/** A line of the tree. */
export interface TreeNode {
  readonly run: Run;
  /** 0 for the run at the top. */
  readonly level: number;
  /** The number of child runs. */
  readonly children: number;
  /** The place among the child runs of its parent, from 1, and their number. */
  readonly place: number;
  readonly siblings: number;
  readonly own: Used;
  readonly sum: Used;
}

/** Returns the lines of a tree from its top: each run before its child runs, and these in the order of their start. */
export function layTree(runs: readonly Run[], rootId: string): TreeNode[] {
  const known = new Set(runs.map(({ runId }) => runId));
  // The parent of a run may be deleted: its child runs are then below the top.
  const parentOf = ({ runId, parentRunId }: Run): string =>
    runId === rootId ? "" : known.has(parentRunId) ? parentRunId : rootId;
  const below = Map.groupBy(
    runs.toSorted((one, other) => (one.runId < other.runId ? -1 : 1)),
    parentOf,
  );
  const lines: TreeNode[] = [];
  const lay = (run: Run, level: number, place: number, siblings: number): Used => {
    const children = below.get(run.runId) ?? [];
    const own = usedBy(run);
    const at = lines.length;
    const line = { run, level, children: children.length, place, siblings, own, sum: own };
    lines.push(line);
    const sum = children.map((child, index) => lay(child, level + 1, index + 1, children.length)).reduce(add, own);
    lines[at] = { ...line, sum };
    return sum;
  };
  const [top] = below.get("") ?? [];
  if (top !== undefined) {
    lay(top, 0, 1, 1);
  }
  return lines;
}

/** Returns the lines without those below a folded run. */
export function foldTree(lines: readonly TreeNode[], folded: ReadonlySet<string>): TreeNode[] {
  let hiddenBelow = Number.POSITIVE_INFINITY;
  return lines.filter(({ run, level }) => {
    if (level > hiddenBelow) {
      return false;
    }
    hiddenBelow = folded.has(run.runId) ? level : Number.POSITIVE_INFINITY;
    return true;
  });
}

/** Joins what a list has with what has changed: the end of a run is its last state. */
export function joinRuns(known: Map<string, Run>, runs: Iterable<Run>): void {
  for (const run of runs) {
    const before = known.get(run.runId);
    if (before === undefined || isActive(before.state) || !isActive(run.state)) {
      known.set(run.runId, run);
    }
  }
}

function usedBy({ state, turns, usage }: Run): Used {
  if (isActive(state)) {
    return { ...nothing, runs: 1, active: 1 };
  }
  const { promptTokens, completionTokens, totalTokens, costMicroUsd } = usage ?? {};
  const tokens = totalTokens ?? ((promptTokens ?? 0n) + (completionTokens ?? 0n) || undefined);
  // A run that ended before its first response has used nothing.
  const hasWorked = turns > 0 || usage !== undefined;
  return {
    runs: 1,
    active: 0,
    tokens: Number(tokens ?? 0n),
    costMicroUsd: Number(costMicroUsd ?? 0n),
    withoutTokens: tokens === undefined && hasWorked ? 1 : 0,
    withoutCost: costMicroUsd === undefined && hasWorked ? 1 : 0,
  };
}

const nothing: Used = { runs: 0, active: 0, tokens: 0, costMicroUsd: 0, withoutTokens: 0, withoutCost: 0 };

function add(one: Used, other: Used): Used {
  return {
    runs: one.runs + other.runs,
    active: one.active + other.active,
    tokens: one.tokens + other.tokens,
    costMicroUsd: one.costMicroUsd + other.costMicroUsd,
    withoutTokens: one.withoutTokens + other.withoutTokens,
    withoutCost: one.withoutCost + other.withoutCost,
  };
}
