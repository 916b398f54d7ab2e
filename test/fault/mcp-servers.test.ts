// The process dies while a tool of an MCP server runs. Whether the tool did its work is unknown, and the protocol has no key by which a
// server recognises a call. So the next process reports the call, and makes only those again that the agent permits twice.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { z } from "zod";
import { RunService } from "../../gen/runnel/v1/run_service_pb.js";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { openCluster, openProvider, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const interrupted = "interrupted: the process that ran this call was lost, and the call was not repeated";

test("calls of an MCP server at a kill: one is reported, one is repeated, and the list of tools stays", async () => {
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

  const second = await cluster.start();
  expect(await reader.follow(second.client)).toBe(status.OK);
  const ends = reader.results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value] : []));
  expect(ends).toEqual([
    expect.objectContaining({ toolCallId: "call_pay", error: interrupted }),
    expect.objectContaining({ toolCallId: "call_read", result: '{"content":"read"}' }),
  ]);
  expect(begun).toEqual({ pay: 1, read: 2 });
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
