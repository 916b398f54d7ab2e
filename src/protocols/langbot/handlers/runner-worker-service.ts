// RunnerWorkerService: the calls of workers that dial in. Any replica answers any of them: offers, accepted runs and reports
// are in the database. The replica that accepted a run works on it.

import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { AgentRunContextSchema } from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import {
  type AcceptRunRequest,
  type AcceptRunResponseSchema,
  type Assignment,
  type ListenAssignmentsResponse,
  ListenAssignmentsResponseSchema,
  type PollAssignmentRequest,
  type RunnerWorkerService,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { live } from "../../../api/live.ts";
import { type Client, requireClient } from "../../../platform/auth/caller.ts";
import { over } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";
import { reasons } from "../reasons.ts";
import { assignments, type Listener } from "../runners/assignments.ts";
import { type Era, printContext } from "../runners/era.ts";
import { workerLeaseMs } from "../runners/limits.ts";
import { acceptOffer, findAccepted } from "../storage/offer.ts";
import { findRemoteRun } from "../storage/remote-run.ts";
import { findWorkerSession } from "../storage/worker-session.ts";
import type { LangbotDeps } from "./deps.ts";
import { reportResults } from "./report-results.ts";

/** Creates the handlers of RunnerWorkerService. */
export function createRunnerWorkerService(deps: LangbotDeps): ServiceImpl<typeof RunnerWorkerService> {
  return {
    listenAssignments: ({ workerSessionId, maxConcurrent }, context) =>
      listen(deps, { workerSessionId, runsMax: Math.max(1, maxConcurrent) }, context),
    pollAssignment: async (request, context) => ({ assignment: await poll(deps, request, context) }),
    acceptRun: async (request, { values }) => await accept(deps, requireClient(values), request),
    reportResults: async (request, { values }) => await reportResults(deps, requireClient(values), request),
  };
}

/** The maximum concurrent runs of a polling worker. It polls only when it can take one more. */
const pollingRunsMax = 1_000;

async function* listen(
  deps: LangbotDeps,
  { workerSessionId, runsMax }: { workerSessionId: string; runsMax: number },
  { values, signal }: Pick<HandlerContext, "values" | "signal">,
): AsyncGenerator<ListenAssignmentsResponse> {
  const listener = await requireListener(deps, requireClient(values), workerSessionId, runsMax);
  yield* live<ListenAssignmentsResponse>({
    open: (followed) => responses(assignments(deps, listener, followed)),
    empty: () => create(ListenAssignmentsResponseSchema),
    farewell: () => create(ListenAssignmentsResponseSchema, { assignment: { case: "drain", value: {} } }),
    clock: deps.clock,
    reader: signal,
    drain: deps.drain,
  });
}

async function* responses(all: AsyncGenerator<Assignment>): AsyncGenerator<ListenAssignmentsResponse> {
  for await (const { assignment } of all) {
    yield create(ListenAssignmentsResponseSchema, { assignment });
  }
}

async function poll(
  deps: LangbotDeps,
  { workerSessionId, waitSeconds }: PollAssignmentRequest,
  { values, signal }: Pick<HandlerContext, "values" | "signal">,
): Promise<Assignment | undefined> {
  const listener = await requireListener(deps, requireClient(values), workerSessionId, pollingRunsMax);
  const done = new AbortController();
  using _leaving = onAbort(AbortSignal.any([signal, deps.drain]), () => done.abort(over));
  void deps.clock.sleep(waitSeconds * 1_000, done.signal).then(() => done.abort(over));
  for await (const assignment of assignments(deps, { ...listener, offersPerPass: 1 }, done.signal)) {
    done.abort(over);
    return assignment;
  }
  return undefined;
}

async function requireListener(
  { db }: LangbotDeps,
  { client }: Client,
  session: string,
  runsMax: number,
): Promise<Listener> {
  const row = await findWorkerSession(db, { client, id: session });
  if (row === undefined) {
    throw new Fault(reasons.WORKER_SESSION_NOT_FOUND, "unknown worker_session_id: register the runners again");
  }
  return { client, session, runnerIds: row.runner_ids, runsMax };
}

async function accept(
  deps: LangbotDeps,
  { client }: Client,
  { runId, offerId, workerSessionId: session }: AcceptRunRequest,
): Promise<MessageInitShape<typeof AcceptRunResponseSchema>> {
  const { db, dispatcher, mailboxes } = deps;
  const acceptance = { runId, client, session, offerId };
  using place = dispatcher.reserveOutside();
  if (place === undefined) {
    throw new Fault("RESUME", "this replica accepts no runs now: try again", { retryAfterMs: 200 });
  }
  const run = await db.transaction().execute((trx) => acceptOffer(trx, { ...acceptance, owner: place.replicaId }));
  failpoint("accept.committed");
  if (run !== undefined) {
    // Opened before the worker can report anything.
    mailboxes.open({ runId, client, attempt: 1 });
    place.fill(run);
  } else if ((await findAccepted(db, acceptance)) === undefined) {
    throw new Fault(
      reasons.OFFER_TAKEN,
      "the offer has expired or another worker has the run: wait for the next offer",
    );
  }
  return await acceptedToProto(deps, runId);
}

async function acceptedToProto(
  { db, clock, runTokens }: LangbotDeps,
  runId: string,
): Promise<MessageInitShape<typeof AcceptRunResponseSchema>> {
  const row = await findRemoteRun(db, runId);
  if (row === undefined) {
    throw new Error(`run ${runId} was accepted but has no runner`);
  }
  const context = fromBinary(AgentRunContextSchema, row.context);
  return {
    context,
    contextJson: printContext(context, row.era as Era),
    runToken: runTokens.make({ runId, attempt: row.attempt }),
    attempt: row.attempt,
    leaseEndTime: timestampFromMs(clock.nowMs() + workerLeaseMs),
  };
}
