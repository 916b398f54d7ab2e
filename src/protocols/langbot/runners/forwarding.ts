// Reports between replicas: the one that a report reached writes it down, the one that works on the run answers it there.
//
// F1  A report is answered once: the answer to a report that nobody waits for any more is written nevertheless, and swept away
//     later; whoever sends the report again gets the answer of a run that knows it.
// F2  A report that ended its run is answered by what its replica decided, as long as that replica lives.

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

/** The net under lost wake-ups. */
const pollMs = 500;
/** Beyond the time that a mailbox gives its driver. */
const answerMs = 12_000;
/** A replica that has ended a run writes its answer at once. One that has died since, or never took the report, writes none. */
const endedAnswerMs = 2_000;

export interface ForwardingDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly wakeup: Wakeup;
  readonly events: Pick<Events, "databaseTroubled">;
  readonly mailboxes: Mailboxes;
}

export class Forwarding {
  readonly #deps: ForwardingDeps;
  readonly #loop: Loop;
  readonly #unsubscribe: (() => void)[] = [];
  /** Reports that were given to a mailbox here. */
  readonly #delivering = new Set<string>();
  /** Those of them that are dealt with: a list that is asked for from now on has them no more, unless they are to be taken again. */
  readonly #dealtWith = new Set<string>();

  constructor(deps: ForwardingDeps) {
    this.#deps = deps;
    this.#loop = new Loop({
      clock: deps.clock,
      everyMs: pollMs,
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
    this.#loop.open();
  }

  async close(): Promise<void> {
    for (const leave of this.#unsubscribe) {
      leave();
    }
    await this.#loop.close();
  }

  /**
   * Resolves with what the replica that works on the run answers, or with undefined when the run has ended and nobody answers;
   * throws RESUME when nobody answers in time.
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
    throw new Fault("RESUME", "nobody took the report in time: send it again", { retryAfterMs: 500 });
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

  /** A mailbox takes reports in the order in which they are delivered, which is that of the list. */
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
      // Whoever waits for the answer gives up by itself; a report that was not taken stays for the next owner.
      if (!(error instanceof Fault)) {
        events.databaseTroubled({ part: "forwarded reports", error });
      }
    } finally {
      this.#dealtWith.add(id);
    }
  }
}
