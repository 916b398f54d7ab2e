// Lines that no editor sends to `runnel acp`: each request gets an error that is not an internal one, no run starts, and the command
// goes on.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { startCommand } from "./command.ts";

const odd: readonly unknown[] = [
  null,
  true,
  1.5,
  -1,
  1e308,
  "",
  "\u0000",
  "../../x",
  "x".repeat(10_000),
  [],
  [null],
  {},
];
const sessionId = crypto.randomUUID();
const block = { type: "text", text: "x" };
const methods: readonly (readonly [method: string, paramsOf: (value: unknown) => unknown])[] = [
  ["initialize", (value) => ({ protocolVersion: value })],
  ["session/new", (value) => ({ cwd: value, mcpServers: value })],
  ["session/new", (value) => value],
  ["session/load", (value) => ({ sessionId: value, cwd: "/project", mcpServers: [] })],
  ["session/resume", (value) => ({ sessionId: value, cwd: "/project", mcpServers: [] })],
  ["session/list", (value) => ({ cursor: value === null ? 1 : value, cwd: value })],
  ["session/prompt", (value) => ({ sessionId: value, prompt: [block] })],
  ["session/prompt", (value) => ({ sessionId, prompt: value })],
  ["session/prompt", (value) => ({ sessionId, prompt: [block, value] })],
  ["session/set_config_option", (value) => ({ sessionId, configId: value, value })],
  ["session/set_mode", (value) => ({ sessionId: value, modeId: value })],
  ["authenticate", (value) => ({ methodId: value })],
  ["session/close", (value) => ({ sessionId: value })],
  ["session/delete", (value) => ({ sessionId: value })],
  ["session/fork", (value) => ({ sessionId: value, cwd: value })],
  ["_odd/method", (value) => value],
  ["constructor", (value) => value],
];
const lines = [
  "",
  "{",
  "null",
  "[]",
  "1",
  '"x"',
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"1.0","id":1}',
  "\u0000",
  "x".repeat(10_000),
];

test("nothing stops the command or starts a run", { timeout: 60_000 }, async () => {
  const service = await startService({ agentPresets: ["plain={}"] }, { own: true });
  const { child } = startCommand(["acp", "--url", service.url], {
    environment: { RUNNEL_API_KEY: keyOf() },
    keepsInput: true,
  });
  const answers = new Map<unknown, { readonly error?: { readonly code: number; readonly message: string } }>();
  let rest = "";
  child.stdout?.on("data", (text: Buffer | string) => {
    const all = (rest + text.toString()).split("\n");
    rest = all.pop() ?? "";
    for (const line of all.filter((each) => each !== "")) {
      const answer = JSON.parse(line);
      answers.set(answer.id, answer);
    }
  });
  const write = (line: string): void => void child.stdin?.write(`${line}\n`);
  const request = (id: string, method: string, params: unknown): void =>
    write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  for (const line of lines) {
    write(line);
  }
  request("hello", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  const sent: string[] = [];
  for (const [index, [method, paramsOf]] of methods.entries()) {
    for (const [position, value] of odd.entries()) {
      const id = `${index} ${method} ${position}`;
      sent.push(id);
      request(id, method, paramsOf(value));
    }
  }
  request("bye", "session/new", { cwd: "/project", mcpServers: [] });
  await until("all answers", () => [...sent, "hello", "bye"].every((id) => answers.has(id)), 50_000);
  expect(sent.length + lines.length).toBeGreaterThan(200);
  const internal = sent.filter((id) => answers.get(id)?.error?.code === -32_603).map((id) => [id, answers.get(id)]);
  expect(internal).toEqual([]);
  expect(answers.get("bye")).toMatchObject({ result: { sessionId: expect.any(String) } });
  const { runs } = await new GrpcClient(service.target).call(RunService.method.listRuns, {});
  expect(runs).toEqual([]);
  child.stdin?.end();
});
