// Answers that are streams of text which a surface makes piece by piece.

import type { Sink } from "../../platform/base/sink.ts";
import { type RestResponse, writePiece } from "./respond.ts";

/** An answer that is a stream. */
export interface StreamedAnswer {
  readonly response: RestResponse;
  /** The sink of the response, if it has one. */
  readonly sink: Sink<Uint8Array> | undefined;
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
  "cache-control": "no-cache, no-store",
  // Asks nginx not to buffer.
  "x-accel-buffering": "no",
};
