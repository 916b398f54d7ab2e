// Watches a job: yields it at once, after each change, and when it has ended.

import { equals } from "@bufbuild/protobuf";
import { type Job, JobSchema } from "#gen/runnel/job/v1/job_pb.js";
import type { Wakeup } from "../../../engine/log/wakeup.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";
import { isOver } from "./to-proto.ts";

/** The poll interval, in case a wake-up is lost. */
const pollMs = 1_000;
/** The minimum time between two reads of the job, because every result of its runs wakes the watcher. */
const pauseMs = 100;

/** Dependencies of a watch. */
export interface WatchDeps {
  readonly clock: Clock;
  readonly wakeup: Wakeup;
}

/** Yields the job at once and after each change. Ends with the job, or when `read` gives undefined because the job is gone. */
export async function* watchJob(
  { clock, wakeup }: WatchDeps,
  read: () => Promise<Job | undefined>,
  signal: AbortSignal,
): AsyncGenerator<Job> {
  let wake = new AbortController();
  let runs: ReadonlySet<string> = new Set();
  const unsubscribe = [
    wakeup.subscribe("result", ({ key }) => runs.has(key) && wake.abort(over)),
    wakeup.onGap(() => wake.abort(over)),
  ];
  using _leaving = onAbort(signal, () => wake.abort(over));
  let shown: Job | undefined;
  try {
    while (!signal.aborted) {
      wake = new AbortController();
      const job = await read();
      if (job === undefined) {
        return;
      }
      runs = new Set(job.executions.map(({ runId }) => runId));
      if (shown === undefined || !equals(JobSchema, shown, job)) {
        shown = job;
        yield job;
      }
      if (isOver(job)) {
        return;
      }
      await clock.sleep(pauseMs, signal);
      await clock.sleep(pollMs - pauseMs, AbortSignal.any([wake.signal, signal]));
    }
  } finally {
    for (const leave of unsubscribe) {
      leave();
    }
  }
}
