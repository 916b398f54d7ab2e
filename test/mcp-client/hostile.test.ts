// MCP servers that harm, by intent or not. Each ends in bounded time and memory, with an error that says why.

import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { z } from "zod";
import { createInternet } from "../egress/internet.ts";
import { type Describe, openHttpServer, openMcpServer } from "../fakes/mcp-server.ts";
import { openByHand, sendJson } from "./legacy-by-hand.ts";
import { openModernByHand } from "./modern-by-hand.ts";
import { openRun } from "./stage.ts";

const plain = (server: Parameters<Describe>[0], ...names: readonly string[]): void => {
  for (const name of names) {
    server.registerTool(name, { inputSchema: z.object({}) }, async () => ({ content: [{ type: "text", text: name }] }));
  }
};

const tool = (name: string, inputSchema: object = { type: "object" }) => ({ name, inputSchema });
const list =
  (...tools: readonly object[]) =>
  (response: ServerResponse, id: unknown): void =>
    sendJson(response, { jsonrpc: "2.0", id, result: { tools } });

/** Writes this piece until the reader has closed the connection. Counts the bytes. */
function pour(response: ServerResponse, type: string, first: string, piece: string): { bytes: () => number } {
  let bytes = 0;
  response.writeHead(200, { "content-type": type });
  response.write(first);
  const more = (): void => {
    while (!response.destroyed && bytes < 1_073_741_824) {
      bytes += piece.length;
      if (!response.write(piece)) {
        response.once("drain", more);
        return;
      }
    }
  };
  more();
  return { bytes: () => bytes };
}

const mebibyte = "x".repeat(1_048_576);

test.each([
  ["application/json", '{"jsonrpc":"2.0","result":"'],
  ["text/event-stream", "data: "],
])("an answer of 1 GiB as %s breaks the call at 10 MiB", async (type, first) => {
  let poured = { bytes: () => 0 };
  const server = await openByHand({
    "tools/list": list(tool("flood")),
    "tools/call": (response) => {
      poured = pour(response, type, first, mebibyte);
    },
  });
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_flood")).toEqual({ error: "the server's answer is longer than 10485760 bytes" });
  expect(poured.bytes()).toBeLessThan(64 * 1_048_576);
});

test("10,000 tools are refused, and those that the agent names are taken", async () => {
  const tools = Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`));
  const server = await openByHand({ "tools/list": list(...tools) });
  await expect(openRun([{ url: server.url }])).rejects.toThrow(
    'mcp server "srv": it lists more than 128 tools: name those that the agent needs in allowed_tools',
  );
  const run = await openRun([{ url: server.url, allowedTools: ["t7", "t9999"] }]);
  expect(run.tools.map(({ name }) => name)).toEqual(["srv_t7", "srv_t9999"]);
  await expect(openRun([{ url: server.url, allowedTools: ["t7", "none"] }])).rejects.toThrow('it has no tool "none"');
});

test("a list without an end stops at its maximum of pages", async () => {
  const server = await openByHand({
    "tools/list": (response, id) => sendJson(response, { jsonrpc: "2.0", id, result: { tools: [], nextCursor: "on" } }),
  });
  const run = await openRun([{ url: server.url }]);
  expect(run.tools).toEqual([]);
  expect(server.requests.filter(({ rpc }) => rpc === "tools/list")).toHaveLength(64);
});

test("a schema that is nested deeply, or too large, leaves its tool out", async () => {
  const nested = (levels: number): object =>
    levels === 0 ? { type: "object" } : { type: "object", properties: { next: nested(levels - 1) } };
  const [deep, deepest] = [nested(40), nested(1_000)];
  const large = { type: "object", description: "x".repeat(300_000) };
  const server = await openByHand({
    "tools/list": list(tool("deep", deep), tool("deepest", deepest), tool("large", large), tool("fine")),
  });
  const run = await openRun([{ url: server.url }]);
  expect(run.tools.map(({ name }) => name)).toEqual(["srv_fine"]);
  expect(run.problems).toEqual([
    "srv: deep: the tool was left out: its schema is nested more than 64 levels deep",
    "srv: deepest: the tool was left out: its schema is nested more than 64 levels deep",
    expect.stringMatching(/^srv: large: the tool was left out: its schema has \d+ bytes \(max 262144\)$/),
  ]);
});

test("two tools with one name for the model are refused", async () => {
  const server = await openByHand({ "tools/list": list(tool("a.b"), tool("a/b")) });
  await expect(openRun([{ url: server.url }])).rejects.toThrow(
    "its tool a/b would be srv_a_b, and the agent has another tool srv_a_b: name one of them in allowed_tools",
  );
  const one = { url: server.url, allowedTools: ["a.b"], prefix: "p_" };
  await expect(
    openRun([
      { ...one, name: "one" },
      { ...one, name: "two" },
    ]),
  ).rejects.toThrow("set another prefix");
});

test("two servers with one name are refused", async () => {
  const server = await openMcpServer((each) => plain(each, "fine"));
  await expect(openRun([{ url: server.url }, { url: server.url }])).rejects.toThrow(
    'mcp server "srv": the agent has another server of this name',
  );
  expect(server.requests).toEqual([]);
});

test("a header without its value is refused: an agent that was read has lost its credentials", async () => {
  const server = await openMcpServer((each) => plain(each, "fine"));
  await expect(openRun([{ url: server.url, headers: [{ name: "Authorization", value: "" }] }])).rejects.toThrow(
    'mcp server "srv": the header Authorization has no value: set it again',
  );
  expect(server.requests).toEqual([]);
});

test("a redirect is not followed, and no secret goes with it", async () => {
  const inner = await openHttpServer((_, response) => void response.end());
  const server = await openHttpServer((_, response) => void response.writeHead(307, { location: inner.url }).end());
  const headers = [{ name: "authorization", value: "Bearer secret-4711" }];
  await expect(openRun([{ url: server.url, headers }])).rejects.toThrow(
    'mcp server "srv": the server answered 307: redirects are not followed',
  );
  expect(inner.requests).toEqual([]);
});

test("private addresses are refused before a byte is sent, and when a name leads there later", async () => {
  const server = await openMcpServer((each) => plain(each, "fine"));
  const { port } = new URL(server.url);
  await expect(openRun([{ url: server.url }], { egress: {} })).rejects.toThrow(
    "private IP mcp servers are not allowed",
  );
  await expect(openRun([{ url: "http://169.254.169.254/mcp" }])).rejects.toThrow("are not allowed");
  await expect(openRun([{ url: `http://localhost:${port}/mcp` }], { egress: {} })).rejects.toThrow(
    "localhost mcp servers are not allowed",
  );
  expect(server.requests).toEqual([]);
  const dns = { "mcp.example": { seq: [["93.184.216.34"], ["93.184.216.34"], ["127.0.0.1"]] } };
  const internet = createInternet(dns, { http: Number(port) });
  const run = await openRun([{ url: "http://mcp.example/mcp" }], { egress: internet.options });
  expect(await run.call("srv_fine")).toEqual({ error: "connection to private IP 127.0.0.1 is blocked" });
  expect(server.calls()).toEqual([]);
});

