// Whole runs with Gemini, whose calls have no ids, and whose signatures go back with the calls that they came with.

import { expect, test } from "vitest";
import { type GeminiScript, onGemini } from "../fakes/gemini-provider.ts";
import type { WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { readSession, startConversation } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

async function setGeminiStage(...scripts: readonly GeminiScript[]): Promise<{ server: WireServer; api: Surface }> {
  const server = await openWireServer();
  server.respond(...scripts.map(onGemini));
  const geminiBaseUrl = `${server.origin}/v1beta`;
  const service = await startService({ geminiKey: "a-key", geminiBaseUrl, defaultModel: "gemini-2.5-flash" });
  return { server, api: findSurface("REST").connect(service) };
}

type Part = Readonly<Record<"functionCall" | "functionResponse", { readonly id: string } | undefined>>;

/** The ids of the calls and of the results in a request, in order. */
async function idsIn(server: WireServer, request: number): Promise<{ calls: string[]; results: string[] }> {
  const { body } = await server.request(request);
  const parts = (body as unknown as { contents: { parts: Part[] }[] }).contents.flatMap((content) => content.parts);
  return {
    calls: parts.flatMap(({ functionCall }) => functionCall?.id ?? []),
    results: parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  };
}

const list = (signature: string) => ({ functionCall: { name: "list_dir", args: {} }, thoughtSignature: signature });
const call: GeminiScript = (wire) =>
  wire.frame({ candidates: [{ content: { parts: [list("QQ=="), list("Qg==")] }, finishReason: "STOP" }] });
const cut: GeminiScript = (wire) => wire.parts([list("QQ==")], { finishReason: "MAX_TOKENS" });
const answer: GeminiScript = (wire) => {
  wire.text("well");
  wire.finish("STOP");
};

const tools = { builtin: ["list_dir"] };

test("calls without ids get ids that no other call of the run has, and their results have the same", async () => {
  const { server, api } = await setGeminiStage(call, call, answer);
  const { sessionId } = await startConversation(api, { tools });
  const events = await readSession(api, sessionId);
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "well" });
  const { calls, results } = await idsIn(server, 2);
  expect(new Set(calls).size).toBe(4);
  expect(results).toEqual(calls);
});

test("a session goes on after a run that the token limit has cut twice: no call is without its result", async () => {
  const { server, api } = await setGeminiStage(cut, cut, answer);
  const { sessionId } = await startConversation(api, { tools });
  await readSession(api, sessionId);
  await api.sendMessage({ sessionId, message: "go on" });
  const events = await readSession(api, sessionId);
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "well" });
  const { calls, results } = await idsIn(server, 2);
  expect(calls).toHaveLength(1);
  expect(results).toEqual(calls);
});

test("code that Google runs is in the log as calls with ids of their own, and runs nothing here", async () => {
  const executableCode = { language: "PYTHON", code: "print(1)" };
  const codeExecutionResult = { outcome: "OUTCOME_OK", output: "1" };
  const { api } = await setGeminiStage((wire) => {
    wire.parts([{ executableCode }, { codeExecutionResult }, { executableCode }]);
    wire.text("well");
    wire.finish("STOP");
  });
  const { runId } = await startConversation(api, { tools });
  const results = await Array.fromAsync(api.followRun(runId));
  const ofTools = results.filter(({ type }) => type.startsWith("tool.call.")).map(({ payload }) => payload);
  const call = { tool_name: "code_execution", run_by_provider: true };
  expect(ofTools).toMatchObject([
    { ...call, parameters: executableCode },
    { ...call, result: { content: codeExecutionResult } },
    { ...call, parameters: executableCode },
    { ...call, error: "the provider sent no result" },
  ]);
  const [first, second, third, fourth] = ofTools.map((payload) => payload.tool_call_id);
  expect([second, fourth]).toEqual([first, third]);
  expect(first).toMatch(/^call_./);
  expect(third).not.toBe(first);
  expect(results.at(-1)?.payload).toMatchObject({ message: { text: "well" } });
});
