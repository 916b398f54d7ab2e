// The process dies while a tool of an MCP server runs. Whether the tool did its work is unknown, and the protocol has no key by which a
// server recognises a call. So the next process reports the call, and makes only those again that the agent permits twice.

import { realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { z } from "zod";
import { RunService } from "../../gen/runnel/v1/run_service_pb.js";
import { SessionService } from "../../gen/runnel/v1/session_service_pb.js";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { openModernByHand } from "../mcp-client/modern-by-hand.ts";
import { countProcesses, hasJail } from "../tools/bash/jailed.ts";
import { openCluster, openProvider, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const interrupted = "interrupted: the process that ran this call was lost, and the call was not repeated";

test("calls of an MCP server at a kill: one is reported, one is repeated, and the list of tools stays, as the log says", async () => {
  const begun = { pay: 0, read: 0 };
  let isLater = false;
  const server = await openMcpServer((each) => {
    for (const name of ["pay", "read"] as const) {
      each.registerTool(name, { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
        begun[name] += 1;
        if (isLater) {
          return { content: [{ type: "text", text: name }] };
        }
        const progressToken = mcpReq._meta?.progressToken ?? "";
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
        return await new Promise<never>(() => {});
      });
    }
    if (isLater) {
      each.registerTool("newer", { inputSchema: z.object({}) }, async () => ({ content: [] }));
    }
  });
  const { provider, environment } = await openProvider();
  const calls = [
    { id: "call_pay", name: "srv_pay", arguments: "{}" },
    { id: "call_read", name: "srv_read", arguments: "{}" },
  ];
  provider.respond(callTools(...calls), answer("done"));
  const cluster = await openCluster({ ...environment, RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32" });
  const first = await cluster.start();
  const headers = [{ name: "authorization", value: "Bearer secret-4711-key" }];
  const tools = { mcp: [{ name: "srv", url: server.url, headers, repeatable: ["read"] }] };
  const { runId } = await startRun(first.client, "pay", { name: "fault", tools });
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await expect.poll(() => reader.count("toolCallProgress"), { timeout: 20_000 }).toBe(2);
  expect(begun).toEqual({ pay: 1, read: 1 });
  await first.kill();
  isLater = true;
  expect(await following).toBe(status.UNAVAILABLE);

  const second = await cluster.startHere();
  expect(await reader.follow(second.client)).toBe(status.OK);
  const ends = reader.results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value] : []));
  expect(ends).toEqual([
    expect.objectContaining({ toolCallId: "call_pay", error: interrupted }),
    expect.objectContaining({ toolCallId: "call_read", result: '{"content":"read"}' }),
  ]);
  expect(begun).toEqual({ pay: 1, read: 2 });
  const changes = reader.results.flatMap(({ payload }) => (payload.case === "toolsChanged" ? [payload.value] : []));
  expect(changes).toEqual([expect.objectContaining({ server: "srv", added: ["newer"], removed: [], changed: [] })]);
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
  const offered = provider.requests.map(({ body }) =>
    (body.tools as { function: { name: string } }[]).map((each) => each.function.name),
  );
  expect(offered).toEqual([
    ["srv_pay", "srv_read"],
    ["srv_pay", "srv_read"],
  ]);
  expect(
    JSON.stringify(reader.results, (_, value) => (typeof value === "bigint" ? String(value) : value)),
  ).not.toContain("secret-4711");
  const { agent } = await second.client.call(RunService.method.getRunInput, { runId });
  expect(agent?.tools?.mcp).toMatchObject([{ name: "srv", headers: [{ name: "authorization", value: "" }] }]);
  await expectInvariants(cluster.databaseUrl);
});

test.each(["killed", "stopped"])(
  "a task of an MCP server goes on while its replica is %s, and the next one has its result",
  async (how) => {
    const task = { taskId: "task-1", createdAt: "2026-11-29T00:00:00Z", lastUpdatedAt: "2026-11-29T00:00:00Z" };
    const working = { ...task, ttlMs: null, status: "working", pollIntervalMs: 100, statusMessage: "half way" };
    const result = { content: [{ type: "text", text: "the result" }] };
    let isOver = false;
    const server = await openModernByHand(["job"], {
      "tools/call": () => ({ ...working, resultType: "task" }),
      "tasks/get": () => ({ ...working, resultType: "complete", ...(isOver && { status: "completed", result }) }),
    });
    const { provider, environment } = await openProvider();
    provider.respond(callTools({ id: "call_job", name: "srv_job", arguments: "{}" }), answer("done"));
    const cluster = await openCluster({
      ...environment,
      RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32",
      RUNNEL_SERVER_DRAIN_SECONDS: "1",
    });
    const first = await cluster.start();
    const tools = { mcp: [{ name: "srv", url: server.url }] };
    const { runId } = await startRun(first.client, "work", { name: "fault", tools });
    const reader = new LogReader(runId);
    const following = reader.follow(first.client);
    await expect.poll(() => reader.count("toolCallProgress"), { timeout: 20_000 }).toBe(1);
    await (how === "killed" ? first.kill() : first.stop());
    await following;
    const second = await cluster.startHere();
    const looks = server.requests.length;
    await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBeGreaterThan(looks + 2);
    isOver = true;
    expect(await reader.follow(second.client)).toBe(status.OK);
    const ends = reader.results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value] : []));
    expect(ends).toEqual([expect.objectContaining({ toolCallId: "call_job", result: '{"content":"the result"}' })]);
    expect(server.calls()).toHaveLength(1);
    expect(server.requests.filter(({ rpc }) => rpc === "tasks/cancel")).toEqual([]);
    expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
    await expectInvariants(cluster.databaseUrl);
  },
);

