// StreamSession: follows the documented events of a session's latest run, or of the run that the position names.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type StreamSessionRequest,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import type { ServiceDeps } from "../../api/deps.ts";
import { live } from "../../api/live.ts";
import { requireSession } from "../../api/session-service.ts";
import { assertResultsKept } from "../../engine/log/results-kept.ts";
import { beyondEnd } from "../../engine/log/tail.ts";
import { findClientRun } from "../../engine/storage/client-run.ts";
import { isActive } from "../../engine/storage/run.ts";
import type { SessionRow } from "../../engine/storage/session.ts";
import { requireReader } from "../../platform/auth/caller.ts";
import { Fault } from "../../platform/base/fault.ts";
import { restCallNotes } from "../../platform/base/rest-call.ts";
import type { Sink } from "../../platform/base/sink.ts";
import type { Db } from "../../platform/database/database.ts";
import { parsePosition, type RunPosition, type SessionStreamDeps, streamSession } from "./stream.ts";

/** Dependencies of `followSession`. */
export type FollowDeps = SessionStreamDeps & Pick<ServiceDeps, "db" | "clock" | "drain">;

/**
 * Follows the session's events. Each batch holds the events of one or more results; an empty batch opens it or keeps it alive.
 * @throws Fault CURSOR_INVALID when `after` is not the id of an event of this session.
 */
export async function* followSession(
  deps: FollowDeps,
  request: StreamSessionRequest,
  { values, signal }: Pick<HandlerContext, "values" | "signal">,
  sink?: Sink<readonly StreamSessionResponse[]>,
): AsyncGenerator<readonly StreamSessionResponse[], void> {
  const { client } = requireReader(values, { sessionId: request.sessionId });
  const session = await requireSession(deps.db, client, request.sessionId);
  const isReconnect = restCallNotes(values)?.isReconnect === true;
  const from = parsePosition(request.after, { latestRunId: session.latest_run_id, isReconnect });
  if (from !== undefined && (await hasEverything(deps.db, client, session, from))) {
    return;
  }
  if (from === undefined && session.run_status !== null && !isActive(session.run_status)) {
    await assertResultsKept(deps.db, String(session.latest_run_id));
  }
  yield* live<readonly StreamSessionResponse[]>({
    open: (followed) => streamSession(deps, { session, from, signal: followed, sink }),
    empty: () => [],
    clock: deps.clock,
    reader: signal,
    drain: deps.drain,
  });
}

/** Yields each event as a separate message, for clients that do not read batches. */
export async function* oneByOne(
  batches: AsyncGenerator<readonly StreamSessionResponse[]>,
): AsyncGenerator<StreamSessionResponse> {
  for await (const batch of batches) {
    yield* batch.length === 0 ? [create(StreamSessionResponseSchema)] : batch;
  }
}

/** Returns true when the position is the run's terminal result: nothing is left to follow. */
async function hasEverything(db: Db, client: string, session: SessionRow, from: RunPosition): Promise<boolean> {
  const run = await findClientRun(db, { client, id: from.runId });
  if (run?.session !== session.id) {
    throw new Fault("CURSOR_INVALID", `invalid after: run ${from.runId} does not belong to this session`, {
      violations: [{ field: "after", description: "use the id of an event of this session" }],
    });
  }
  if (isActive(run.status)) {
    return false;
  }
  if (from.sequence > run.last_sequence) {
    throw beyondEnd(from.sequence, run.last_sequence);
  }
  if (from.sequence === run.last_sequence) {
    return true;
  }
  await assertResultsKept(db, run.id);
  return false;
}
