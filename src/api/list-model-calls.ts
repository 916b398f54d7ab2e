// ListModelCalls: the kept calls of models of a run.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type ModelCall, ModelCallSchema } from "#gen/runnel/v1/model_call_pb.js";
import type { ListModelCallsRequest } from "#gen/runnel/v1/run_service_pb.js";
import { listModelCalls as listRows, type ModelCallRow } from "../agent/model-calls/storage/model-call.ts";
import type { ServiceDeps } from "./deps.ts";
import { pageSize } from "./page.ts";

/** A page ends once it has this much. A call may have twice the maximum of `providers.kept_call_bytes`, and a message 4 MiB. */
const pageBytesMax = 1_048_576;

/** Returns a page of the calls of a run. */
export async function listModelCalls(
  { db, cursors }: Pick<ServiceDeps, "db" | "cursors">,
  run: { readonly id: string; readonly client: string },
  { turn, pageSize: requested, pageToken }: ListModelCallsRequest,
): Promise<{ modelCalls: ModelCall[]; nextPageToken: string }> {
  const scope = ["model calls", run.client, run.id, String(turn)];
  const { rows, hasMore } = await listRows(db, {
    runId: run.id,
    turn: turn === 0 ? undefined : turn,
    after: cursors.decode(scope, pageToken),
    rowsMax: pageSize(requested),
    bytesMax: pageBytesMax,
  });
  const last = rows.at(-1);
  return {
    modelCalls: rows.map(toProto),
    nextPageToken: hasMore && last !== undefined ? cursors.encode(scope, last.id) : "",
  };
}

function toProto(row: ModelCallRow): ModelCall {
  return create(ModelCallSchema, {
    ...{ callId: row.id, turn: row.turn, provider: row.provider, model: row.model, path: row.path },
    ...{ createTime: timestampFromDate(row.create_time), durationMs: BigInt(row.duration_ms) },
    ...{ requestHeaders: row.request_headers, answerHeaders: row.answer_headers },
    ...{ request: row.request, requestSizeBytes: BigInt(row.request_bytes), requestCut: row.is_request_cut },
    ...{
      status: row.status,
      answer: row.answer,
      answerSizeBytes: BigInt(row.answer_bytes),
      answerCut: row.is_answer_cut,
    },
    error: row.error,
  });
}
