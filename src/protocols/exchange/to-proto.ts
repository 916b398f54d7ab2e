// Converts exchanges to messages of the contract.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Exchange, Exchange_State, ExchangeSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import type { RunStatus } from "../../engine/storage/schema.ts";
import type { CommandResult } from "./command.ts";
import type { SessionData } from "./session-json.ts";
import type { ExchangeRow } from "./storage/exchange.ts";

const states = {
  pending: Exchange_State.WORKING,
  queued: Exchange_State.WORKING,
  running: Exchange_State.WORKING,
  waiting: Exchange_State.WAITING,
  completed: Exchange_State.COMPLETED,
  failed: Exchange_State.FAILED,
  cancelled: Exchange_State.CANCELLED,
} as const satisfies Record<RunStatus, Exchange_State>;

/** Converts an exchange. Lists leave out `last`. */
export function exchangeToProto(
  row: ExchangeRow,
  last?: { readonly results: readonly CommandResult[]; readonly readRequests: readonly string[] },
): Exchange {
  const shown: MessageInitShape<typeof ExchangeSchema> = {
    exchangeId: row.id,
    sessionId: row.id,
    runId: row.run_id,
    task: row.task,
    state: states[row.status],
    sequence: row.sequence,
    isComplete: row.is_complete,
    createTime: timestampFromDate(row.create_time),
    updateTime: timestampFromDate(updateTimeOf(row)),
    deadlineTime: timestampFromDate(row.deadline),
  };
  return create(ExchangeSchema, {
    ...shown,
    ...(last && { lastResults: [...last.results], readFileRequests: [...last.readRequests] }),
  });
}

/** Returns the data of an exchange for its export. */
export function exchangeDataOf(row: ExchangeRow, results: readonly CommandResult[]): SessionData {
  return {
    id: row.id,
    task: row.task,
    sequence: row.sequence,
    isComplete: row.is_complete,
    createTime: row.create_time,
    updateTime: updateTimeOf(row),
    results,
    readRequests: row.read_requests,
  };
}

function updateTimeOf({ update_time: updated, end_time: ended }: ExchangeRow): Date {
  return ended === null || ended < updated ? updated : ended;
}
