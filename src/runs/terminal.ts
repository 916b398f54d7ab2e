// The one function that ends a run. The supervisor, the cancel of a run that nobody holds, and the reaper call it under
// the lock of the run's row: the first wins, and nothing comes after it.

import { create, fromBinary } from "@bufbuild/protobuf";
import { ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import type { Clock } from "../base/clock.ts";
import { failpoint } from "../base/failpoint.ts";
import { encodeResult, type LogEntry, type ResultInit } from "../runlog/result.ts";
import type { Transaction } from "../storage/database.ts";
import { finishRun, isActive, type RunRow } from "../storage/run.ts";
import { insertResults, lastSequence } from "../storage/run-result.ts";
import { readOpenToolCalls, type ToolCallRow } from "../storage/tool-call.ts";
import type { CompletedEnd, FailedEnd } from "./driver.ts";
import { readPartialOutput } from "./partial-output.ts";

export const cancelled: FailedEnd = { kind: "failed", code: "cancelled", error: "context canceled", retryable: false };

export const timedOut: FailedEnd = {
  kind: "failed",
  code: "runner.timeout",
  error: "context deadline exceeded",
  retryable: true,
};

/** Ends a run whose row is locked. Returns what to announce after the commit; nothing when the run had ended already. */
export async function endRun(
  trx: Transaction,
  args: { run: RunRow; end: CompletedEnd | FailedEnd; clock: Clock },
): Promise<LogEntry[]> {
  const { run, end } = args;
  if (!isActive(run.status)) {
    return [];
  }
  const turns = Math.max(end.turns ?? 0, run.turn);
  const results = [
    ...(await readOpenToolCalls(trx, run.id)).map(closeToolCall),
    ...(end.kind === "completed" ? (end.results ?? []) : []),
    await terminalResult(trx, run, end, turns),
  ];
  const first = (await lastSequence(trx, run.id)) + 1;
  const timeMs = args.clock.nowMs();
  const entries = results.map((init, index) => encodeResult(init, { runId: run.id, sequence: first + index, timeMs }));
  await insertResults(
    trx,
    entries.map(({ sequence, bytes }) => ({ runId: run.id, sequence, epoch: run.epoch, payload: bytes })),
  );
  await finish(trx, run, end, turns, entries);
  failpoint("terminal.written");
  return entries;
}

async function finish(
  trx: Transaction,
  run: RunRow,
  end: CompletedEnd | FailedEnd,
  turn: number,
  entries: readonly LogEntry[],
): Promise<void> {
  const last = entries.at(-1);
  if (last === undefined) {
    throw new Error("a run ends with a terminal result");
  }
  await finishRun(trx, { id: run.id, status: endStatus(end), turn, sequence: last.sequence, terminal: last.bytes });
}

function endStatus(end: CompletedEnd | FailedEnd): "completed" | "failed" | "cancelled" {
  if (end.kind === "completed") {
    return "completed";
  }
  return end.code === cancelled.code ? "cancelled" : "failed";
}

async function terminalResult(
  trx: Transaction,
  run: RunRow,
  end: CompletedEnd | FailedEnd,
  turns: number,
): Promise<ResultInit> {
  const durationMs = BigInt(Math.max(0, Math.round(run.age_ms)));
  const usage = end.usage === undefined ? {} : { usage: end.usage };
  if (end.kind === "completed") {
    const { finishReason, message } = end;
    return { ...usage, payload: { case: "runCompleted", value: { finishReason, message, turns, durationMs } } };
  }
  const { code, error, retryable } = end;
  const output = await readPartialOutput(trx, run.id);
  return { ...usage, payload: { case: "runFailed", value: { code, error, retryable, output, turns, durationMs } } };
}

/** Every started call gets its one result, also when nobody is left to make it. */
function closeToolCall(row: ToolCallRow): ResultInit {
  const call = fromBinary(ToolCallSchema, row.call);
  const value =
    row.outcome === null
      ? create(ToolCallCompletedSchema, {
          toolCallId: call.id,
          toolName: call.name,
          error: "interrupted: the run ended before the call did",
        })
      : fromBinary(ToolCallCompletedSchema, row.outcome);
  return { payload: { case: "toolCallCompleted", value } };
}
