// The driver of runs that a program elsewhere works on. The reports of its worker enter the run's log, as far as the rules of
// results allow. `dialled.ts` has the part for dialled runners.
//
// D1  A report is answered when all of it is durable, in the order of arrival. A terminal result ends the run in the
//     transaction that writes it.
// D2  A worker that is silent for longer than its lease loses the run. Nothing is restarted automatically.
// D3  When this replica leaves, the run continues at another one, which knows every number that its runner has used.

import type { Driver, DriverEnd, DriverStep, FailedEnd, RunContext } from "../../../engine/runs/driver.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { isOutage, retryOutages } from "../../../platform/database/errors.ts";
import type { DialRun } from "../runners/dial-run.ts";
import { cancelGraceMs, workerLeaseMs } from "../runners/limits.ts";
import type { Mailbox, Mailboxes, Report } from "../runners/mailbox.ts";
import type { RemoteRun } from "../runners/remote-run.ts";
import { listRunnersOf } from "../storage/remote-run.ts";
import { runDialled } from "./dialled.ts";
import { type TakenReport, take } from "./take.ts";

/** Options of the driver. */
export interface RemoteRunnerOptions {
  readonly clock: Clock;
  readonly mailboxes: Mailboxes;
  /** Reads the state of a run when this replica begins to work on it. */
  readonly openRun: (runId: string) => Promise<RemoteRun>;
  readonly dial: DialRun;
  /** Announces that a worker may take another run. */
  readonly announceRoom: () => void;
}

const remoteRunnerName = "remote-runner";

/** Creates the driver of runs that runners work on. */
export function createRemoteRunner(options: RemoteRunnerOptions): Driver {
  return {
    name: remoteRunnerName,
    recovery: "fail",
    isOutside: true,
    stopGraceMs: cancelGraceMs,
    run: (context) => run(context, options),
    describeRuns: async (db, ids) =>
      new Map(
        (await listRunnersOf(db, ids)).map(({ run_id, runner_id: runnerId, binding_id: bindingId }) => [
          run_id,
          { runnerId, bindingId },
        ]),
      ),
  };
}

async function* run(context: RunContext, options: RemoteRunnerOptions): AsyncGenerator<DriverStep, DriverEnd> {
  const { runId, client } = context;
  const { mailboxes } = options;
  let work: Work | undefined;
  try {
    const remote = await open(context, options);
    if (remote.isDialled) {
      return yield* runDialled(context, remote, options);
    }
    if (remote.attempt === 0) {
      return unavailable;
    }
    const mailbox = mailboxes.open({ runId, client, attempt: remote.attempt });
    work = new Work({ context, remote, mailbox, options });
    return yield* work.run();
  } finally {
    work?.leave();
    // The mailbox may exist since the moment when the run was accepted.
    mailboxes.closeOf(runId);
    options.announceRoom();
  }
}

async function open({ runId, signal }: RunContext, { openRun, clock }: RemoteRunnerOptions): Promise<RemoteRun> {
  return await retryOutages(() => openRun(runId), { clock, signal });
}

const unavailable: FailedEnd = {
  kind: "failed",
  code: "runner.unavailable",
  error: "no worker took the run within 60 s: connect a worker with this runner",
  retryable: true,
};

const disconnected: FailedEnd = {
  kind: "failed",
  code: "runner.disconnected",
  error: "the worker was silent for 30 s",
  retryable: true,
};

/** Only ends the work: the component that stops the run writes the reason. */
const stopped: FailedEnd = { kind: "failed", code: "runner.error", error: "stopped", retryable: true };

interface WorkOptions {
  readonly context: RunContext;
  readonly remote: RemoteRun;
  readonly mailbox: Mailbox;
  readonly options: RemoteRunnerOptions;
}

class Work {
  readonly #context: RunContext;
  readonly #remote: RemoteRun;
  readonly #mailbox: Mailbox;
  readonly #clock: Clock;
  #heardMs: number;
  /** Set once the cancellation of the run was requested. */
  #graceEndMs: number | undefined;
  /** The report that was taken and not answered yet. */
  #inHand: Report | undefined;

  constructor({ context, remote, mailbox, options }: WorkOptions) {
    this.#context = context;
    this.#remote = remote;
    this.#mailbox = mailbox;
    this.#clock = options.clock;
    this.#heardMs = options.clock.monotonicMs();
  }

  async *run(): AsyncGenerator<DriverStep, DriverEnd> {
    for (;;) {
      const end = this.#findStop();
      if (end !== undefined) {
        return end;
      }
      const report = await this.#next();
      if (report !== undefined) {
        this.#inHand = report;
        const reportEnd = yield* this.#apply(report);
        if (reportEnd !== undefined) {
          return reportEnd;
        }
        // Not the time of its arrival: a worker that waits for its answer during a database outage is not silent.
        this.#heardMs = this.#clock.monotonicMs();
      }
    }
  }

  /** Refuses a report that was not applied. Its worker may send it to the next replica that works on the run. */
  leave(): void {
    this.#inHand?.refuse();
    this.#inHand = undefined;
  }

  #findStop(): FailedEnd | undefined {
    const reason = this.#context.stopReason();
    const nowMs = this.#clock.monotonicMs();
    if (reason === "cancelled") {
      this.#graceEndMs ??= nowMs + cancelGraceMs;
      return nowMs >= this.#graceEndMs ? stopped : undefined;
    }
    if (reason !== undefined) {
      return stopped;
    }
    return nowMs >= this.#heardMs + workerLeaseMs && !this.#mailbox.hasReports ? disconnected : undefined;
  }

  async #next(): Promise<Report | undefined> {
    const leaseEndMs = this.#heardMs + workerLeaseMs;
    const waitMs = (this.#graceEndMs ?? leaseEndMs) - this.#clock.monotonicMs();
    // An aborted signal would end each wait at once.
    const signal = this.#graceEndMs === undefined ? this.#context.signal : neverAborts;
    return await this.#mailbox.next(this.#clock, waitMs, signal);
  }

  async *#apply(report: Report): AsyncGenerator<DriverStep, DriverEnd | undefined> {
    const taken = await this.#take(report);
    if (taken === undefined) {
      this.leave();
      return undefined;
    }
    failpoint("report.taken");
    const answer = (ended: boolean): void => {
      failpoint("report.applied");
      report.answer(
        taken.response({
          cancelRequested: this.#context.stopReason() === "cancelled",
          ended,
          leaseEndMs: this.#clock.nowMs() + workerLeaseMs,
        }),
      );
    };
    if (taken.end !== undefined) {
      // Answered when the end is durable. Until then it must not be refused.
      this.#inHand = undefined;
      return { ...taken.end, settled: () => answer(true) };
    }
    yield* taken.steps;
    this.#inHand = undefined;
    answer(false);
    return undefined;
  }

  /** Returns undefined during a database outage: nothing of the report counts yet. */
  async #take(report: Report): Promise<TakenReport | undefined> {
    try {
      const isCancelled = this.#context.stopReason() === "cancelled";
      return await take(this.#remote, report, { nowMs: this.#clock.nowMs(), isCancelled });
    } catch (error) {
      if (isOutage(error)) {
        return undefined;
      }
      throw error;
    }
  }
}

const neverAborts = new AbortController().signal;
