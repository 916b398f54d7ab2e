// Where reports of a run's worker wait for the driver of the run. A replica that works on a run has its mailbox; reports that
// reach another replica are brought here through the database.
//
// M1  One report after the other: the answer to one is durable before the next is looked at. So a report that is sent again
//     while its first copy is being written gets the answer of a run that knows it.
// M2  A report that nobody takes in time is refused with RESUME, and so are those that find the mailbox full or are left when it
//     closes: nothing of them was applied, or they are known when they come again.

import type { ReportedResult, ReportResultsResponse } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";

/** Longer than a write takes while the database comes back; shorter than callers wait for an answer. */
const answerMs = 10_000;
/** A worker reports one thing after the other. Whoever sends many at a time keeps them himself. */
const waitingMax = 64;

/** What one call of a worker reports. */
export interface Report extends ReportedResults {
  answer(response: ReportResultsResponse): void;
  /** Nothing was done with it. */
  refuse(): void;
}

export interface ReportedResults {
  readonly results: readonly ReportedResult[];
  /** The runner has nothing more to say. */
  readonly finished: boolean;
}

/** Whose reports a mailbox takes. */
export interface MailboxOwner {
  readonly runId: string;
  readonly client: string;
  readonly attempt: number;
}

export class Mailbox {
  readonly owner: MailboxOwner;
  readonly #waiting: Report[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(owner: MailboxOwner) {
    this.owner = owner;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Somebody waits to be answered. */
  get hasReports(): boolean {
    return this.#waiting.length > 0;
  }

  /** The next report, or undefined when none came in time or the signal aborted. */
  async next(clock: Clock, waitMs: number, signal: AbortSignal): Promise<Report | undefined> {
    if (this.#waiting.length === 0 && !signal.aborted && waitMs > 0) {
      const done = new AbortController();
      this.#wake = () => done.abort(over);
      await clock.sleep(waitMs, AbortSignal.any([done.signal, signal]));
      this.#wake = undefined;
    }
    return this.#waiting.shift();
  }

  /** Resolves with what the driver answers. */
  async deliver(clock: Clock, { results, finished }: ReportedResults): Promise<ReportResultsResponse> {
    const done = new AbortController();
    let response: ReportResultsResponse | undefined;
    const leave = (): void => done.abort(over);
    const report: Report = {
      results,
      finished,
      answer: (given) => {
        response = given;
        leave();
      },
      refuse: leave,
    };
    if (!this.#isClosed && this.#waiting.length < waitingMax) {
      this.#waiting.push(report);
      this.#wake?.();
      await clock.sleep(answerMs, done.signal);
    }
    if (response === undefined) {
      this.#drop(report);
      throw new Fault("RESUME", "the report could not be written now: send it again", { retryAfterMs: 200 });
    }
    return response;
  }

  /** Refuses those that wait; one that was taken is for its taker to answer. */
  close(): void {
    this.#isClosed = true;
    for (const report of this.#waiting.splice(0)) {
      report.refuse();
    }
  }

  #drop(report: Report): void {
    const at = this.#waiting.indexOf(report);
    if (at !== -1) {
      this.#waiting.splice(at, 1);
    }
  }
}

/** The mailboxes of the runs that this replica works on. */
export class Mailboxes {
  readonly #open = new Map<string, Mailbox>();

  /** The one of a run; made when it is not there yet. */
  open(owner: MailboxOwner): Mailbox {
    let mailbox = this.#open.get(owner.runId);
    if (mailbox === undefined) {
      mailbox = new Mailbox(owner);
      this.#open.set(owner.runId, mailbox);
    }
    return mailbox;
  }

  find(runId: string): Mailbox | undefined {
    return this.#open.get(runId);
  }

  get runIds(): string[] {
    return [...this.#open.keys()];
  }

  closeOf(runId: string): void {
    this.#open.get(runId)?.close();
    this.#open.delete(runId);
  }
}
