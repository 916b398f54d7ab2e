// Closed-loop load: a number of jobs at the same time, a number in total, and no new job after the limit.

export interface Load {
  readonly concurrency: number;
  readonly count: number;
  /** No job begins later than this, so that a slow machine does fewer jobs instead of taking longer. */
  readonly limitMs: number;
}

/** Resolves with what the jobs returned when the last one has ended. */
export async function runLoad<T>(
  { concurrency, count, limitMs }: Load,
  job: (index: number) => Promise<T>,
): Promise<T[]> {
  const startedMs = performance.now();
  const results: T[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < count && performance.now() - startedMs < limitMs) {
      results.push(await job(begun++));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

/** Returns the value below which this part of the values lies; NaN without values. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function sharePercent(values: readonly boolean[]): number {
  return (100 * values.filter(Boolean).length) / values.length;
}
