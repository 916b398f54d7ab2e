// The memory tools of runners: one store for their state, for the tools, and for the agents of their client.

import { expect } from "vitest";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { GrpcClient } from "../harness/grpc.ts";
import { endRun, method, openStage, type Runner, refusalOf, test } from "./stage.ts";

const tools = Object.fromEntries(["memory_read", "memory_write", "memory_search"].map((name) => [name, ["call"]]));

async function openMemory(grant: object = {}) {
  const stage = await openStage();
  const runner = await stage.addRunner({ grant: { tools, ...grant } });
  const api = new GrpcClient(stage.target);
  return { ...stage, runner, api };
}

const callTool = async (runner: Runner, toolName: string, parameters: object): Promise<string> => {
  const { result } = await runner.call(method.callTool, { toolName, parameters: JSON.stringify(parameters) });
  return JSON.parse(result).content;
};

test("a tool reads the state that the runner sets, and writes what the runner gets", async () => {
  const { runner } = await openMemory();
  await runner.call(method.setState, { scope: "conversation", key: "mood", value: '{"is": "good"}' });
  await runner.call(method.setState, { scope: "runner", key: "seen", value: "7" });
  expect(await callTool(runner, "memory_read", { key: "mood" })).toMatch(/^\{"is": "good"\}\n\n\[version: \d+\]$/);
  expect(await callTool(runner, "memory_read", { key: "seen", scope: "agent" })).toMatch(/^7\n/);
  expect(await callTool(runner, "memory_search", { query: "GOOD" })).toContain("mood");
  await callTool(runner, "memory_write", { key: "mood", content: "better" });
  expect(await runner.call(method.getState, { scope: "conversation", key: "mood" })).toMatchObject({
    value: '"better"',
  });
});

test("a runner and its client's program share the memory of the client, and no other client has it", async () => {
  const { runner, api, addRunner } = await openMemory();
  const key = `shared ${runner.runId}`;
  await callTool(runner, "memory_write", { key, content: "by a runner", scope: "client" });
  const { entry } = await api.call(MemoryService.method.getMemory, { key });
  expect(entry?.value).toBe('"by a runner"');
  await api.call(MemoryService.method.writeMemory, { key, value: '"by the client"', ifVersion: entry?.version ?? 0n });
  expect(await callTool(runner, "memory_read", { key, scope: "client" })).toMatch(/^by the client\n/);
  const stranger = await addRunner({ scope: { client: "shared/stranger" }, grant: { tools } });
  const read = stranger.call(method.callTool, {
    toolName: "memory_read",
    parameters: JSON.stringify({ key, scope: "client" }),
  });
  expect((await refusalOf(read)).message).toContain("no entry");
});

test("a version of the state changes with each write of the runner", async () => {
  const { runner } = await openMemory();
  await callTool(runner, "memory_write", { key: "n", content: "1", version: 0 });
  const read = await callTool(runner, "memory_read", { key: "n" });
  await runner.call(method.setState, { scope: "conversation", key: "n", value: "2" });
  const version = Number(/version: (\d+)/.exec(read)?.[1]);
  const late = runner.call(method.callTool, {
    toolName: "memory_write",
    parameters: JSON.stringify({ key: "n", content: "3", version }),
  });
  expect((await refusalOf(late)).message).toContain("read it again");
  expect((await runner.call(method.getState, { scope: "conversation", key: "n" })).value).toBe("2");
});

test("a runner without the grant of a state, or whose run has ended, writes none", async () => {
  const { runner, db, addRunner } = await openMemory();
  const narrow = await addRunner({ grant: { tools, stateScopes: ["actor"] } });
  const parameters = JSON.stringify({ key: "k", content: "v" });
  const refused = await refusalOf(narrow.call(method.callTool, { toolName: "memory_write", parameters }));
  expect(refused.message).toContain("there is no memory of the session here");
  await endRun(db, runner.runId);
  await refusalOf(runner.call(method.callTool, { toolName: "memory_write", parameters }));
  expect(await db.selectFrom("state_value").select("key").where("key", "=", "k").execute()).toEqual([]);
});
