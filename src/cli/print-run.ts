// Follows a run and prints its results. Asks a person at the terminal about the calls that wait for an approval.

import {
  ModelError_Cause,
  type RunCompleted,
  type RunFailed,
  type RunResult,
  RunResultSchema,
} from "#gen/runnel/v1/result_pb.js";
import { answerJson } from "./answer-json.ts";
import { decideAtTerminal } from "./approvals.ts";
import { mayAsk } from "./ask.ts";
import type { Service } from "./connect.ts";
import { followRun, noteReconnect, patienceMs } from "./follow.ts";
import { findNearestModel } from "./models.ts";
import type { Output } from "./output.ts";
import { createResultView, type TextStyle, textOf } from "./show.ts";
import { print } from "./terminal.ts";

/** Which run to print, and how. */
export interface PrintedRun {
  readonly runId: string;
  readonly after: bigint;
  readonly output: Output;
  /** Ends the printing; the run goes on. */
  readonly signal: AbortSignal;
  readonly style?: TextStyle;
  /** Whether standard output gets the run's output alone, once it is complete, and everything else is a note. */
  readonly onlyOutput?: boolean;
  /** Called with the sequence of each result that was printed. */
  readonly onSeen?: (sequence: bigint) => void;
}

/** Prints a run to its end. Returns its last result; undefined when the signal came first. */
export async function printRun(
  service: Pick<Service, "runs" | "client">,
  { runId, after, output, signal, style, onlyOutput = false, onSeen }: PrintedRun,
): Promise<RunResult | undefined> {
  const onReconnect = noteReconnect(output);
  const textStyle = onlyOutput ? noText : style;
  const view = createResultView({ isBegun: after > 0n, ...(textStyle && { style: textStyle }) });
  let last: RunResult | undefined;
  for await (const result of followRun(service.runs, { runId, after, patienceMs, signal, onReconnect })) {
    if (onlyOutput && !output.asJson) {
      await printOutput(result);
      noteLines(view(result), output);
    } else {
      await output.stream(
        () => answerJson(RunResultSchema, result),
        () => view(result),
      );
    }
    onSeen?.(result.sequence);
    last = result;
    if (result.payload.case === "approvalRequested" && mayAsk(output.asJson)) {
      await decideAtTerminal(service, result.payload.value.approvalId, output);
    }
  }
  if (last?.payload.case === "runFailed") {
    await noteFix(service, runId, last.payload.value, output);
  }
  return signal.aborted ? undefined : last;
}

const noText: TextStyle = { write: () => "", end: () => "" };

async function printOutput({ payload }: RunResult): Promise<void> {
  if (payload.case === "runCompleted") {
    await print(`${outputOfCompleted(payload.value)}\n`);
  }
}

/** Returns the output of a completed run. */
export function outputOfCompleted({ message, output }: RunCompleted): string {
  return textOf(message) || output;
}

function noteLines(text: string, output: Output): void {
  const lines = text.trim();
  if (lines !== "") {
    output.note(lines);
  }
}

/** Names the listed model that is nearest to one that its provider does not have, and the check of a wrong key. */
async function noteFix(
  service: Pick<Service, "runs" | "client">,
  runId: string,
  { modelError }: RunFailed,
  output: Output,
): Promise<void> {
  if (modelError?.cause === ModelError_Cause.AUTHENTICATION) {
    output.note("fix: check the provider's key in the settings of the service; `runnel doctor --deep` tries each");
  }
  if (modelError?.cause !== ModelError_Cause.NOT_FOUND) {
    return;
  }
  const { run } = await service.runs.getRun({ runId });
  const nearest = await findNearestModel(service, run?.model ?? "");
  if (nearest !== undefined) {
    output.note(`did you mean ${nearest}?`);
  }
}
