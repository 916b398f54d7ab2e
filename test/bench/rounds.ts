// The rounds of a bench made into one result: of each metric the median, with the least and the most beside it.

import type { Bench, Variant } from "./bench.ts";
import type { Stage } from "./ground/stage.ts";

export interface MeasuredVariant extends Variant {
  /** Least and most of the rounds, for each metric. */
  readonly spread: Readonly<Record<string, readonly [least: number, most: number]>>;
}

/** As many rounds as the bench wants; one when it has to be quick. Whatever the bench opened is closed when it returns. */
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

/** Variants in the order in which they first came. */
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

/** Sorted; NaN alone when a round could not tell, so that the gap is seen. */
function collect(variants: readonly Variant[], metric: string): readonly number[] {
  const values = variants.map(({ metrics }) => metrics[metric] ?? Number.NaN);
  return values.some(Number.isNaN) ? [Number.NaN] : values.toSorted((a, b) => a - b);
}

/** Of sorted values; between the middle two when there is no middle one. */
function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  const [below, above] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}
