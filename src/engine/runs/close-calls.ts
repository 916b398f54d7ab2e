// Makes the results of tool calls that are open when their run ends: every started call gets exactly one result, even without a
// driver left to make it.

import { create, fromBinary } from "@bufbuild/protobuf";
import { ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import type { Transaction } from "../../platform/database/database.ts";
import { decodeResult, type ResultInit } from "../log/result.ts";
import { readResults } from "../storage/run-result.ts";
import { readOpenToolCalls, type ToolCallRow } from "../storage/tool-call.ts";

/**
 * Returns the results of all open calls. `last` is the run's last sequence. A call that is completed in `ending` is not closed
 * twice.
 */
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

/**
 * Closes the call of a driver that stores no rows of its calls. It makes them one by one, so an open call began with the last
 * result.
 */
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