test("a silent server meets the limit of idle time, and one that reports each moment that of the whole call", async () => {
  const server = await openMcpServer((each) => {
    each.registerTool("silent", { inputSchema: z.object({}) }, () => new Promise(() => {}));
    each.registerTool("busy", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      for (let progress = 1; !mcpReq.signal.aborted; progress++) {
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: mcpReq._meta?.progressToken ?? "", progress, message: "on it" },
        });
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return { content: [] };
    });
  });
  const run = await openRun([{ url: server.url, idleSec: 1, timeoutSec: 3 }]);
  const [silent, busy] = await Promise.all([run.call("srv_silent"), run.call("srv_busy")]);
  expect(silent).toEqual({ error: "the server did not answer in time" });
  expect(busy).toEqual({ error: "the server did not answer in time" });
  expect(run.progress.length).toBeGreaterThanOrEqual(2);
  expect(run.progress.length).toBeLessThanOrEqual(4);
  expect(run.progress[0]).toEqual({ progress: 1, total: undefined, message: "on it" });
});

test.each(["modern", "legacy"] as const)("a cancelled call ends at once, and a %s server learns of it", async (era) => {
  const begun = Promise.withResolvers<void>();
  const server = await openMcpServer((each) => {
    each.registerTool("wait", { inputSchema: z.object({}) }, () => {
      begun.resolve();
      return new Promise(() => {});
    });
  }, era);
  const run = await openRun([{ url: server.url }]);
  const stop = new AbortController();
  const call = run.call("srv_wait", {}, stop.signal);
  await begun.promise;
  stop.abort(new Error("context canceled"));
  expect(await call).toEqual({ error: "context canceled" });
  if (era === "modern") {
    expect(await server.calls()[0]?.broken).toBe(true);
  } else {
    await expect.poll(() => server.requests.map(({ rpc }) => rpc)).toContain("notifications/cancelled");
  }
});

test("what is no answer of an MCP server is an error that names it", async () => {
  const page = await openHttpServer(
    (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  );
  await expect(openRun([{ url: page.url }])).rejects.toThrow('mcp server "srv": ');
  const closed = await openHttpServer((_, response) => void response.writeHead(401).end());
  await expect(openRun([{ url: closed.url }])).rejects.toThrow(
    'mcp server "srv": the server answered 401: give it valid credentials in the headers',
  );
});

test("a server that asks for input gets none, and the model reads what it asked for", async () => {
  const inputRequests = { model: { method: "sampling/createMessage", params: {} }, dirs: { method: "roots/list" } };
  const server = await openModernByHand(["ask"], {
    "tools/call": () => ({ resultType: "input_required", inputRequests }),
  });
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_ask")).toEqual({
    error: "the server asks for sampling/createMessage, roots/list, which this service does not give",
  });
  expect(server.calls()).toHaveLength(1);
});

test("an old server that asks for input gets none", async () => {
  const server = await openMcpServer((each) => {
    each.registerTool("ask", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      const { action } = await mcpReq.elicitInput({
        message: "Your password?",
        requestedSchema: { type: "object", properties: {} },
      });
      return { content: [{ type: "text", text: action }] };
    });
  }, "legacy");
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_ask")).toEqual({ error: expect.stringMatching(/elicitation/i) });
});
