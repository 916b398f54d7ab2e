// Streams of runs that a surface folds: the log in, pieces of text out.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Sink } from "../../platform/base/sink.ts";
import { type RestResponse, writePiece } from "../rest/respond.ts";
import type { Calls } from "./calls.ts";

/** An answer that is a stream. */
export interface StreamedAnswer {
  readonly response: RestResponse;
  /** The sink of the response, if it has one. */
  readonly sink: Sink<Uint8Array> | undefined;
}

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

/** Writes a piece of a stream: directly while the client keeps up, else through the response, which costs Node four writes. */
export async function writeText({ response, sink }: StreamedAnswer, text: string): Promise<void> {
  if (sink?.take(Buffer.from(text)) !== true) {
    await writePiece(response, text);
  }
}

/** The headers of a stream. */
export const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Asks nginx not to buffer.
  "x-accel-buffering": "no",
};
