// Which protocol a new cleartext connection speaks, told by its first bytes. Nothing is lost: what was read is put
// back, so that the server that takes the socket over sees the connection from its first byte.

import type { Socket } from "node:net";

export type Protocol = "h1" | "h2";

/** The start of the HTTP/2 client preface. Four bytes are the fewest that tell it from PROPFIND and every other method. */
const h2Marker = Buffer.from("PRI ", "latin1");

/** The protocol of a connection that began with `head`; undefined while more bytes are needed to tell. */
function guessProtocol(head: Buffer): Protocol | undefined {
  const comparedBytes = Math.min(head.length, h2Marker.length);
  if (h2Marker.compare(head, 0, comparedBytes, 0, comparedBytes) !== 0) {
    return "h1";
  }
  return head.length < h2Marker.length ? undefined : "h2";
}

/**
 * Calls `handOver` once, as soon as the peer has shown its protocol. A peer that fails or hangs up before is destroyed;
 * one that stays silent is the caller's to end. Afterwards the socket carries no listener of ours.
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
