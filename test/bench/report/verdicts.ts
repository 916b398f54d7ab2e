// Which targets a run reached. A target without a figure, although its bench ran, is a fault of the benches.

import type { BenchResult, Verdict } from "./bench-run.ts";
import { type Target, targets } from "./targets.ts";

/** Only for benches that ran. */
export function judge(results: readonly BenchResult[]): Verdict[] {
  return targets.flatMap((target) => {
    const result = results.find(({ name }) => name === target.bench);
    return result === undefined ? [] : [judgeOne(target, result)];
  });
}

function judgeOne(target: Target, { variants }: BenchResult): Verdict {
  const { bench, variant, metric, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = target;
  const value = variants.find(({ name }) => name === variant)?.metrics[metric];
  if (value === undefined) {
    throw new Error(`bench ${bench} has no "${metric}" of "${variant}"; a target requires it`);
  }
  return { ...target, value: Number.isNaN(value) ? null : value, reached: value >= least && value <= most };
}

/** The bound as people write it. */
export function boundOf({ least, most }: Target): string {
  return least === undefined ? `≤ ${formatBound(most)}` : `≥ ${formatBound(least)}`;
}

function formatBound(bound: number | undefined): string {
  return bound?.toLocaleString("en-US") ?? "–";
}
