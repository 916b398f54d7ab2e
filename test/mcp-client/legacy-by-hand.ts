// A server of the older revisions by hand: it answers the opening, and the other requests as a test says.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type FakeMcpServer, openHttpServer } from "../fakes/mcp-server.ts";

/** Answers a request by itself. */
export type Respond = (response: ServerResponse, id: unknown, params: never, request: IncomingMessage) => unknown;

/** Opens the server, which is closed with the test. */
export function openByHand(
  answers: Readonly<Record<string, Respond>>,
  opening: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<FakeMcpServer> {
  return openHttpServer((request, response, text) => {
    const { id, method = request.method, params = {} } = JSON.parse(text || "{}");
    if (answers[method] !== undefined) {
      answers[method](response, id, params as never, request);
    } else if (method === "initialize") {
      const serverInfo = { name: "by hand", version: "1" };
      const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo, ...opening };
      sendJson(response, { jsonrpc: "2.0", id, result }, 200, headers);
    } else if (id === undefined) {
      response.writeHead(202).end();
    } else {
      sendJson(response, { jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
    }
  });
}

export function sendJson(
  response: ServerResponse,
  value: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}
