// MCP servers as tools of agents, over the whole service: the model's requests and the log. The server is the official package's.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Config } from "../../src/platform/config/keys.ts";
import { type Stage, setStage, told } from "../conformance/stage.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { type Describe, type FakeMcpServer, openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";

const token = "secret-token-4711-abcdef";

const describeTools: Describe = (server) => {
  server.registerTool(
    "echo",
    { description: "Says it again.", inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => ({ content: [{ type: "text", text: `Echo: ${message}` }] }),
  );
  server.registerTool("sum.of", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b },
  }));
  server.registerTool("fail", { inputSchema: z.object({}) }, async () => ({
    isError: true,
    content: [{ type: "text", text: "the disk is full" }],
  }));
  server.registerTool("picture", { inputSchema: z.object({}) }, async () => ({
    content: [
      { type: "text", text: "a dot" },
      { type: "image", mimeType: "image/png", data: dot },
      { type: "resource", resource: { uri: "file:///notes.txt", mimeType: "text/plain", text: "noted" } },
      { type: "resource_link", uri: "https://example.com/report", name: "report" },
    ],
  }));
  server.registerTool("leak", { inputSchema: z.object({}) }, async (_, { http }) => ({
    content: [{ type: "text", text: `you are ${http?.req?.headers.get("authorization")}` }],
  }));
};

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const openStage = (flags: Partial<Config> = {}): Promise<Stage> =>
  setStage(findSurface("gRPC"), { securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"], ...flags });

/** Returns what a run with a server tells, in which the model makes one call. */
async function converse(
  { provider, api }: Stage,
  server: FakeMcpServer,
  { name, args = "{}", fields = {} }: { name: string; args?: string; fields?: object },
): Promise<unknown[]> {
  provider.respond(callTools({ id: "call_1", name, arguments: args }), answer("done"));
  const mcp = [
    { name: "srv", url: server.url, headers: [{ name: "Authorization", value: `Bearer ${token}` }], ...fields },
  ];
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", tools: { mcp } } });
  await api.sendMessage({ sessionId, message: "hello" });
  return told(await Array.fromAsync(api.followSession(sessionId)));
}

describe.each(["modern", "legacy"] as const)("a %s server", (era) => {
  test("is listed for the model and called, and its result is in the log", async () => {
    const server = await openMcpServer(describeTools, era);
    const stage = await openStage();
    const events = await converse(stage, server, { name: "srv_echo", args: '{"message":"hi"}' });
    expect(events).toEqual([
      ["tool_call", { tool: "srv_echo", args: { message: "hi" } }],
      ["tool_result", { tool: "srv_echo", success: true, content: "Echo: hi" }],
      ["text", { content: "done" }],
      ["done", { status: "completed", output: "done", turns: 2 }],
    ]);
    const { tools } = (await stage.provider.request(0)).body as unknown as { tools: { function: { name: string } }[] };
    expect(tools.map((tool) => tool.function.name)).toEqual([
      ...["srv_echo", "srv_sum_of", "srv_fail", "srv_picture", "srv_leak"],
    ]);
    expect(tools[0]?.function).toMatchObject({
      description: "Says it again.",
      parameters: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    });
    expect(server.calls()).toHaveLength(1);
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${token}`]));
  });
});

test("errors, structured content and names that no provider accepts", async () => {
  const server = await openMcpServer(describeTools);
  const stage = await openStage();
  const failed = await converse(stage, server, { name: "srv_fail" });
  expect(failed[1]).toEqual([
    "tool_result",
    { tool: "srv_fail", success: false, content: "", error: "the disk is full" },
  ]);
  const sum = await converse(stage, server, { name: "srv_sum_of", args: '{"a":1,"b":2}' });
  expect(sum[1]).toEqual(["tool_result", { tool: "srv_sum_of", success: true, content: "3" }]);
  const wrong = await converse(stage, server, { name: "srv_sum_of", args: '{"a":"x","b":2}' });
  expect(wrong[1]).toMatchObject([
    "tool_result",
    { error: "invalid arguments: /a must be number (#/properties/a/type)" },
  ]);
  expect(server.calls()).toHaveLength(2);
});

test("images and resources are content of the result, as far as the model takes them", async () => {
  const server = await openMcpServer(describeTools);
  const stage = await openStage();
  const events = await converse(stage, server, { name: "srv_picture" });
  const content = "a dot\n[file:///notes.txt]\nnoted\n[report: https://example.com/report]";
  expect(events[1]).toEqual(["tool_result", { tool: "srv_picture", success: true, content }]);
  const placeholder = "[image (image/png, 70 bytes): this model accepts only text as the result of a tool]";
  expect((await stage.provider.request(1)).body.messages.at(-1)).toMatchObject({
    content: `${content}\n${placeholder}`,
  });
});

test("allowed tools, a prefix, and the secret in no text", async () => {
  const server = await openMcpServer(describeTools);
  const stage = await openStage();
  const events = await converse(stage, server, { name: "leak", fields: { allowedTools: ["leak"], prefix: "" } });
  expect(events[1]).toEqual(["tool_result", { tool: "leak", success: true, content: "you are [redacted]" }]);
  const requests = JSON.stringify(stage.provider.requests);
  expect(requests).not.toContain(token);
  const { tools } = (await stage.provider.request(0)).body as unknown as { tools: { function: { name: string } }[] };
  expect(tools.map((tool) => tool.function.name)).toEqual(["leak"]);
});
