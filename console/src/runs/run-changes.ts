// The runs of this client as they change.

import { createClient } from "@connectrpc/connect";
import { RunService, WatchRunsResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { transport } from "../api/transport.ts";
import { Changes } from "../lib/changes.ts";

const service = createClient(RunService, transport);

/** The changes that this page knows. */
export const runChanges = new Changes({
  schema: WatchRunsResponseSchema,
  open: (after, signal) => service.watchRuns({ after }, { signal, timeoutMs: 0 }),
  itemOf: ({ change }) => (change.case === "run" ? change.value : undefined),
  idOf: ({ runId }) => runId,
});
