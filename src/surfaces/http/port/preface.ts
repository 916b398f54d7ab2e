// Detects the protocol of a new cleartext connection by its first bytes. No byte is lost: the bytes read are put back, so that
// the server sees the connection from its first byte.

import type { Socket } from "node:net";

/** The protocol of a connection. */
export type Protocol = "h1" | "h2";

/** The start of the HTTP/2 client preface. Four bytes are the fewest that differ from PROPFIND and every other method. */
const h2Marker = Buffer.from("PRI ", "latin1");

/** Returns the protocol of a connection that began with `head`. Undefined while more bytes are needed. */
function guessProtocol(head: Buffer): Protocol | undefined {
  const comparedBytes = Math.min(head.length, h2Marker.length);
  if (h2Marker.compare(head, 0, comparedBytes, 0, comparedBytes) !== 0) {
    return "h1";
  }
  return head.length < h2Marker.length ? undefined : "h2";
}

/**
 * Calls `handOver` once, as soon as the peer has shown its protocol. Destroys a peer that fails or hangs up before. The caller
 * has to end a peer that stays silent. Afterwards the socket has no listener of this function.
 */
export function sniffProtocol(socket: Socket, handOver: (protocol: Protocol) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const giveUp = (): void => {
    socket.destroy();
  };
  const readHead = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      return;
    }
    head = Buffer.concat([head, chunk]);
    const protocol = guessProtocol(head);
    if (protocol === undefined) {
      return;
    }
    socket.off("readable", readHead).off("end", giveUp).off("error", giveUp);
    socket.unshift(head);
    handOver(protocol);
  };
  socket.on("readable", readHead).on("end", giveUp).on("error", giveUp);
}
