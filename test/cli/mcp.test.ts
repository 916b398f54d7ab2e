// `runnel mcp` as assistants start it: messages over standard input and output, through the death of the service.

import { expect, onTestFinished, test } from "vitest";
import { answer, hangAfter, type Script } from "../fakes/provider.ts";
import { openCluster, openProvider } from "../fault/cluster.ts";
import { keyOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { runCommand, startCommand } from "./command.ts";

type Message = {
  id?: unknown;
  method?: string;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
};

function startBridge(url: string) {
  const bridge = startCommand(["mcp", "--url", url], { environment: { RUNNEL_API_KEY: keyOf() }, keepsInput: true });
  const messages = (): Message[] =>
    bridge
      .stdout()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  return {
    ...bridge,
    messages,
    send: (message: object) => bridge.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    answerTo: (id: number) =>
      until(`the answer to ${id}`, () => messages().find((each) => each.id === id && each.method === undefined)),
  };
}

const modern = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

test("a session's call ends right when the service dies in the middle", async () => {
  const { provider, environment } = await openProvider();
  const half: Script = hangAfter("Par");
  provider.respond(half, answer("Paris"), answer("Berlin"));
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({ ...environment, RUNNEL_SERVER_PORT: String(port) });
  const service = await cluster.start();
  const bridge = startBridge(service.url);
  const clientInfo = { name: "test", version: "1" };
  bridge.send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  expect((await bridge.answerTo(1)).result).toMatchObject({ serverInfo: { name: "runnel" } });
  bridge.send({ method: "notifications/initialized" });
  bridge.send({ id: 2, method: "tools/list" });
  expect((await bridge.answerTo(2)).result).toMatchObject({ tools: [{ name: "default" }] });
  const call = { name: "default", arguments: { message: "The capital of France?" }, _meta: { progressToken: 3 } };
  bridge.send({ id: 3, method: "tools/call", params: call });
  await until("the first words", () => bridge.messages().some(({ method }) => method === "notifications/progress"));
  await service.kill();
  await cluster.start();
  expect((await bridge.answerTo(3)).result).toMatchObject({ content: [{ type: "text", text: "Paris" }] });
  bridge.child.stdin?.end();
  expect((await bridge.ended).code).toBe(0);
}, 120_000);

test("requests of the newest revision need no session, and each gets an answer", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(answer("Paris"));
  const service = await (await openCluster(environment)).start();
  const bridge = startBridge(service.url);
  onTestFinished(() => void bridge.child.kill());
  const params = { name: "default", arguments: { message: "The capital of France?" }, _meta: modern };
  bridge.send({ id: 1, method: "tools/call", params });
  expect((await bridge.answerTo(1)).result).toMatchObject({ resultType: "complete", content: [{ text: "Paris" }] });
  bridge.send({ id: 2, method: "resources/read", params: { uri: "runnel://runs/ü", _meta: modern } });
  expect((await bridge.answerTo(2)).error).toMatchObject({ code: -32602 });
  bridge.child.stdin?.write("no message\n");
  await until("the refusal", () => bridge.messages().some(({ error }) => error?.code === -32700));
  await service.kill();
  bridge.send({ id: 3, method: "tools/list", params: { _meta: modern } });
  expect((await bridge.answerTo(3)).error?.message).toContain("no answer from");
}, 120_000);

test("standard input that ends at once ends the bridge", async () => {
  expect(await runCommand(["mcp", "--url", "http://127.0.0.1:1"], { input: "" })).toMatchObject({
    code: 0,
    stdout: "",
  });
});
