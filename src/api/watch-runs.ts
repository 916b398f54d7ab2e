// WatchRuns: the runs of a client as they change.

import { create } from "@bufbuild/protobuf";
import {
  type WatchRunsRequest,
  type WatchRunsResponse,
  WatchRunsResponseSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import { runsToProto } from "../engine/runs/to-proto.ts";
import { findVisibleRuns, listRunsToWatch, type WatchedRun } from "../engine/storage/client-run.ts";
import type { ServiceDeps } from "./deps.ts";
import { rowsPerLook, type Watch, watch } from "./watch.ts";

/**
 * Yields the changes of a client's runs.
 * @throws those of `watch`.
 */
export function watchRuns(
  deps: ServiceDeps,
  client: string,
  { sessionId, after, outputCharsMax }: WatchRunsRequest,
  reader: AbortSignal,
): AsyncGenerator<WatchRunsResponse> {
  const watched: Watch<WatchedRun, WatchRunsResponse> = {
    client,
    scope: ["watch", client, sessionId],
    after,
    look: async (endedSince) => {
      const sessionName = sessionId || undefined;
      const { active, ended } = await listRunsToWatch(deps.db, { client, sessionName, endedSince, limit: rowsPerLook });
      const isWhole = ended.length < rowsPerLook;
      return { rows: [...ended, ...active], moreAfter: isWhole ? undefined : (ended.at(-1)?.end_time ?? undefined) };
    },
    idOf,
    stateOf,
    settledTimeOf: (row) => row.end_time,
    toMessages: async (changed, cursor) => {
      const visible = await findVisibleRuns(deps.db, changed.map(idOf), outputCharsMax);
      const rows = new Map(visible.map((row) => [row.id, row]));
      const runs = await runsToProto(
        deps,
        changed.flatMap(({ id }) => rows.get(id) ?? []),
        outputCharsMax,
      );
      return runs.map((value) => create(WatchRunsResponseSchema, { cursor, change: { case: "run", value } }));
    },
    empty: () => create(WatchRunsResponseSchema),
  };
  return watch(deps, watched, reader);
}

function idOf({ id }: WatchedRun): string {
  return id;
}

function stateOf({ status, turn, takeovers, wait_reason, cancel_request_time }: WatchedRun): string {
  return [status, turn, takeovers, wait_reason, cancel_request_time?.getTime()].join(" ");
}
