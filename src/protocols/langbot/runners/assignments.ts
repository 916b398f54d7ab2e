// The assignments of a listening worker: offers of runs that it may take, and cancellations of runs that it has.
//
// A1  An offer is written before it is sent. So no two workers have one run offered at the same time, on any replica.
// A2  A worker gets no more offers than its maximum of concurrent runs, and a runner no more than its quota.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Assignment, AssignmentSchema } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { Wakeup } from "../../../engine/log/wakeup.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";
import type { Db } from "../../../platform/database/database.ts";
import { listCancelledOf, type OfferedRun, offerRuns } from "../storage/offer.ts";
import { touchWorkerSession } from "../storage/worker-session.ts";

/** The polling interval. It covers lost wake-ups, and finds expired offers. */
const pollMs = 1_000;
/** The lifetime of an offer. If it is not accepted by then, another worker gets it. */
const offerMs = 10_000;
const offersPerPassDefault = 16;
/** How often a listening session records that it is alive. */
const touchMs = 5_000;

/** Dependencies of the assignments. */
export interface AssignmentDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly wakeup: Wakeup;
  /** The maximum concurrent runs of a runner. */
  readonly runnerRunsMax: number;
}

/** A worker session that listens for assignments. */
export interface Listener {
  readonly client: string;
  readonly session: string;
  readonly runnerIds: readonly string[];
  /** The maximum concurrent runs of the worker. */
  readonly runsMax: number;
  /** The maximum offers that are made before the first is sent. 1 for a listener that takes only one. */
  readonly offersPerPass?: number;
}

/** Yields assignments as they appear, until the signal aborts. */
export async function* assignments(
  deps: AssignmentDeps,
  listener: Listener,
  signal: AbortSignal,
): AsyncGenerator<Assignment> {
  const { db, clock, wakeup } = deps;
  let wake = new AbortController();
  const unsubscribe = [
    wakeup.subscribe("offer", () => wake.abort(over)),
    wakeup.subscribe("cancel", () => wake.abort(over)),
    wakeup.onGap(() => wake.abort(over)),
  ];
  using _leaving = onAbort(signal, () => wake.abort(over));
  const announced = new Set<string>();
  let touchedMs = Number.NEGATIVE_INFINITY;
  try {
    while (!signal.aborted) {
      wake = new AbortController();
      if (clock.monotonicMs() - touchedMs >= touchMs) {
        touchedMs = clock.monotonicMs();
        await touchWorkerSession(db, listener.session);
      }
      yield* offersFor(deps, listener, signal);
      yield* cancellationsFor(db, listener.session, announced);
      await clock.sleep(pollMs, AbortSignal.any([wake.signal, signal]));
    }
  } finally {
    for (const leave of unsubscribe) {
      leave();
    }
  }
}

async function* offersFor(
  { db, runnerRunsMax }: AssignmentDeps,
  { client, session, runnerIds, runsMax, offersPerPass = offersPerPassDefault }: Listener,
  signal: AbortSignal,
): AsyncGenerator<Assignment> {
  let offered: OfferedRun[];
  do {
    offered = await offerRuns(db, {
      client,
      session,
      runnerIds,
      sessionMax: runsMax,
      runnerMax: runnerRunsMax,
      limit: offersPerPass,
      offerMs,
    });
    failpoint("offer.committed");
    yield* offered.map(offerToProto);
  } while (offered.length === offersPerPass && !signal.aborted);
}

function offerToProto({ run_id: runId, offer_id: offerId, runner_id: runnerId, offer_until }: OfferedRun): Assignment {
  const value = { runId, offerId, runnerId, expireTime: timestampFromDate(offer_until) };
  return create(AssignmentSchema, { assignment: { case: "offer", value } });
}

/** Yields each cancellation once to a listener. The worker also sees it in the answer to its next report. */
async function* cancellationsFor(db: Db, session: string, announced: Set<string>): AsyncGenerator<Assignment> {
  const cancelled = await listCancelledOf(db, session);
  for (const runId of cancelled.filter((each) => !announced.has(each))) {
    announced.add(runId);
    yield create(AssignmentSchema, { assignment: { case: "cancel", value: { runId } } });
  }
  for (const runId of announced) {
    if (!cancelled.includes(runId)) {
      announced.delete(runId);
    }
  }
}
