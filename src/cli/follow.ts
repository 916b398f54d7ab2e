// Follows a run to its end and survives what happens to the service meanwhile: a broken stream is opened again after the
// last result that was seen.

import { Code, ConnectError } from "@connectrpc/connect";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { systemClock } from "../base/clock.ts";
import { isExplained, type RunClient } from "./connect.ts";

const reconnectDelayMs = 200;

export interface FollowOptions {
  readonly runs: RunClient;
  readonly runId: string;
  readonly after: bigint;
  /** A service that is away for longer is not waited for. */
  readonly patienceMs: number;
  /** Told once each time that the stream breaks. */
  readonly onReconnect: (after: bigint, why: string) => void;
}

export async function* followRun(options: FollowOptions): AsyncGenerator<RunResult> {
  let after = options.after;
  let awaySinceMs: number | undefined;
  for (;;) {
    try {
      for await (const { results } of options.runs.tailRun({ runId: options.runId, after })) {
        awaySinceMs = undefined;
        for (const result of results) {
          after = result.sequence;
          yield result;
        }
      }
      return;
    } catch (error) {
      const nowMs = systemClock.monotonicMs();
      if (!isPassing(error) || nowMs - (awaySinceMs ?? nowMs) > options.patienceMs) {
        throw error;
      }
      if (awaySinceMs === undefined) {
        awaySinceMs = nowMs;
        options.onReconnect(after, ConnectError.from(error).rawMessage);
      }
      await systemClock.sleep(reconnectDelayMs);
    }
  }
}

/** What a reader should wait out: the service asks to be called again, or the connection broke. */
function isPassing(error: unknown): boolean {
  const failure = ConnectError.from(error);
  return failure.code === Code.Unavailable || !isExplained(failure);
}
