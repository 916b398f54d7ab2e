// A terminal result in a few words: for people who run the service, and for those who hold a receipt against a log.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";

export type RunEndStatus = "completed" | "failed" | "cancelled";

export interface RunEndFields {
  readonly status: RunEndStatus;
  /** Why it failed, or with what reason it completed. */
  readonly code: string;
  readonly durationMs: number;
  readonly turns: number;
}

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
      // A version that ends runs otherwise has a case here.
      return { status: "failed", code: "unknown", durationMs: 0, turns: 0 };
  }
}
