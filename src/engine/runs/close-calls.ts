// The results of calls that a run leaves open when it ends: every started call gets its one result, also when nobody is left
// to make it.

import { create, fromBinary } from "@bufbuild/protobuf";
import { ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import type { Transaction } from "../../platform/database/database.ts";
import { decodeResult, type ResultInit } from "../log/result.ts";
import { readResults } from "../storage/run-result.ts";
import { readOpenToolCalls, type ToolCallRow } from "../storage/tool-call.ts";

/** `last` is the run's last sequence; a call that the results of its `ending` complete is not closed twice. */
export async function closeCalls(
  trx: Transaction,
  { runId, last, ending }: { runId: string; last: number; ending: readonly ResultInit[] },
): Promise<ResultInit[]> {
  const calls = (await readOpenToolCalls(trx, runId)).map(closeToolCall);
  if (calls.length > 0) {
    return calls;
  }
  const completed = new Set(ending.map(completedCallOf));
  return (await closeLastCall(trx, runId, last)).filter((result) => !completed.has(completedCallOf(result)));
}

function completedCallOf({ payload }: ResultInit): string | undefined {
  return payload?.case === "toolCallCompleted" ? payload.value.toolCallId : undefined;
}

function closeToolCall(row: ToolCallRow): ResultInit {
  const { id, name } = fromBinary(ToolCallSchema, row.call);
  const value = row.outcome === null ? interrupted(id, name) : fromBinary(ToolCallCompletedSchema, row.outcome);
  return { payload: { case: "toolCallCompleted", value } };
}

/** A driver that keeps no rows of its calls makes them one by one: the last result has begun the one that is open. */
async function closeLastCall(trx: Transaction, runId: string, last: number): Promise<ResultInit[]> {
  const payloads = (await readResults(trx, { runId, after: last - 1, limit: 1 })).map(
    ({ payload }) => decodeResult(payload).payload,
  );
  return payloads.flatMap((payload) =>
    payload.case === "toolCallStarted"
      ? [
          {
            payload: {
              case: "toolCallCompleted",
              value: interrupted(payload.value.toolCallId, payload.value.toolName),
            },
          },
        ]
      : [],
  );
}

function interrupted(toolCallId: string, toolName: string) {
  return create(ToolCallCompletedSchema, {
    toolCallId,
    toolName,
    error: "interrupted: the run ended before the call did",
  });
}
