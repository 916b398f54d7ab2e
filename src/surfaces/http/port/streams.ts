// The open streams of one HTTP/2 session. What a peer does not finish costs it the stream, never the session:
// R1  A request that is not received in time is reset, unless its answer has begun: then both sides take their time.
// R2  When an answer is over, so is its stream. What is missing of the request, or was not read of it, is no longer wanted,
//     and a peer that is still sending is told so without an error (RFC 9113, 8.1). One that has sent all is told nothing.

import { constants, type ServerHttp2Stream } from "node:http2";

/**
 * Node tells when an answer is written, not when it is sent: as a rule that is two turns of the event loop later. Where a
 * slow peer makes it later than this, the next check sees it.
 */
const turnsToSendMax = 8;

export class OpenStreams {
  readonly #requestTimeoutMs: number;
  #count = 0;
  /** Those whose request has more than a head, and since when it has been coming in. */
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
      // Not close(): that would wait for somebody to read the rest of the request.
      stream.destroy();
    } else if (turnsMax > 1) {
      endOnceAnswered(stream, turnsMax - 1);
    }
  });
}

/**
 * The last of the answer is on its way. A closed stream, over for both sides, is kept by Node for somebody who might read
 * the rest of the request.
 */
function isAnswered(stream: ServerHttp2Stream): boolean {
  return stream.closed || stream.state.localClose === 1;
}

function isReceived(stream: ServerHttp2Stream): boolean {
  return stream.state.remoteClose === 1;
}
