// The request body that a handler reads, and the rest that no handler reads. An answer may be ready before its request is
// complete, and the rest then still matters. Over HTTP/1.1 the next call on the connection waits behind it. Over HTTP/2
// connect-go ends a request of declared length early once it is answered, and this error hides the answer. So the rest is
// received and dropped first, while it keeps coming and is not too large.

import type { Clock } from "../../platform/base/clock.ts";
import { messageBytesMax } from "../../platform/config/limits.ts";
import type { Request } from "./message.ts";

/** The maximum bytes of a dropped rest: a message of up to twice the maximum size, so that its sender sees the error. */
const unwantedBytesMax = 2 * messageBytesMax;
/** The maximum pause: a client that sends nothing for this long is waiting for the answer. */
const pauseMsMax = 1_000;

/** A request body that leaves the connection usable when the handler stops reading. */
export class CallBody implements AsyncIterable<Uint8Array> {
  readonly #request: Request;
  #isBeingRead = false;
  /** True when the whole body was received at once. That happens before Node sets `request.complete`. */
  #isWhole = false;

  constructor(request: Request) {
    this.#request = request;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    this.#isBeingRead = true;
    try {
      const request = this.#request;
      const received = "stream" in request ? null : (request.read() as Uint8Array | null);
      if (received !== null) {
        yield received;
        if (received.byteLength === Number(request.headers["content-length"])) {
          this.#isWhole = true;
          // The end follows without another read, but the connection waits until the request is consumed.
          request.resume();
          return;
        }
      }
      // Leaving a plain `for await` would destroy the request, and its HTTP/1.1 connection would not be read any more.
      yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    } finally {
      this.#isBeingRead = false;
    }
  }

  /**
   * Drops the rest of the request and resolves when the answer may begin. Returns false when a rest remains that will never be
   * read.
   */
  async settle(clock: Clock): Promise<boolean> {
    const request = this.#request;
    const mayStayOpen = "stream" in request && request.headers["content-length"] === undefined;
    if (this.#isBeingRead || this.#isWhole || mayStayOpen || request.complete || request.destroyed) {
      return true;
    }
    const over = new AbortController();
    let bytes = 0;
    const drop = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength;
      if (bytes > unwantedBytesMax) {
        over.abort();
      }
    };
    const end = (): void => over.abort();
    request.on("data", drop).once("end", end).once("error", end).once("close", end);
    for (let bytesBefore = -1; bytes > bytesBefore && !over.signal.aborted; ) {
      bytesBefore = bytes;
      await clock.sleep(pauseMsMax, over.signal);
    }
    request.off("data", drop).off("end", end).off("error", end).off("close", end);
    return request.complete;
  }
}
