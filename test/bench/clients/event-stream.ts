// Reads event streams as cheaply as Node can: one plain socket each, blocks cut out of the pieces as they arrive. For many readers
// where node:http's own client would be the bottleneck.

import { connect } from "node:net";
import { benchAuthorization } from "../harness/credentials.ts";

export interface EventStream {
  readonly url: string;
  readonly path: string;
  /** Each block, comments included. */
  readonly onBlock: (block: string) => void;
}

/** Resolves when the server has ended the stream; rejects when the answer is not an event stream or is cut off. */
export function readEventStream({ url, path, onBlock }: EventStream): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${benchAuthorization}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${path}: ${why}`));
    let rest = "";
    let open = false;
    socket.on("data", (piece: Buffer) => {
      rest += piece.toString("latin1");
      if (!open) {
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) {
          return;
        }
        if (!rest.startsWith("HTTP/1.1 200")) {
          fail(rest);
          socket.destroy();
          return;
        }
        open = true;
        rest = rest.slice(end + 4);
      }
      rest = cutBlocks(rest, onBlock);
      if (rest.endsWith(lastChunk)) {
        socket.destroy();
        resolve();
      }
    });
    socket.once("error", reject).once("close", () => fail("cut off"));
  });
}

/** The marks of chunks are between blocks, or before a block's first line, where they do no harm. */
function cutBlocks(text: string, onBlock: (block: string) => void): string {
  let start = 0;
  for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", start)) {
    onBlock(text.slice(start, end));
    start = end + 2;
  }
  return text.slice(start);
}

const lastChunk = "0\r\n\r\n";