const program = `
import { createInterface } from "node:readline";
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "hold", inputSchema: { type: "object" } }] }),
  "tools/call": ({ _meta }) => {
    say({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: 1 } });
    return new Promise(() => {});
  },
};
process.on("SIGTERM", () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) {
    const answer = answers[method];
    Promise.resolve(answer?.(params)).then((result) =>
      say({ id, ...(answer === undefined ? { error: { code: -32601, message: "unknown" } } : { result }) }),
    );
  }
}
setInterval(() => {}, 1_000);
`;

test.runIf(hasJail)("a stop leaves no program of a server, and reports the calls that were in flight", async () => {
  const folder = await realpath(await openFolder());
  await writeFile(join(folder, "server.mjs"), program);
  const command = { command: process.execPath, args: ["{work_dir}/server.mjs"] };
  const setting = { ...command, folders: [dirname(process.execPath)] };
  const { provider, environment } = await openProvider();
  const calls = ["call_1", "call_2"].map((id) => ({ id, name: "srv_hold", arguments: "{}" }));
  provider.respond(callTools(...calls), answer("done"));
  const cluster = await openCluster({
    ...environment,
    RUNNEL_MCP_SERVERS: `srv=${JSON.stringify(setting)}`,
    RUNNEL_SESSIONS_WORK_DIRS: "/",
    RUNNEL_SERVER_DRAIN_SECONDS: "1",
  });
  const first = await cluster.start();
  const agent = { name: "fault", tools: { mcp: [{ name: "srv" }] } };
  const { sessionId } = await first.client.call(SessionService.method.createSession, { agent, workDir: folder });
  const { runId } = await first.client.call(SessionService.method.sendMessage, { sessionId, message: "hold" });
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await expect.poll(() => reader.count("toolCallProgress"), { timeout: 60_000 }).toBe(2);
  expect(countProcesses(join(folder, "server.mjs"))).toBeGreaterThan(0);
  expect(await first.stop()).toBe(0);
  await following;
  expect(countProcesses(join(folder, "server.mjs"))).toBe(0);

  const second = await cluster.start();
  expect(await reader.follow(second.client)).toBe(status.OK);
  const ends = reader.results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value] : []));
  expect(ends.map(({ toolCallId, error }) => [toolCallId, error?.startsWith("interrupted: ")])).toEqual([
    ["call_1", true],
    ["call_2", true],
  ]);
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
  await expectInvariants(cluster.databaseUrl);
  expect(await second.stop()).toBe(0);
  expect(countProcesses(join(folder, "server.mjs"))).toBe(0);
});
