// Turns a report into the steps that make it durable, and into its answer.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ResultDisposition, type ResultVerdictSchema } from "#gen/runnel/runner/v1/runner_service_pb.js";
import {
  type ReportResultsResponse,
  ReportResultsResponseSchema,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { CompletedEnd, DriverStep, FailedEnd, WriteOwn } from "../../../engine/runs/driver.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { MediaTaker } from "../runners/inline-media.ts";
import type { ReportedResults } from "../runners/mailbox.ts";
import type { RemoteRun } from "../runners/remote-run.ts";
import type { RunnerEnd } from "../runners/results/effect.ts";
import type { IngestOutcome } from "../runners/results/ingest.ts";
import type { Disposition, Verdict } from "../runners/results/verdict.ts";
import { conversationKey, stateKey } from "../runners/scope.ts";
import { applyReported, type ReportedEffects } from "./effects.ts";

/** A report that the Ingest has decided about. */
export interface TakenReport {
  /** The steps that make the report durable. Empty when it has an end, which does that too. */
  readonly steps: readonly DriverStep[];
  readonly end: CompletedEnd | FailedEnd | undefined;
  /** Returns the answer, to be sent when the report is durable. */
  response(status: RunStatus): ReportResultsResponse;
}

/** The state of the run when the answer is given. */
export interface RunStatus {
  readonly cancelRequested: boolean;
  readonly ended: boolean;
  readonly leaseEndMs: number;
}

/** Decides about a report. Nothing is durable until its steps or its end are written. */
export async function take(
  run: RemoteRun,
  { results, finished }: ReportedResults,
  { nowMs, isCancelled }: { readonly nowMs: number; readonly isCancelled: boolean },
): Promise<TakenReport> {
  await run.artifactIds.claim(results);
  const outcome = run.ingest.take(results, { isCancelled });
  const { ackedThrough } = run.ingest;
  const reported = effectsOf(run, outcome, nowMs);
  const end = endOf(outcome, finished && !run.ingest.hasEnded);
  return {
    steps: end === undefined ? stepsOf(outcome, reported) : [],
    end: end && { ...end, results: outcome.results, ...(reported && { own: writeOwn(reported) }) },
    response: ({ cancelRequested, ended, leaseEndMs }) =>
      create(ReportResultsResponseSchema, {
        ackedThrough: BigInt(ackedThrough),
        verdicts: outcome.verdicts.map(verdictToRow),
        cancelRequested,
        ended,
        ...(!ended && { leaseEndTime: timestampFromMs(leaseEndMs) }),
      }),
  };
}

/** Results alone are appended, which is faster. Effects are committed in one transaction with their results. */
function stepsOf({ results }: IngestOutcome, reported: ReportedEffects | undefined): DriverStep[] {
  if (reported !== undefined) {
    return [{ kind: "commit", results, effects: { own: writeOwn(reported) } }];
  }
  return results.length === 0
    ? []
    : [...results.map((result): DriverStep => ({ kind: "append", result })), { kind: "flush" }];
}

function writeOwn(reported: ReportedEffects): WriteOwn {
  return (trx, { runId }) => applyReported(trx, runId, reported);
}

/** Returns undefined when only entries of the log change. */
function effectsOf({ scope }: RemoteRun, { effects, kept }: IngestOutcome, nowMs: number): ReportedEffects | undefined {
  if (effects.length === 0 && kept.length === 0) {
    return undefined;
  }
  const { client, runnerId, eventId } = scope;
  const conversation = conversationKey(scope);
  // Images and files of messages are stored once, as artifacts of the conversation.
  const taker = new MediaTaker({ newId: () => newUuid(nowMs), source: "runner" });
  const messages = effects.flatMap((effect) =>
    effect.kind === "history" && conversation !== undefined
      ? [{ role: effect.role, text: effect.text, json: taker.takeMessage(effect.message) }]
      : [],
  );
  return {
    client,
    runnerId,
    eventId,
    conversation,
    states: effects.flatMap((effect) => {
      const owner = effect.kind === "state" ? stateKey(scope, effect.scope) : undefined;
      return effect.kind === "state" && owner !== undefined ? [{ owner, key: effect.key, value: effect.value }] : [];
    }),
    artifacts: [
      ...effects.flatMap((effect) => (effect.kind === "artifact" ? [{ ...effect, artifactType: effect.type }] : [])),
      ...taker.media.map((media) => ({ ...media, metadata: "{}" })),
    ],
    messages,
    approvals: effects.flatMap((effect) => (effect.kind === "approval" ? [effect] : [])),
    verdicts: kept.map((verdict) => ({ ...verdict, sequence: Number(verdict.sequence) })),
    nowMs,
  };
}

const noTerminal: FailedEnd = {
  kind: "failed",
  code: "runner.no_terminal",
  error: "the runner ended without run.completed or run.failed",
  retryable: false,
};

function endOf({ end }: IngestOutcome, endsSilently: boolean): CompletedEnd | FailedEnd | undefined {
  if (end !== undefined) {
    return endOfRunner(end);
  }
  return endsSilently ? noTerminal : undefined;
}

function endOfRunner({ usage, runnerSequence, ...end }: RunnerEnd): CompletedEnd | FailedEnd {
  const counted = { runnerSequence, ...(usage && { usage }) };
  if (end.kind === "failed") {
    return { ...counted, kind: "failed", code: end.code, error: end.error, retryable: end.retryable };
  }
  return {
    ...counted,
    kind: "completed",
    finishReason: end.finishReason,
    message: end.message,
    ...(end.output !== undefined && { output: end.output }),
    turns: 0,
  };
}

const dispositions = {
  applied: ResultDisposition.APPLIED,
  telemetry: ResultDisposition.TELEMETRY,
  ignored_unknown: ResultDisposition.IGNORED_UNKNOWN,
  dropped_invalid: ResultDisposition.DROPPED_INVALID,
  dropped_duplicate: ResultDisposition.DROPPED_DUPLICATE,
  refused_policy: ResultDisposition.REFUSED_POLICY,
  ignored_after_terminal: ResultDisposition.IGNORED_AFTER_TERMINAL,
} as const satisfies Record<Disposition, ResultDisposition>;

function verdictToRow({
  sequence,
  type,
  disposition,
  diagnostics,
}: Verdict): MessageInitShape<typeof ResultVerdictSchema> {
  return { sequence, type, disposition: dispositions[disposition], diagnostics: [...diagnostics] };
}
