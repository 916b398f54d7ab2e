// A terminal result in a few fields: for the operator's log, and for readers who check a receipt against a log.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";

/** How a run ended. */
export type RunEndStatus = "completed" | "failed" | "cancelled";

/** The summary of a terminal result. */
export interface RunEndFields {
  readonly status: RunEndStatus;
  /** The error code of a failed run, or the finish reason of a completed one. */
  readonly code: string;
  readonly durationMs: number;
  readonly turns: number;
}

/** Returns the summary of a terminal result. */
export function describeRunEnd({ payload }: RunResult): RunEndFields {
  switch (payload.case) {
    case "runCompleted": {
      const { finishReason, durationMs, turns } = payload.value;
      return { status: "completed", code: finishReason, durationMs: Number(durationMs), turns };
    }
    case "runFailed": {
      const { code, durationMs, turns } = payload.value;
      return { status: code === "cancelled" ? "cancelled" : "failed", code, durationMs: Number(durationMs), turns };
    }
    default:
      // Another payload: a version that adds a terminal result must add its case here.
      return { status: "failed", code: "unknown", durationMs: 0, turns: 0 };
  }
}
