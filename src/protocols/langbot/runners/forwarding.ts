// Reports between replicas. The replica that receives a report writes it to the database; the replica that works on the run
// answers it there.
//
// F1  A report is answered once. The answer is written even when its sender no longer waits, and is swept later. A worker that
//     sends the report again gets the answer of a run that knows it.
// F2  A report that ended its run is answered with the decision of its replica, as long as that replica lives.

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type ReportResultsRequest,
  ReportResultsRequestSchema,
  type ReportResultsResponse,
  ReportResultsResponseSchema,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { Wakeup } from "../../../engine/log/wakeup.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { Loop } from "../../../platform/base/loop.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import {
  answerForwardedReport,
  deleteForwardedReport,
  type ForwardedReport,
  insertForwardedReport,
  listForwardedReports,
  takeForwardedAnswer,
} from "../storage/forwarded-report.ts";
import type { Mailboxes } from "./mailbox.ts";

/** The polling interval; it covers lost wake-ups. */
const pollMs = 500;
/** The maximum wait for an answer: longer than the time that a mailbox gives its driver. */
const answerMs = 12_000;
/**
 * The maximum wait once the run has ended. Its replica writes the answer at once, unless it has died or never took the report.
 */
const endedAnswerMs = 2_000;

/** Dependencies of the forwarding. */
export interface ForwardingDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly wakeup: Wakeup;
  readonly events: Pick<Events, "databaseTroubled">;
  readonly mailboxes: Mailboxes;
}

/** Forwards reports to other replicas, and delivers theirs to the mailboxes of this one. */
export class Forwarding {
  readonly #deps: ForwardingDeps;
  readonly #loop: Loop;
  readonly #unsubscribe: (() => void)[] = [];
  /** Reports that were given to a mailbox of this replica. */
  readonly #delivering = new Set<string>();
  /**
   * Those of them that are finished. A list that is read from now on does not contain them, unless they must be delivered
   * again.
   */
  readonly #dealtWith = new Set<string>();

  constructor(deps: ForwardingDeps) {
    this.#deps = deps;
    this.#loop = new Loop({
      clock: deps.clock,
      everyMs: pollMs,
      isIdle: () => deps.mailboxes.runIds.length === 0,
      pass: () => this.#deliverNew(),
      onError: (error) => deps.events.databaseTroubled({ part: "forwarded reports", error }),
    });
  }

  open(): void {
    const { wakeup, mailboxes } = this.#deps;
    this.#unsubscribe.push(
      wakeup.subscribe("report", ({ key }) => mailboxes.find(key) && this.#loop.wake()),
      wakeup.onGap(() => this.#loop.wake()),
    );
    mailboxes.onOpen(() => this.#loop.resume());
    this.#loop.open();
  }

  async close(): Promise<void> {
    for (const leave of this.#unsubscribe) {
      leave();
    }
    await this.#loop.close();
  }

  /**
   * Returns the answer of the replica that works on the run, or undefined when the run has ended without an answer. Throws
   * Fault RESUME when no answer arrives in time.
   */
  async forward(
    request: ReportResultsRequest,
    hasEnded: () => Promise<boolean>,
  ): Promise<ReportResultsResponse | undefined> {
    const { db, clock, wakeup } = this.#deps;
    const id = newUuid(clock.nowMs());
    let wake = new AbortController();
    const leave = wakeup.subscribe("reported", ({ key }) => key === id && wake.abort(over));
    try {
      await insertForwardedReport(db, {
        id,
        runId: request.runId,
        request: toBinary(ReportResultsRequestSchema, request),
      });
      wakeup.publish({ topic: "report", key: request.runId, value: 0 });
      let leftMs = answerMs;
      let ended = false;
      while (leftMs > 0 && !this.#loop.closing.aborted) {
        const askedMs = clock.monotonicMs();
        await clock.sleep(Math.min(pollMs, leftMs), AbortSignal.any([wake.signal, this.#loop.closing]));
        wake = new AbortController();
        const answer = await takeForwardedAnswer(db, id);
        if (answer !== undefined) {
          return fromBinary(ReportResultsResponseSchema, answer);
        }
        leftMs -= clock.monotonicMs() - askedMs;
        if (!ended && (await hasEnded())) {
          ended = true;
          leftMs = Math.min(leftMs, endedAnswerMs);
        }
      }
      await deleteForwardedReport(db, id);
      if (ended) {
        return undefined;
      }
    } finally {
      leave();
    }
    throw new Fault("RESUME", "the report was not processed in time: send it again", { retryAfterMs: 500 });
  }

  async #deliverNew(): Promise<void> {
    const { db, mailboxes } = this.#deps;
    this.#forgetDealtWith();
    const runIds = mailboxes.runIds;
    const reports = runIds.length === 0 ? [] : await listForwardedReports(db, runIds);
    for (const report of reports.filter(({ id }) => !this.#delivering.has(id))) {
      void this.#deliver(report);
    }
  }

  #forgetDealtWith(): void {
    for (const id of this.#dealtWith) {
      this.#delivering.delete(id);
    }
    this.#dealtWith.clear();
  }

  /** Delivers a report. A mailbox takes reports in the order of their delivery, which is the order of the list. */
  async #deliver({ id, run_id, request }: ForwardedReport): Promise<void> {
    const { db, clock, events, wakeup, mailboxes } = this.#deps;
    this.#delivering.add(id);
    try {
      const response = await mailboxes.find(run_id)?.deliver(clock, fromBinary(ReportResultsRequestSchema, request));
      if (response !== undefined) {
        await answerForwardedReport(db, { id, response: toBinary(ReportResultsResponseSchema, response) });
        wakeup.publish({ topic: "reported", key: id, value: 0 });
      }
    } catch (error) {
      // The sender that waits for the answer gives up by itself. A report that was not taken stays for the next owner.
      if (!(error instanceof Fault)) {
        events.databaseTroubled({ part: "forwarded reports", error });
      }
    } finally {
      this.#dealtWith.add(id);
    }
  }
}
