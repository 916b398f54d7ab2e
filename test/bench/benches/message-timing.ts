// How long one message takes, from its sending to the end of its run.

import { fromBinary } from "@bufbuild/protobuf";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { GrpcClient } from "../clients/grpc-client.ts";

export interface Timing {
  readonly acceptedMs: number;
  readonly doneMs: number;
}

/** Uses an agent of the demo model, which acts as a provider without cost. */
export async function timeMessage(client: GrpcClient, sessionId: string): Promise<Timing> {
  const startedMs = performance.now();
  const message = "hello pace=0 words=1";
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  const acceptedMs = performance.now() - startedMs;
  let results = 0;
  await client.stream(RunService.method.tailRun, { runId }, (bytes) => {
    results += fromBinary(TailRunResponseSchema, bytes).results.length;
  });
  if (results === 0) {
    throw new Error("a run has no results");
  }
  return { acceptedMs, doneMs: performance.now() - startedMs };
}
