// A request's body as the handler of a call reads it, and what becomes of the part that no handler wants. An answer may be
// ready before its request is over, and then the rest still matters: over HTTP/1.1 the next call of the connection waits
// behind it; over HTTP/2 connect-go ends a request of declared length early once it is answered, an error that hides the
// answer. So the rest is taken off the wire first, while it comes and is not too much.

import type { Clock } from "../../platform/base/clock.ts";
import { messageBytesMax } from "../../platform/config/limits.ts";
import type { Request } from "./rpc.ts";

/** The rest of a message that is up to twice too large, so that its sender is told what is wrong. */
const unwantedBytesMax = 2 * messageBytesMax;
/** A client that sends nothing for so long is waiting for the answer. */
const pauseMsMax = 1_000;

export class CallBody implements AsyncIterable<Uint8Array> {
  readonly #request: Request;
  #isBeingRead = false;
  /** A short body is here before its request counts as complete. */
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
          // Its end comes by itself, and the connection waits for somebody to take it.
          request.resume();
          return;
        }
      }
      // Leaving a plain `for await` would destroy the request, and then nobody reads its HTTP/1.1 connection any more.
      yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    } finally {
      this.#isBeingRead = false;
    }
  }

  /** Resolves when the answer may begin; false when there is a rest of the request that nobody will ever take. */
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
