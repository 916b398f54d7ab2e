// The queue in which a worker's reports wait for the driver of their run. A replica that works on a run has its mailbox.
// Reports that reach another replica come here through the database.
//
// M1  Reports are handled one at a time: the answer to one is durable before the next is read. So a report that is sent again
//     while its first copy is being written gets the answer of a run that knows it.
// M2  A report is refused with RESUME when it is not taken in time, when the mailbox is full, and when it closes. Either
//     nothing of the report was applied, or its results are known when it is sent again.

import type { ReportedResult, ReportResultsResponse } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";

/** The maximum wait for an answer: longer than a write while the database recovers, shorter than callers wait. */
const answerMs = 10_000;
/** The maximum waiting reports. A worker reports one after the other. With more at a time it has to keep them itself. */
const waitingMax = 64;

/** One report of a worker. */
export interface Report extends ReportedResults {
  answer(response: ReportResultsResponse): void;
  /** Refuses the report. Nothing of it was applied. */
  refuse(): void;
}

/** The results of a report. */
export interface ReportedResults {
  readonly results: readonly ReportedResult[];
  /** True when the runner sends nothing more. */
  readonly finished: boolean;
}

/** The run, the client and the attempt whose reports a mailbox takes. */
export interface MailboxOwner {
  readonly runId: string;
  readonly client: string;
  readonly attempt: number;
}

/** The mailbox of one run. */
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

  /** True when reports wait for an answer. */
  get hasReports(): boolean {
    return this.#waiting.length > 0;
  }

  /** Returns the next report, or undefined when the wait is over or the signal aborts. */
  async next(clock: Clock, waitMs: number, signal: AbortSignal): Promise<Report | undefined> {
    if (this.#waiting.length === 0 && !signal.aborted && waitMs > 0) {
      const done = new AbortController();
      this.#wake = () => done.abort(over);
      await clock.sleep(waitMs, AbortSignal.any([done.signal, signal]));
      this.#wake = undefined;
    }
    return this.#waiting.shift();
  }

  /** Delivers a report and returns the driver's answer. Throws Fault RESUME when the driver does not answer in time. */
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

  /** Refuses the waiting reports. A report that was taken is answered by its driver. */
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
  #onOpen: () => void = () => {};

  /** Calls the listener when a mailbox opens. There is one listener. */
  onOpen(listener: () => void): void {
    this.#onOpen = listener;
  }

  /** Returns the mailbox of a run, and creates it when it is missing. */
  open(owner: MailboxOwner): Mailbox {
    let mailbox = this.#open.get(owner.runId);
    if (mailbox === undefined) {
      mailbox = new Mailbox(owner);
      this.#open.set(owner.runId, mailbox);
      this.#onOpen();
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
