// Converts a session row to the contract. The state of the latest run comes from its status and its terminal result.

import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AgentSchema, ForkSchema, type Session, Session_State, SessionSchema } from "#gen/runnel/v1/session_pb.js";
import { decodeResult } from "../log/result.ts";
import type { RunStatus } from "../storage/schema.ts";
import type { ListedSession, SessionWithRun } from "../storage/session.ts";
import { completedText } from "./message-text.ts";

/** The documented statuses show queued and waiting as running. */
const stateOfRun = {
  pending: Session_State.RUNNING,
  queued: Session_State.RUNNING,
  running: Session_State.RUNNING,
  waiting: Session_State.RUNNING,
  completed: Session_State.COMPLETED,
  failed: Session_State.FAILED,
  cancelled: Session_State.CANCELLED,
} as const satisfies Record<RunStatus, Session_State>;

/** Returns the statuses of latest runs that give a session this state; null is that of a session without a run. */
export function statusesOf(state: Session_State): readonly (RunStatus | null)[] {
  const runStatuses = Object.keys(stateOfRun) as RunStatus[];
  return state === Session_State.CREATED ? [null] : runStatuses.filter((status) => stateOfRun[status] === state);
}

/** Returns a session as a list shows it. */
export function listedToProto(row: ListedSession): Session {
  return { ...sessionToProto(row), changeTime: timestampFromDate(row.change_time), runCount: row.run_count };
}

/** Returns a session with the state of its latest run. */
export function sessionToProto(row: SessionWithRun): Session {
  const agent = fromBinary(AgentSchema, row.agent);
  return create(SessionSchema, {
    sessionId: row.name,
    name: agent.name,
    model: agent.model,
    status: row.run_status === null ? Session_State.CREATED : stateOfRun[row.run_status],
    createdAt: timestampFromDate(row.create_time),
    latestRunId: row.latest_run_id ?? "",
    turns: row.run_turn ?? 0,
    annotations: row.annotations ?? "",
    ...(row.fork !== null && { fork: fromBinary(ForkSchema, row.fork) }),
    ...(row.run_terminal !== null && terminalToProto(row.run_terminal)),
  });
}

/** Returns the fields of a session that a run's terminal result gives. */
export function terminalToProto(bytes: Uint8Array): MessageInitShape<typeof SessionSchema> {
  const { payload, usage } = decodeResult(bytes);
  const used = usage === undefined ? {} : { usage };
  if (payload.case === "runCompleted") {
    const { turns, durationMs } = payload.value;
    return { ...used, turns, durationMs, output: completedText(payload.value) };
  }
  if (payload.case === "runFailed") {
    const { turns, durationMs, output, error } = payload.value;
    return { ...used, turns, durationMs, output, error };
  }
  return used;
}
