// The logs of the runs that a person has looked at, each followed with the key of this page.

import { createClient } from "@connectrpc/connect";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { onOtherKey } from "../api/access.ts";
import { probe } from "../api/service-state.ts";
import { transport } from "../api/transport.ts";
import { follow } from "../lib/stream.ts";
import type { ReadEntries } from "./log-entries.ts";
import { RunLog, useLog } from "./run-log.ts";

const runs = createClient(RunService, transport);
/** Logs that stay in memory after their view is closed: going back shows them at once. */
const keptMax = 5;
/** A text that repeats its pieces is known by its beginning and its length. */
const textCharsMax = 10_000;
const kept = new Map<string, RunLog>();
onOtherKey((isSameClient) => {
  if (!isSameClient) {
    kept.clear();
    return;
  }
  for (const log of kept.values()) {
    log.retry();
  }
});

/** Returns the log of a run, which is followed while the component is shown. Renders again when it changes. */
export function useRunLog(runId: string): RunLog {
  return useLog(logOf(runId));
}

function logOf(runId: string): RunLog {
  const log = kept.get(runId) ?? new RunLog(runId, { follow: followByKey, read: readByKey(runId) });
  // The order of the map is the order of use.
  kept.delete(runId);
  kept.set(runId, log);
  for (const oldest of kept.keys()) {
    if (kept.size <= keptMax) {
      break;
    }
    kept.delete(oldest);
  }
  return log;
}

function followByKey(log: RunLog): () => void {
  return follow({
    open: (signal) =>
      runs.tailRun({ runId: log.runId, after: BigInt(log.cursor), textCharsMax }, { signal, timeoutMs: 0 }),
    take: ({ results }) => log.take(results),
    onPhase: (phase) => {
      log.setPhase(phase);
      if (phase.name === "reconnecting") {
        void probe();
      }
    },
    onResume: () => log.countResume(),
  });
}

function readByKey(runId: string): ReadEntries {
  return async function* (after) {
    const leave = new AbortController();
    try {
      for await (const { results } of runs.tailRun(
        { runId, after: BigInt(after) },
        { signal: leave.signal, timeoutMs: 0 },
      )) {
        yield results;
      }
    } finally {
      leave.abort();
    }
  };
}
