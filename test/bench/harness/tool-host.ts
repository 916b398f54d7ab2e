// A program: the host of the tool `echo` in a process of its own. It answers as a caller's host for remote tools, and as an MCP server at
// `/mcp`, as cheaply as Node can.
//
// Announces its address on standard error and ends when its standard input ends.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Message {
  readonly id?: number | string;
  readonly method: string;
}

/** Longer than the pause between two variants, so that no request meets a closing socket. */
const keepAliveTimeoutMs = 60_000;

const fresh = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const inputSchema = { type: "object", properties: { turn: { type: "integer" } } };
const tool = { name: "echo", description: "Says hi.", inputSchema };

const results: Readonly<Record<string, object>> = {
  "server/discover": {
    ...fresh,
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    serverInfo: { name: "bench", version: "1" },
  },
  "tools/list": { ...fresh, tools: [tool] },
  "tools/call": { resultType: "complete", content: [{ type: "text", text: "hi" }] },
};

const server = createServer((request, response) => {
  json(request).then(
    (body) =>
      request.url === "/mcp" ? answer(body as Message, response) : send(response, { success: true, content: "hi" }),
    () => response.destroy(),
  );
});
server.keepAliveTimeout = keepAliveTimeoutMs;
server.listen(0, "127.0.0.1", () => {
  console.error(`tools on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();

function answer({ id, method }: Message, response: ServerResponse): void {
  send(response, { jsonrpc: "2.0", id, result: results[method] ?? fresh });
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
