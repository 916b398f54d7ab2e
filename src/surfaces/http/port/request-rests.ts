// The rests of HTTP/1.1 requests that were answered before they were received. They are read and dropped, so that their
// senders get to see the answer: a connection that closes over unread bytes is reset, and the answer may be lost with it.
//
// R1  A rest that does not come to its end in time, or is too large, costs the connection.
// R2  An answer that closes its connection closes our side at once, and the peer's side after the rest (RFC 9112, 9.6).

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface RestLimits {
  readonly h1LingerTimeoutMs: number;
  readonly h1LingerBytesMax: number;
}

interface Rest {
  readonly sinceMs: number;
  /** What the connection had received when the answer was over. */
  readonly receivedBytes: number;
}

export class RequestRests {
  readonly #limits: RestLimits;
  readonly #requests = new WeakMap<Socket, IncomingMessage>();
  readonly #rests = new Map<IncomingMessage, Rest>();

  constructor(limits: RestLimits) {
    this.#limits = limits;
  }

  /** Takes over how Node closes a connection of HTTP/1.1 after an answer: it would destroy it. */
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
