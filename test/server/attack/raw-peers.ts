// Peers that write what they like to a port, by the hundred, and note how each was let go.

import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawPeers {
  readonly sockets: readonly Socket[];
  /** How many are still connected. */
  countOpen(): number;
  /** What each has been told, as text. */
  texts(): string[];
  /** Calls for each that is still connected. */
  write(bytesOf: (index: number) => string | Uint8Array): void;
}

/** `first` is what each says at once. */
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

/** The different HTTP/1.1 statuses that they were answered with. */
export function statusesOf(peers: RawPeers): string[] {
  return [...new Set(peers.texts().map((text) => text.slice(9, 12)))];
}
