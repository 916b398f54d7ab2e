// A connection between a client and a service that a test can cut: all data on it just stops, without a proper end.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface BreakingLine {
  /** The URL of the service through this line: the same scheme and path, another port. */
  readonly url: string;
  /** The number of connections so far. */
  readonly connections: number;
  /** Breaks every connection. New connections are accepted. */
  cut(): void;
}

/** Opens a line that is closed with the test. */
export async function openBreakingLine(serviceUrl: string): Promise<BreakingLine> {
  const { protocol, hostname, port } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let connections = 0;
  const cut = (): void => {
    for (const socket of sockets) {
      socket.resetAndDestroy();
    }
  };
  const server = createServer((near) => {
    connections += 1;
    const far = connect(Number(port), hostname);
    join(near, far, sockets);
    join(far, near, sockets);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    cut();
  });
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cut,
  };
}

/** Passes data from each side to the other; when one side ends, the other ends too. */
function join(socket: Socket, other: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.pipe(other);
  socket.on("error", () => {});
  socket.on("close", () => {
    sockets.delete(socket);
    other.destroy();
  });
}
