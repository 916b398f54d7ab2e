// Streams a session's latest run as events: waits for a first run if necessary, follows its log, ends with `done`.

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

/** Dependencies of `streamSession`. */
export interface SessionStreamDeps extends TailSource {
  readonly firstRuns: FirstRuns;
}

/** A position in the log of one run. */
export interface RunPosition {
  readonly runId: string;
  readonly sequence: number;
}

/** The session to stream and where to start. */
export interface SessionStreamRequest {
  readonly session: SessionRow;
  readonly from: RunPosition | undefined;
  readonly signal: AbortSignal;
  /** Takes events directly; they are then not yielded. It works like the sink of `tail`, which takes log entries. */
  readonly sink?: Sink<readonly StreamSessionResponse[]> | undefined;
}

/** Yields the events of the session's run in batches. Never yields an empty batch. */
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

/** The terminal event of a session that was deleted before its first run. It has no position in a log, so it has no id. */
const neverRan = create(StreamSessionResponseSchema, {
  event: { case: "done", value: { status: Session_State.CANCELLED } },
});

const eventsOf = shared((entries: readonly LogEntry[]) => entries.flatMap((entry) => sessionEvents(entry.result)));

/**
 * Reads the id of an event: `<run_id>.<sequence>`, or a bare sequence of the latest run.
 * Returns undefined when the stream starts at the beginning. A session without a run has no events, so there every valid id
 * gives undefined; so does any text that a browser sends when it reconnects.
 * @throws Fault CURSOR_INVALID when the text is not such an id.
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
