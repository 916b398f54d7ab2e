// An evaluation as JSON: the settings of the repetitions, and each run beside its repetition and its mark.

import { Code, ConnectError } from "@connectrpc/connect";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { stateNames } from "../../../src/platform/run-view/state-names.ts";
import { failureText } from "../lib/failure-text.ts";
import { eachOfFew } from "../lib/few.ts";
import { msOf } from "../lib/format.ts";
import type { Outcome } from "./evaluation-row.tsx";
import type { Plan } from "./plan.ts";
import { runs } from "./repeat.ts";

/** Returns the text of the file. The runs are as they are now. */
export async function exportEvaluation(plan: Plan, outcomes: ReadonlyMap<number, Outcome>): Promise<string> {
  const repetitions = plan.sources.map((_, index) => outcomes.get(index));
  const ids = [...plan.sources, ...repetitions.flatMap((outcome) => idOf(outcome) ?? [])];
  const read = new Map<string, Run | undefined>();
  await eachOfFew(ids, async (runId) => read.set(runId, await readRun(runId)));
  const jsonOf = (runId: string | undefined) => {
    const run = runId === undefined ? undefined : read.get(runId);
    return run === undefined ? null : describe(run);
  };
  const { id, model, systemPrompt } = plan;
  const rows = plan.sources.map((source, index) => {
    const outcome = repetitions[index];
    const started = outcome !== undefined && "runId" in outcome ? outcome : undefined;
    return {
      original: jsonOf(source),
      repetition: jsonOf(started?.runId),
      mark: started?.verdict.mark ?? "",
      note: started?.verdict.note ?? "",
      ...(outcome !== undefined && "error" in outcome && { not_started: failureText(outcome.error) }),
    };
  });
  return JSON.stringify({ evaluation: id, model, system_prompt: systemPrompt, runs: rows }, null, 2);
}

/** Returns undefined for a run that is deleted. */
async function readRun(runId: string): Promise<Run | undefined> {
  try {
    return (await runs.getRun({ runId })).run;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) {
      return undefined;
    }
    throw error;
  }
}

/** Unknown numbers are null. */
function describe({ runId, state, model, inputExcerpt, output, failureCode, error, usage, startTime, endTime }: Run) {
  const [started, ended] = [startTime, endTime].map(msOf);
  return {
    run_id: runId,
    state: stateNames[state],
    model,
    input_excerpt: inputExcerpt,
    output,
    failure_code: failureCode,
    error,
    total_tokens: numberOf(usage?.totalTokens),
    cost_micro_usd: numberOf(usage?.costMicroUsd),
    duration_ms: started === undefined || ended === undefined ? null : ended - started,
  };
}

function numberOf(count: bigint | undefined): number | null {
  return count === undefined ? null : Number(count);
}

function idOf(outcome: Outcome | undefined): string | undefined {
  return outcome !== undefined && "runId" in outcome ? outcome.runId : undefined;
}
