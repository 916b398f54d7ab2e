// The rests of HTTP/1.1 requests that were answered before they were received. Node reads and drops them, so that their
// senders get to see the answer and may call again; one that does not come to its end in time costs the connection.

import type { IncomingMessage, ServerResponse } from "node:http";

export class RequestRests {
  readonly #lingerMs: number;
  /** Since when the rest of each is waited for. */
  readonly #sinceMs = new Map<IncomingMessage, number>();

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  track(request: IncomingMessage, response: ServerResponse, nowMs: () => number): void {
    response.once("finish", () => {
      if (!request.complete) {
        this.#sinceMs.set(request, nowMs());
      }
    });
  }

  check(nowMs: number): void {
    for (const [request, sinceMs] of this.#sinceMs) {
      if (request.complete || request.socket.destroyed) {
        this.#sinceMs.delete(request);
      } else if (nowMs - sinceMs > this.#lingerMs) {
        request.socket.destroy();
      }
    }
  }
}
