// How work grows with the size of an input.

import type { Work, WorkMeter } from "../harness/work-meter.ts";

/** A reader or printer, and a kind of input. */
export interface GrowthCase {
  readonly reader: string;
  readonly input: string;
  /** Makes an input of about this many characters or items, and returns the call that reads it. */
  readonly prepare: (size: number) => () => unknown;
  /** The first size; 2,000 when unset. An input with a limit on its size begins so that eight times as much still fits. */
  readonly firstSize?: number;
  /** The limit of the product that keeps the input small: its work may then grow faster, up to `boundedWorkMax`. */
  readonly limit?: string;
}

/** The work of a case at a size and at the double of it. */
export interface Doubling {
  readonly size: number;
  readonly from: Work;
  readonly to: Work;
}

const firstSizeDefault = 2_000;

/** Measures a case from its first size to eight times as much. */
export async function measureGrowth(
  meter: WorkMeter,
  { prepare, firstSize = firstSizeDefault }: GrowthCase,
): Promise<Doubling[]> {
  const measure = async (size: number): Promise<Work> => await meter.measure(prepare(size));
  // The first call compiles the code, which is work too.
  await measure(firstSize);
  const doublings: Doubling[] = [];
  for (const size of [firstSize, 4 * firstSize]) {
    doublings.push({ size, from: await measure(size), to: await measure(2 * size) });
  }
  return doublings;
}

/** Work below this is noise: what V8 allocates for itself, and the fixed part of a call. */
const floors: Work = { steps: 2_000, reads: 5_000, bytes: 300_000 };

/** By how much each kind of work grew when the size doubled; 1 for work that is below its floor. */
function ratiosOf({ from, to }: Doubling): Work {
  const ratio = (kind: keyof Work): number =>
    to[kind] < floors[kind] ? 1 : to[kind] / Math.max(from[kind], floors[kind]);
  return { steps: ratio("steps"), reads: ratio("reads"), bytes: ratio("bytes") };
}

/** The maximum when the size doubles. Linear work has 2, work of n log n a little more, quadratic work 4. */
const ratioMax = 2.3;

/** The maximum of steps and reads for the largest input that a limit of the product lets through: some milliseconds. */
const boundedWorkMax = 4_000_000;

/** Returns the problems of the growth of a case: `steps grow 3.98 times from 8000 to 16000`. */
export function findProblems(doublings: readonly Doubling[], limit: string | undefined): string[] {
  if (limit !== undefined) {
    const largest = doublings.at(-1)?.to;
    const work = largest === undefined ? Number.POSITIVE_INFINITY : largest.steps + largest.reads;
    return work <= boundedWorkMax ? [] : [`${work} steps at the limit: ${limit}`];
  }
  return doublings.flatMap((doubling) =>
    Object.entries(ratiosOf(doubling))
      .filter(([, ratio]) => ratio > ratioMax)
      .map(([kind, ratio]) => `${kind} grow ${ratio.toFixed(2)} times from ${doubling.size} to ${2 * doubling.size}`),
  );
}
