// Combines the rounds of a bench into one result: of each metric the median, the minimum and the maximum.

import type { Bench, Variant } from "./bench.ts";
import type { Stage } from "./harness/stage.ts";

export interface MeasuredVariant extends Variant {
  /** Minimum and maximum of the rounds, for each metric. */
  readonly spread: Readonly<Record<string, readonly [least: number, most: number]>>;
}

/** Runs as many rounds as the bench wants; one with `--quick`. Everything that the bench opened is closed when it returns. */
export async function runRounds(bench: Bench, stage: Stage): Promise<MeasuredVariant[]> {
  const rounds: (readonly Variant[])[] = [];
  const roundsMax = stage.quick ? 1 : bench.roundsMax;
  for await (const variants of bench.measure(stage)) {
    rounds.push(variants);
    if (rounds.length === roundsMax) {
      break;
    }
  }
  return combineRounds(rounds);
}

/** Combines the rounds. Variants keep the order of their first appearance. */
export function combineRounds(rounds: readonly (readonly Variant[])[]): MeasuredVariant[] {
  const byName = Map.groupBy(rounds.flat(), ({ name }) => name);
  return [...byName].map(([name, variants]) => {
    const names = [...new Set(variants.flatMap(({ metrics }) => Object.keys(metrics)))];
    const values = names.map((metric) => [metric, collect(variants, metric)] as const);
    return {
      name,
      metrics: Object.fromEntries(values.map(([metric, found]) => [metric, median(found)])),
      spread: Object.fromEntries(values.map(([metric, found]) => [metric, [found[0], found.at(-1)] as const])),
      faults: [...new Set(variants.flatMap(({ faults }) => faults))],
    } as MeasuredVariant;
  });
}

/** Returns the sorted values. NaN alone when one round could not measure it, so that the gap is visible. */
function collect(variants: readonly Variant[], metric: string): readonly number[] {
  const values = variants.map(({ metrics }) => metrics[metric] ?? Number.NaN);
  return values.some(Number.isNaN) ? [Number.NaN] : values.toSorted((a, b) => a - b);
}

/** Returns the median of sorted values; the mean of the middle two when their number is even. */
function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  const [below, above] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}
