// The server of a web page, as far as tickets are concerned: it has the key that the page must not have.

import { createServer } from "node:http";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import type { GrpcClient } from "../harness/grpc.ts";
import { listenLocally } from "../harness/listen.ts";

export interface TicketServer {
  readonly url: string;
  /** The number of tickets that it has made. */
  readonly made: number;
  /** The newest ticket. */
  readonly newest: string;
}

/** Starts a server that is closed with the test. */
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
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    get made() {
      return tickets.length;
    },
    get newest() {
      return tickets.at(-1) ?? "";
    },
  };
}
