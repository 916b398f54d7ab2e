// The rests of HTTP/1.1 requests that were answered early. They are read and dropped, so that their senders see the answer. A
// close with unread bytes resets the connection, and the answer may be lost.
//
// R1  A rest that does not end in time, or is too large, closes the connection.
// R2  An answer that closes its connection closes the server's side at once, and the peer's side after the rest (RFC 9112,
//     9.6).

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The maximum time and size of a rest. */
export interface RestLimits {
  readonly h1LingerTimeoutMs: number;
  readonly h1LingerBytesMax: number;
}

interface Rest {
  readonly sinceMs: number;
  /** The bytes that the connection had received when the answer was complete. */
  readonly receivedBytes: number;
}

/** Receives and drops the rests of requests. */
export class RequestRests {
  readonly #limits: RestLimits;
  readonly #requests = new WeakMap<Socket, IncomingMessage>();
  readonly #rests = new Map<IncomingMessage, Rest>();

  constructor(limits: RestLimits) {
    this.#limits = limits;
  }

  /** Replaces how Node closes an HTTP/1.1 connection after an answer: Node would destroy it. */
  guard(socket: Socket): void {
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      const request = this.#requests.get(socket);
      if (request === undefined || request.complete) {
        destroySoon();
      } else {
        socket.end();
        request.once("close", destroySoon);
      }
    };
  }

  /** Watches a request for a rest after its response. */
  track(request: IncomingMessage, response: ServerResponse, nowMs: () => number): void {
    const { socket } = request;
    this.#requests.set(socket, request);
    response.once("finish", () => {
      if (!request.complete) {
        this.#rests.set(request, { sinceMs: nowMs(), receivedBytes: socket.bytesRead });
        // Node drops a body only when no handler has read any of it.
        request.resume();
      }
    });
  }

  /** Destroys connections with a rest that is too late or too large (R1). */
  check(nowMs: number): void {
    for (const [request, { sinceMs, receivedBytes }] of this.#rests) {
      const { complete, socket } = request;
      const isLate = nowMs - sinceMs > this.#limits.h1LingerTimeoutMs;
      if (complete || socket.destroyed) {
        this.#rests.delete(request);
      } else if (isLate || socket.bytesRead - receivedBytes > this.#limits.h1LingerBytesMax) {
        socket.destroy();
      }
    }
  }
}
