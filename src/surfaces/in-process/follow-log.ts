// Follows the log of a run.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Calls } from "./calls.ts";

/** Follows the log of a run from its start. An empty batch comes every 15 s. */
export async function* followLog(
  calls: Calls,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly RunResult[], void> {
  for await (const { results } of calls.follow(RunService.method.tailRun, { runId }, signal)) {
    yield results;
  }
}
