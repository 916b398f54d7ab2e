// A server whose list changes during a run: the run keeps its own, and tells once how the two differ.

import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { KeptTool } from "../../src/agent/tools/mcp/catalogue.ts";
import { type FakeMcpServer, openHttpServer } from "../fakes/mcp-server.ts";
import { openModernByHand } from "./modern-by-hand.ts";
import { openRun } from "./stage.ts";

interface ChangingServer extends FakeMcpServer {
  /** Its tools, with their descriptions. */
  tools: Readonly<Record<string, string>>;
}

const lists = ({ requests }: FakeMcpServer): number => requests.filter(({ rpc }) => rpc === "tools/list").length;

/** A server of 2025-11-25, which says during each call that its list has changed, as often as the test wants. */
async function openChanging(tools: ChangingServer["tools"], messages = 1): Promise<ChangingServer> {
  const say = (response: ServerResponse, message: object): void =>
    void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({
      ...{ protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } } },
      serverInfo: { name: "by hand", version: "1" },
    }),
    "tools/list": () => ({
      tools: Object.entries(server.tools).map(([name, description]) => ({
        ...{ name, description, inputSchema: { type: "object" } },
      })),
    }),
    "tools/call": () => ({ content: [{ type: "text", text: "hi" }] }),
  };
  const server: ChangingServer = Object.assign(
    await openHttpServer((_, response, text) => {
      const { id, method } = JSON.parse(text || "{}");
      if (id === undefined) {
        return void response.writeHead(202).end();
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (method === "tools/call") {
        for (let count = 0; count < messages; count++) {
          say(response, { method: "notifications/tools/list_changed" });
        }
      }
      const result = results[method]?.();
      say(response, { id, ...(result === undefined ? { error: { code: -32601, message: "unknown" } } : { result }) });
      response.end();
    }),
    { tools },
  );
  return server;
}

const old = { say: "Says it.", sing: "Sings it.", go: "Goes." };

test("what a server says during a call is told once, and the run keeps its list", async () => {
  const server = await openChanging(old);
  const run = await openRun([{ url: server.url }]);
  server.tools = { say: "Says it.", sing: "Sings it loudly.", dance: "Dances." };
  expect(await run.call("srv_say")).toEqual({ content: "hi" });
  const change = { server: "srv", added: ["dance"], removed: ["go"], changed: ["sing"] };
  await expect.poll(() => run.changes).toEqual([change]);
  expect(run.tools.map(({ name }) => name)).toEqual(["srv_say", "srv_sing", "srv_go"]);
  expect(await run.call("srv_say")).toEqual({ content: "hi" });
  await expect.poll(() => lists(server)).toBe(3);
  expect(run.changes).toEqual([change]);
  server.tools = old;
  await run.call("srv_say");
  await expect.poll(() => run.changes).toEqual([change, { server: "srv", added: [], removed: [], changed: [] }]);
});

test("a server that says so all the time is asked a bounded number of times", async () => {
  const server = await openChanging(old, 5_000);
  const run = await openRun([{ url: server.url }]);
  for (let count = 0; count < 30; count++) {
    server.tools = { ...old, [`tool-${count}`]: "New." };
    await run.call("srv_say");
  }
  expect(lists(server)).toBeLessThanOrEqual(17);
});

test("a run that another replica continues compares its list with the server's, unless they are equal", async () => {
  const server = await openChanging(old, 0);
  const { kept } = await openRun([{ url: server.url }]);
  const same = await openRun([{ url: server.url }], { kept });
  expect(await same.call("srv_say")).toEqual({ content: "hi" });
  await expect.poll(() => lists(server)).toBe(2);
  expect(same.changes).toEqual([]);
  server.tools = { say: "Says it." };
  const later = await openRun([{ url: server.url, allowedTools: ["say", "sing"] }], {
    kept: kept.filter(({ tool }: KeptTool) => tool !== "go"),
  });
  expect(await later.call("srv_say")).toEqual({ content: "hi" });
  await expect.poll(() => later.changes).toEqual([{ server: "srv", added: [], removed: ["sing"], changed: [] }]);
});

test("a call that a server refuses shows that its list has changed", async () => {
  const tools = ["say"];
  const refusal = { code: -32602, message: "unknown tool" };
  const server = await openModernByHand(tools, { "tools/call": () => refusal }, { ttlMs: 60_000 });
  const run = await openRun([{ url: server.url }]);
  tools.splice(0, 1, "tell");
  expect(await run.call("srv_say")).toHaveProperty("error");
  await expect.poll(() => run.changes).toEqual([{ server: "srv", added: ["tell"], removed: ["say"], changed: [] }]);
});
