// The runs of this client as they change.

import { watchRuns } from "../api/list-calls.ts";
import { Changes } from "../lib/changes.ts";

/** Rows show less of an output, which may have megabytes. */
export const shortOutput = { outputCharsMax: 200 } as const;

/** The changes that this page knows. */
export const runChanges = new Changes({
  method: watchRuns,
  itemOf: ({ change }) => (change.case === "run" ? change.value : undefined),
  idOf: ({ runId }) => runId,
  request: shortOutput,
});
