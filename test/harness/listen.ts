// Servers of a test, on a free port of this machine.

import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";

/** Lets the server listen, and closes it with the test. Returns its port. */
export async function listenLocally(server: Server | HttpServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    // Only servers of HTTP/1.1 know their connections; others close those of a test themselves.
    if ("closeAllConnections" in server) {
      server.closeAllConnections();
      await once(server, "close");
    }
  });
  return (server.address() as AddressInfo).port;
}
