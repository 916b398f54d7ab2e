// The open streams of one HTTP/2 session. A peer that does not finish a request loses the stream, never the session.
// R1  A request that is not received in time is reset, unless its answer has begun: then both sides may take their time.
// R2  A stream ends with its answer. Missing or unread parts of the request are no longer needed. A peer that is still sending
//     gets a reset without an error (RFC 9113, 8.1); a peer that has sent everything gets no reset.

import { constants, type ServerHttp2Stream } from "node:http2";

/**
 * The event-loop turns to wait for an answer to be sent. Node reports when it is written; as a rule it is sent two turns later.
 * The next check finds an answer that a slow peer delays further.
 */
const turnsToSendMax = 8;

/** The open streams of one session. */
export class OpenStreams {
  readonly #requestTimeoutMs: number;
  #count = 0;
  /** The streams whose request has more than a head, with the time since when it is being received. */
  readonly #sinceMs = new Map<ServerHttp2Stream, number>();

  constructor(requestTimeoutMs: number) {
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  get count(): number {
    return this.#count;
  }

  add(stream: ServerHttp2Stream, nowMs: number): void {
    this.#count += 1;
    stream.once("close", () => {
      this.#count -= 1;
      this.#sinceMs.delete(stream);
    });
    if (!stream.endAfterHeaders) {
      this.#sinceMs.set(stream, nowMs);
      stream.once("finish", () => endOnceAnswered(stream, turnsToSendMax));
    }
  }

  /** Ends answered streams (R2) and resets requests that are late (R1). */
  check(nowMs: number): void {
    for (const [stream, sinceMs] of this.#sinceMs) {
      if (isAnswered(stream)) {
        stream.destroy();
      } else if (nowMs - sinceMs > this.#requestTimeoutMs && !stream.headersSent && !isReceived(stream)) {
        stream.close(constants.NGHTTP2_CANCEL);
      }
    }
  }
}

function endOnceAnswered(stream: ServerHttp2Stream, turnsMax: number): void {
  setImmediate(() => {
    if (isAnswered(stream)) {
      // Not close(): it would wait for a reader of the rest of the request.
      stream.destroy();
    } else if (turnsMax > 1) {
      endOnceAnswered(stream, turnsMax - 1);
    }
  });
}

/**
 * Whether the end of the answer is on its way. Node keeps a stream that is closed on both sides, in case the rest of the
 * request is still read.
 */
function isAnswered(stream: ServerHttp2Stream): boolean {
  return stream.closed || stream.state.localClose === 1;
}

function isReceived(stream: ServerHttp2Stream): boolean {
  return stream.state.remoteClose === 1;
}
