// The connections with a running TLS handshake. A TLS socket does not expose the socket that it wraps, but both have the same
// two ends. No two open connections have both ends in common.

import type { Socket } from "node:net";

/** Finds the accepted socket of a TLS socket. */
export class Handshakes {
  readonly #running = new Map<string, Socket>();

  begin(socket: Socket): void {
    const ends = describeEnds(socket);
    this.#running.set(ends, socket);
    socket.once("close", () => {
      // A new connection may have the same ends before the close event of this one.
      if (this.#running.get(ends) === socket) {
        this.#running.delete(ends);
      }
    });
  }

  /**
   * Returns the accepted socket of a TLS socket that has completed its handshake. Undefined when the connection has already
   * closed.
   */
  finish(secured: Socket): Socket | undefined {
    const ends = describeEnds(secured);
    const socket = this.#running.get(ends);
    this.#running.delete(ends);
    return socket;
  }
}

function describeEnds({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
