// A server of the revision 2024-11-05: one stream of events, and messages that are posted beside it.

import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { McpServer_Transport } from "../../gen/runnel/v1/session_pb.js";
import { openHttpServer } from "../fakes/mcp-server.ts";
import { openRun } from "./stage.ts";

test("an old server of events is listed and called, and its stream ends with the run", async () => {
  let stream: ServerResponse | undefined;
  const say = (event: string, data: string): void => void stream?.write(`event: ${event}\ndata: ${data}\n\n`);
  const results: Readonly<Record<string, (params: { protocolVersion?: string; name?: string }) => object>> = {
    initialize: ({ protocolVersion }) => ({
      ...{ protocolVersion, capabilities: { tools: {} } },
      serverInfo: { name: "old", version: "1" },
    }),
    "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
    "tools/call": ({ name }) => ({ content: [{ type: "text", text: `called ${name}` }] }),
  };
  const server = await openHttpServer((request, response, text) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return say("endpoint", "/messages?session=1");
    }
    const { id, method, params } = JSON.parse(text);
    response.writeHead(202).end();
    if (id !== undefined) {
      const result = results[method]?.(params);
      const end = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
      say("message", JSON.stringify({ jsonrpc: "2.0", id, ...end }));
    }
  });
  const headers = [{ name: "X-Key", value: "secret-4711" }];
  const run = await openRun([{ url: server.url, transport: McpServer_Transport.SSE, headers }]);
  expect(await run.call("srv_echo")).toEqual({ content: "called echo" });
  expect(new Set(server.requests.map((each) => each.headers["x-key"]))).toEqual(new Set(["secret-4711"]));
  await run[Symbol.asyncDispose]();
  expect(await server.requests.find(({ method }) => method === "GET")?.broken).toBe(true);
});
