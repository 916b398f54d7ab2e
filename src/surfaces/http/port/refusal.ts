// The answer of an HTTP/2 port to a peer that speaks HTTP/1, in words that this peer understands.

import type { Socket } from "node:net";

/** Answers and closes. A peer that neither closes its side nor stops sending is the caller's to end. */
export function refuseH1(socket: Socket): void {
  socket.on("error", () => socket.destroy());
  // What the peer sends is read and dropped, until it ends: closing over unread bytes would reset the connection, and the
  // answer with it.
  socket.resume();
  socket.end(refusal);
}

const reason = "This port speaks HTTP/2 only: use an HTTP/2 client, or the port for HTTP/1.1.\n";

const refusal = [
  "HTTP/1.1 505 HTTP Version Not Supported",
  "Connection: close",
  "Content-Type: text/plain",
  `Content-Length: ${Buffer.byteLength(reason)}`,
  "",
  reason,
].join("\r\n");
