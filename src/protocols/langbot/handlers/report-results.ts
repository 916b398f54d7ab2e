// Passes a worker's report to the driver of its run: directly when this replica works on the run, otherwise through the
// database.
//
// P1  A report is answered only after it is durable. The answer is the decision of the replica that works on the run.
// P2  A report without the token of its run reaches nothing. It is refused before any lookup, so an unknown run gives the same
//     answer. The token is checked here, and neither stored nor passed to other replicas.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ResultDisposition, type ResultVerdictSchema } from "#gen/runnel/runner/v1/runner_service_pb.js";
import {
  type ReportResultsRequest,
  type ReportResultsResponse,
  ReportResultsResponseSchema,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { decodeResult } from "../../../engine/log/result.ts";
import { isActive, lockRun, type RunRow } from "../../../engine/storage/run.ts";
import type { Client } from "../../../platform/auth/caller.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { reasons } from "../reasons.ts";
import { reportCharsMax } from "../runners/limits.ts";
import { showType } from "../runners/results/verdict.ts";
import { findRemoteRunAccess } from "../storage/remote-run.ts";
import { appendVerdicts } from "../storage/result-verdict.ts";
import type { LangbotDeps } from "./deps.ts";

/**
 * Delivers a report and returns its verdicts. Throws Fault RUN_NOT_FOUND, ATTEMPT_STALE or PAYLOAD_TOO_LARGE when it is
 * refused.
 */
export async function reportResults(
  deps: LangbotDeps,
  { client }: Client,
  request: ReportResultsRequest,
): Promise<ReportResultsResponse> {
  assertToken(deps, request);
  assertSize(request);
  const report = { ...request, runToken: "" };
  return (await deliver(deps, client, report)) ?? (await answerLate(deps, report));
}

/** Returns undefined when the run has ended. */
async function deliver(
  deps: LangbotDeps,
  client: string,
  request: ReportResultsRequest,
): Promise<ReportResultsResponse | undefined> {
  const { runId, attempt } = request;
  const hasEnded = async (): Promise<boolean> => {
    const run = await findRemoteRunAccess(deps.db, runId);
    assertAttempt(run, { client, attempt });
    return run === undefined || !isActive(run.status);
  };
  const mailbox = deps.mailboxes.find(runId);
  if (mailbox === undefined || mailbox.isClosed) {
    return (await hasEnded()) ? undefined : await deps.forwarding.forward(request, hasEnded);
  }
  assertAttempt(mailbox.owner, { client, attempt });
  try {
    return await mailbox.deliver(deps.clock, request);
  } catch (error) {
    if (await hasEnded()) {
      deps.mailboxes.closeOf(runId);
      return undefined;
    }
    throw error;
  }
}

function assertToken({ runTokens }: LangbotDeps, { runId, attempt, runToken }: ReportResultsRequest): void {
  const proven = runTokens.read(runToken);
  if (proven?.runId !== runId) {
    throw runNotFound();
  }
  if (proven.attempt !== attempt) {
    throw attemptStale(attempt);
  }
}

function assertSize({ results }: ReportResultsRequest): void {
  const chars = results.reduce((sum, { type, data, usage = "" }) => sum + type.length + data.length + usage.length, 0);
  if (chars > reportCharsMax) {
    throw new Fault("PAYLOAD_TOO_LARGE", `results of ${chars} characters: report at most ${reportCharsMax} at a time`);
  }
}

/** Throws Fault RUN_NOT_FOUND for a run of another client, ATTEMPT_STALE for another attempt or a dialled runner. */
function assertAttempt(
  run: { readonly client: string; readonly attempt: number; readonly is_dialled?: boolean } | undefined,
  given: { readonly client: string; readonly attempt: number },
): void {
  if (run === undefined || run.client !== given.client) {
    throw runNotFound();
  }
  if (run.is_dialled === true) {
    throw new Fault(
      reasons.ATTEMPT_STALE,
      "the runner of this run is dialled: it sends its results in the response to that call",
    );
  }
  if (run.attempt !== given.attempt) {
    throw attemptStale(given.attempt);
  }
}

function runNotFound(): Fault {
  return new Fault("RUN_NOT_FOUND", "run not found: run_token must be the one that AcceptRun gave for this run_id");
}

function attemptStale(attempt: number): Fault {
  return new Fault(reasons.ATTEMPT_STALE, `attempt ${attempt} does not own this run: stop working on it`);
}

/** The maximum verdicts of a run up to which late results are recorded: their number has no bound. */
const verdictsMaxLate = 1_000;

/**
 * Ignores a report of an ended run; the verdicts say so. Throws Fault ATTEMPT_STALE when the worker lost the run by its
 * silence.
 */
async function answerLate({ db }: LangbotDeps, request: ReportResultsRequest): Promise<ReportResultsResponse> {
  const { runId, results } = request;
  const verdicts = results.map(({ sequence, type }) => ({
    sequence: Number(sequence),
    type: showType(type),
    disposition: "ignored_after_terminal",
    diagnostics: [],
  }));
  await db.transaction().execute(async (trx) => {
    if (endedBySilence(await lockRun(trx, runId))) {
      throw new Fault(
        reasons.ATTEMPT_STALE,
        "the worker was silent for too long and has lost this run: stop working on it",
      );
    }
    await appendVerdicts(trx, runId, verdicts, verdictsMaxLate);
  });
  const disposition = ResultDisposition.IGNORED_AFTER_TERMINAL;
  return create(ReportResultsResponseSchema, {
    ended: true,
    verdicts: results.map(
      ({ sequence, type }): MessageInitShape<typeof ResultVerdictSchema> => ({ sequence, type, disposition }),
    ),
  });
}

/** Whether the run ended because its worker was silent. A runner's own result with the same code has a sequence number. */
function endedBySilence(run: RunRow | undefined): boolean {
  const end = run?.terminal ? decodeResult(run.terminal) : undefined;
  return (
    end?.payload.case === "runFailed" && end.payload.value.code === "runner.disconnected" && end.runnerSequence === 0n
  );
}
