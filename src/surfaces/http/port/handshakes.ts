// The connections whose TLS handshake runs. A TLS socket does not tell which socket it stands on, but both name the same
// two ends, and no two open connections have both ends in common.

import type { Socket } from "node:net";

export class Handshakes {
  readonly #running = new Map<string, Socket>();

  begin(socket: Socket): void {
    const ends = describeEnds(socket);
    this.#running.set(ends, socket);
    socket.once("close", () => {
      // A new connection may have the same ends before this one is told to be closed.
      if (this.#running.get(ends) === socket) {
        this.#running.delete(ends);
      }
    });
  }

  /** The socket below a TLS socket that has completed its handshake; undefined when the connection is gone already. */
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
