// A session's latest run as events: waits for the run when there is none, follows its log, ends with `done`.

import { create } from "@bufbuild/protobuf";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { type StreamSessionResponse, StreamSessionResponseSchema } from "#gen/runnel/v1/session_service_pb.js";
import type { LogEntry } from "../../engine/log/result.ts";
import { type TailSource, tail } from "../../engine/log/tail.ts";
import type { FirstRuns } from "../../engine/sessions/first-runs.ts";
import type { SessionRow } from "../../engine/storage/session.ts";
import { Fault } from "../../platform/base/fault.ts";
import { shared } from "../../platform/base/shared.ts";
import { mapSink, type Sink } from "../../platform/base/sink.ts";
import { sessionEvents } from "./session-events.ts";

export interface SessionStreamDeps extends TailSource {
  readonly firstRuns: FirstRuns;
}

/** A place in the log of one run. */
export interface RunPosition {
  readonly runId: string;
  readonly sequence: number;
}

export interface SessionStreamRequest {
  readonly session: SessionRow;
  readonly from: RunPosition | undefined;
  readonly signal: AbortSignal;
  /** Takes events that are not yielded then, as that of a tail does entries. */
  readonly sink?: Sink<readonly StreamSessionResponse[]> | undefined;
}

/** Yields no empty batch. */
export async function* streamSession(
  deps: SessionStreamDeps,
  request: SessionStreamRequest,
): AsyncGenerator<readonly StreamSessionResponse[]> {
  const { session, signal, sink } = request;
  const runId = request.from?.runId ?? session.latest_run_id ?? (await deps.firstRuns.of(session, signal));
  if (runId === undefined) {
    return;
  }
  if (runId === null) {
    yield [neverRan];
    return;
  }
  const inStep = sink && mapSink(sink, eventsOf);
  for await (const entries of tail(deps, { runId, after: request.from?.sequence ?? 0, signal, sink: inStep })) {
    const events = eventsOf(entries);
    if (events.length > 0) {
      yield events;
    }
  }
}

/** The end of a session that went before its first message. It has no place in any log, and so no id. */
const neverRan = create(StreamSessionResponseSchema, {
  event: { case: "done", value: { status: Session_State.CANCELLED } },
});

const eventsOf = shared((entries: readonly LogEntry[]) => entries.flatMap((entry) => sessionEvents(entry.result)));

/**
 * Reads the id of an event: `<run_id>.<sequence>`, or a bare sequence of the latest run. Undefined means from the start. A
 * session without a run has no events, so there any id means that, and so does whatever a browser sends when it reconnects.
 */
export function parsePosition(
  after: string,
  { latestRunId, isReconnect }: { readonly latestRunId: string | null; readonly isReconnect: boolean },
): RunPosition | undefined {
  if (after === "") {
    return undefined;
  }
  const match = /^(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.)?(\d{1,15})$/.exec(after);
  if (latestRunId === null && (match !== null || isReconnect)) {
    return undefined;
  }
  const runId = match?.[1] ?? latestRunId;
  if (match === null || runId === null) {
    throw new Fault("CURSOR_INVALID", `invalid after: "${after}" is not the id of an event of this session`, {
      violations: [{ field: "after", description: "use the id of an event: <run_id>.<sequence>" }],
    });
  }
  return { runId, sequence: Number(match[2]) };
}
