// The server of a page, as far as its tickets go: it has the key that the page should not have.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import type { GrpcClient } from "../harness/grpc.ts";

export interface TicketServer {
  readonly url: string;
  /** How many it has made. */
  readonly made: number;
  /** The last one. */
  readonly newest: string;
}

/** Closed with the test. */
export async function startTicketServer(client: GrpcClient, sessionId: string): Promise<TicketServer> {
  const tickets: string[] = [];
  const target = { target: { case: "sessionId" as const, value: sessionId } };
  const server = createServer((_, response) => {
    client.call(AuthService.method.createStreamTicket, { target }).then(
      ({ ticket }) => {
        tickets.push(ticket);
        response.setHeader("access-control-allow-origin", "*").end(JSON.stringify({ ticket }));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get made() {
      return tickets.length;
    },
    get newest() {
      return tickets.at(-1) ?? "";
    },
  };
}
