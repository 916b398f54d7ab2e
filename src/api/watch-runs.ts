// WatchRuns: looks at the runs of a client once a second, and yields those that have changed. A whole run is sent each time, so a
// reader that gets one twice is not misled; no order of changes has to be kept.

import { create } from "@bufbuild/protobuf";
import {
  type WatchRunsRequest,
  type WatchRunsResponse,
  WatchRunsResponseSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import { runsToProto } from "../engine/runs/to-proto.ts";
import { type ClientRun, listRunsToWatch } from "../engine/storage/client-run.ts";
import { readTimeMs } from "../platform/database/time.ts";
import type { ServiceDeps } from "./deps.ts";
import { live } from "./live.ts";

/** The time between two looks. */
const lookMs = 1_000;
/** How far a look goes back: an end is visible later than its time, but never later than a statement may take. */
const overlapMs = 15_000;
/** The maximum of active runs, and of ended runs, in a look. */
const runsPerLook = 1_000;

/**
 * Yields the changes of a client's runs. A response without a run opens the stream and keeps it alive.
 * @throws Fault CURSOR_INVALID, and RESUME.
 */
export async function* watchRuns(
  deps: ServiceDeps,
  client: string,
  request: WatchRunsRequest,
  reader: AbortSignal,
): AsyncGenerator<WatchRunsResponse> {
  const scope = ["watch", client, request.sessionId];
  const after = deps.cursors.decode(scope, request.after);
  const sinceMs = after === undefined ? await readTimeMs(deps.db) : Number(after);
  const changes = live<readonly WatchRunsResponse[]>({
    open: (signal) =>
      look(deps, {
        client,
        sessionName: request.sessionId || undefined,
        scope,
        sinceMs,
        // A reader that goes on may have missed ends that became visible late.
        fromMs: after === undefined ? sinceMs : 0,
        signal,
      }),
    empty: () => [create(WatchRunsResponseSchema)],
    clock: deps.clock,
    reader,
    drain: deps.drain,
  });
  for await (const batch of changes) {
    yield* batch;
  }
}

interface Watch {
  readonly client: string;
  readonly sessionName: string | undefined;
  readonly scope: readonly string[];
  readonly sinceMs: number;
  /** Ends before this time are not shown. */
  readonly fromMs: number;
  readonly signal: AbortSignal;
}

async function* look(
  deps: ServiceDeps,
  { client, sessionName, scope, sinceMs, fromMs, signal }: Watch,
): AsyncGenerator<readonly WatchRunsResponse[]> {
  let reachedMs = sinceMs;
  let known = new Map<string, string>();
  while (!signal.aborted) {
    const nowMs = await readTimeMs(deps.db);
    const endedSince = new Date(reachedMs - overlapMs);
    const { active, ended } = await listRunsToWatch(deps.db, { client, sessionName, endedSince, limit: runsPerLook });
    const rows = [...ended, ...active];
    const changed = rows.filter((row) => known.get(row.id) !== stateOf(row) && !isBefore(row, fromMs));
    // What a look does not see has ended before it, or is deleted.
    known = new Map(rows.map((row) => [row.id, stateOf(row)]));
    const isWhole = ended.length < runsPerLook;
    reachedMs = isWhole ? nowMs : (ended.at(-1)?.end_time?.getTime() ?? nowMs) + overlapMs;
    const cursor = deps.cursors.encode(scope, String(reachedMs));
    const runs = await runsToProto(deps, changed);
    if (runs.length > 0) {
      yield runs.map((run) => create(WatchRunsResponseSchema, { cursor, change: { case: "run", value: run } }));
    }
    if (isWhole) {
      await deps.clock.sleep(lookMs, signal);
    }
  }
}

function isBefore({ end_time: end }: ClientRun, ms: number): boolean {
  return end !== null && end.getTime() < ms;
}

/** Returns what a watch shows of a run, as a text. */
function stateOf({ status, turn, takeovers, wait_reason, cancel_request_time }: ClientRun): string {
  return [status, turn, takeovers, wait_reason, cancel_request_time?.getTime()].join(" ");
}
