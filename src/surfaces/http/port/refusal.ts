// The answer of an HTTP/2 port to an HTTP/1 peer, in HTTP/1.

import type { Socket } from "node:net";
import { answerHeaders } from "../answer-headers.ts";

/** Answers 505 and closes. The caller has to end a peer that neither closes its side nor stops sending. */
export function refuseH1(socket: Socket): void {
  socket.on("error", () => socket.destroy());
  // Reads and drops the peer's bytes until it ends. A close with unread bytes would reset the connection, and the answer could
  // be lost.
  socket.resume();
  socket.end(refusal);
}

const reason = "This port speaks HTTP/2 only: use an HTTP/2 client, or the port for HTTP/1.1.\n";

const refusal = [
  "HTTP/1.1 505 HTTP Version Not Supported",
  "Connection: close",
  "Content-Type: text/plain",
  ...Object.entries(answerHeaders).map(([name, value]) => `${name}: ${value}`),
  `Content-Length: ${Buffer.byteLength(reason)}`,
  "",
  reason,
].join("\r\n");
