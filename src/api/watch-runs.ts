// WatchRuns: the runs of a client as they change.

import { create } from "@bufbuild/protobuf";
import {
  type WatchRunsRequest,
  type WatchRunsResponse,
  WatchRunsResponseSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import { runsToProto } from "../engine/runs/to-proto.ts";
import { type ClientRun, listRunsToWatch } from "../engine/storage/client-run.ts";
import type { ServiceDeps } from "./deps.ts";
import { rowsPerLook, type Watch, watch } from "./watch.ts";

/**
 * Yields the changes of a client's runs. A response without a run opens the stream and keeps it alive.
 * @throws those of `watch`.
 */
export async function* watchRuns(
  deps: ServiceDeps,
  client: string,
  { sessionId, after }: WatchRunsRequest,
  reader: AbortSignal,
): AsyncGenerator<WatchRunsResponse> {
  const watched: Watch<ClientRun> = {
    client,
    scope: ["watch", client, sessionId],
    after,
    look: async (endedSince) => {
      const sessionName = sessionId || undefined;
      const { active, ended } = await listRunsToWatch(deps.db, { client, sessionName, endedSince, limit: rowsPerLook });
      const isWhole = ended.length < rowsPerLook;
      return { rows: [...ended, ...active], moreAfter: isWhole ? undefined : (ended.at(-1)?.end_time ?? undefined) };
    },
    idOf: ({ id }) => id,
    stateOf,
    settledTimeOf: (row) => row.end_time,
  };
  for await (const { cursor, rows } of watch(deps, watched, reader)) {
    if (rows.length === 0) {
      yield create(WatchRunsResponseSchema);
    }
    for (const run of await runsToProto(deps, rows)) {
      yield create(WatchRunsResponseSchema, { cursor, change: { case: "run", value: run } });
    }
  }
}

function stateOf({ status, turn, takeovers, wait_reason, cancel_request_time }: ClientRun): string {
  return [status, turn, takeovers, wait_reason, cancel_request_time?.getTime()].join(" ");
}
