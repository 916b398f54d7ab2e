// Works on a run whose runner is dialled: results on the stream of one call enter the run's log, by the same rules as reports.
//
// S1  The stream is read no faster than the log is written: a runner that floods has to wait.
// S2  When the run ends for any reason, the call ends. A runner stopped this way cannot send a last result.
// S3  Nothing is retried automatically.

import { create } from "@bufbuild/protobuf";
import type { RunAgentResponse } from "#gen/runnel/runner/v1/agent_runner_service_pb.js";
import { type ReportedResult, ReportedResultSchema } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { DriverEnd, DriverStep, FailedEnd, RunContext } from "../../../engine/runs/driver.ts";
import { timedOut } from "../../../engine/runs/terminal.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";
import type { DialRun } from "../runners/dial-run.ts";
import type { RemoteRun } from "../runners/remote-run.ts";
import { isSequence } from "../runners/results/sequence.ts";
import { describeRunnerTrouble } from "../runners/runner-trouble.ts";
import { Arrivals } from "./arrivals.ts";
import { take } from "./take.ts";

/** Options of the driver of dialled runners. */
export interface DialledOptions {
  readonly clock: Clock;
  readonly dial: DialRun;
}

/** The maximum buffered results of a stream, except for the one message that exceeds it. */
const batchMax = { itemsMax: 200, sizeMax: 1_048_576, sizeOf };

/** Dials the runner and yields its results until the run ends. */
export async function* runDialled(
  context: RunContext,
  remote: RemoteRun,
  { clock, dial }: DialledOptions,
): AsyncGenerator<DriverStep, DriverEnd> {
  const hangUp = new AbortController();
  using _stopping = onAbort(context.signal, () => hangUp.abort(over));
  const shallStop = (): boolean => context.stopReason() !== undefined;
  if (shallStop()) {
    return stopped;
  }
  let close: (() => void) | undefined;
  try {
    const call = await attempt(() => dial(remote.runId, hangUp.signal), shallStop);
    if (call === undefined) {
      return alreadyDialled;
    }
    if (isEnd(call)) {
      return call;
    }
    close = () => call.close();
    const arrivals = new Arrivals(call.results, batchMax);
    const numbering = new Numbering();
    for (;;) {
      const arrived = await attempt(() => arrivals.take(), shallStop);
      if (isEnd(arrived)) {
        return arrived;
      }
      const results = arrived.map((response) => numbering.number(response));
      const taken = await take(
        remote,
        { results, finished: results.length === 0 },
        { nowMs: clock.nowMs(), isCancelled: false },
      );
      if (taken.end !== undefined) {
        return taken.end;
      }
      yield* taken.steps;
    }
  } finally {
    hangUp.abort(over);
    close?.();
  }
}

/** Turns a failure of the call into the end of the run. */
async function attempt<T>(act: () => Promise<T>, shallStop: () => boolean): Promise<T | FailedEnd> {
  try {
    const outcome = await act();
    return shallStop() ? stopped : outcome;
  } catch (error) {
    return shallStop() ? stopped : endOfTrouble(error);
  }
}

function isEnd<T extends object>(value: T | FailedEnd): value is FailedEnd {
  return "kind" in value;
}

function endOfTrouble(error: unknown): FailedEnd {
  const { kind, words } = describeRunnerTrouble(error);
  switch (kind) {
    case "blocked":
      return failed("runner.unavailable", `the runner cannot be dialled: ${words}`, false);
    case "refused":
      return failed("runner.error", `the runner refused the call: ${words}`, false);
    case "late":
      return timedOut;
    case "lost":
      return failed("runner.disconnected", `the runner was lost: ${words}`, true);
    default:
      return kind satisfies never;
  }
}

function failed(code: string, error: string, retryable: boolean): FailedEnd {
  return { kind: "failed", code, error, retryable };
}

/** Only ends the work: the component that stops the run writes the reason. */
const stopped = failed("runner.error", "stopped", true);

const alreadyDialled = failed(
  "host.run_lost",
  "the replica that read the runner's results was lost, and the runner is not called twice",
  true,
);

/** Numbers the results without a number, in the order of the stream. */
class Numbering {
  #last = 0;

  number({ sequence, ...result }: RunAgentResponse): ReportedResult {
    const number = sequence ?? BigInt(this.#last + 1);
    // An invalid number does not count.
    this.#last = isSequence(Number(number)) ? Math.max(this.#last, Number(number)) : this.#last;
    const { runId, type, data, usage } = result;
    return create(ReportedResultSchema, { runId, type, data, sequence: number, ...(usage !== undefined && { usage }) });
  }
}

function sizeOf({ type, data, usage = "" }: RunAgentResponse): number {
  return type.length + data.length + usage.length;
}
