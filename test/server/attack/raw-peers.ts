// Hundreds of peers that write any bytes to a port, and note how each connection ended.

import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawPeers {
  readonly sockets: readonly Socket[];
  /** Returns the number of open connections. */
  countOpen(): number;
  /** Returns the received text of each peer. */
  texts(): string[];
  /** Writes to each peer that is still connected. */
  write(bytesOf: (index: number) => string | Uint8Array): void;
}

/** Each peer sends `first` at once. */
export function connectPeers(
  { host, port }: { readonly host: string; readonly port: number },
  count: number,
  first: string | Uint8Array = "",
): RawPeers {
  const received: string[] = Array.from({ length: count }, () => "");
  let open = count;
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = connect(port, host);
    socket.on("data", (chunk) => {
      received[index] += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      open -= 1;
    });
    socket.write(first);
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  return {
    sockets,
    countOpen: () => open,
    texts: () => received,
    write: (bytesOf) => {
      for (const [index, socket] of sockets.entries()) {
        if (!socket.destroyed) {
          socket.write(bytesOf(index));
        }
      }
    },
  };
}

/** Returns the different HTTP/1.1 statuses of their answers. */
export function statusesOf(peers: RawPeers): string[] {
  return [...new Set(peers.texts().map((text) => text.slice(9, 12)))];
}
