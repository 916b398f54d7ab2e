// A line between a client and a service that a test can cut: whatever goes over it just stops, without an end of its own.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface BreakingLine {
  /** Leads to the service; the same scheme and path, another port. */
  readonly url: string;
  /** How many connections there were so far. */
  readonly connections: number;
  /** Breaks every connection. New ones are taken. */
  cut(): void;
}

/** Closed with the test. */
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

/** What one side says the other one hears; what ends on one side ends on the other. */
function join(socket: Socket, other: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.pipe(other);
  socket.on("error", () => {});
  socket.on("close", () => {
    sockets.delete(socket);
    other.destroy();
  });
}
