// One run of one runner: what it yields is reported until it ends, or until nothing more counts.

import type { Reporter } from "./reporter.ts";
import { failed, type Result, type Run, type Runner } from "./runner.ts";

export interface PerformOptions {
  readonly runner: Runner;
  readonly run: Run;
  readonly reporter: Reporter;
  readonly onProblem: ((problem: unknown) => void) | undefined;
}

export async function perform({ runner, run, reporter, onProblem }: PerformOptions): Promise<void> {
  try {
    await reportAll(runner.run(run), reporter);
  } catch (error) {
    onProblem?.(error);
    const text = error instanceof Error ? error.message : String(error);
    // Does not count where the runner said before how its run ends.
    await reporter.report(failed(text, { code: run.signal.aborted ? "cancelled" : "runner.exception" }));
  }
  await reporter.finish();
}

/** A runner that does not end when its run has ended is left behind. */
async function reportAll(results: AsyncGenerator<Result>, reporter: Reporter): Promise<void> {
  try {
    while (!reporter.over.aborted) {
      const next = await untilAborted(results.next(), reporter.over);
      if (next === undefined || next.done) {
        return;
      }
      await reporter.report(next.value);
    }
  } finally {
    // Not waited for: it may hang where it is. What it throws now is no news of the run.
    results.return(undefined).catch(() => {});
  }
}

/** Undefined when the signal was first. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const leave = (): void => resolve(undefined);
  signal.addEventListener("abort", leave, { once: true });
  work.then(resolve, reject);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
