// Models that do not read errors: they repeat calls that no tool can take, or their calls are cut by the token limit.

import { describe, expect } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { test as base, readSession, setStage, startConversation } from "./stage.ts";
import type { Plain, SessionEvent } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");
const test = base.extend("kind", rest);
const tools = { builtin: ["list_dir"] };

function ofType(events: readonly SessionEvent[], type: string): Plain[] {
  return events.filter((event) => event.type === type).map(({ payload }) => payload);
}

describe("a model that repeats a call of an unknown tool", () => {
  test.each([
    ["the same one", ["zap", "zap", "zap"]],
    ["two in turn", ["zap", "zip", "zap", "zip", "zap"]],
    ["several in turn", ["zap", "zip", "zop", "zap", "zip"]],
  ])("%s: the run ends with the reason, and every call has its error", async (_, names) => {
    const { provider, api } = await setStage(rest);
    const scripts = names.map(
      (name, turn): Script => callTools({ id: `call_${turn}`, name, arguments: `{"try":${turn}}` }),
    );
    provider.respond(...scripts, answer("never"));
    const { sessionId } = await startConversation(api, { tools });
    const events = await readSession(api, sessionId);
    expect(ofType(events, "tool_result").map(({ error }) => error)).toEqual(
      names.map((name) => `unknown tool: ${name}; this agent has the tools list_dir`),
    );
    expect(ofType(events, "error")).toMatchObject([
      { message: `the model repeats invalid calls: unknown tool: ${names.at(-1)}; this agent has the tools list_dir` },
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "failed", turns: names.length });
    expect(provider.requests).toHaveLength(names.length);
  });

  test("several times in one response, it may read the error and go on", async ({ provider, api }) => {
    const names = ["zap", "zap", "zap"];
    provider.respond(
      callTools(...names.map((name, at) => ({ id: `call_${at}`, name, arguments: "{}" }))),
      answer("well"),
    );
    const { sessionId } = await startConversation(api, { tools });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ status: "completed", output: "well" });
  });

  test.for([
    [["zap", "zap", "list_dir", "a", "b", "c", "d", "e"]],
    [["zap", "zip", "list_dir", "a", "a", "b"]],
  ] as const)("and then makes a valid call begins anew: %j", async ([names], { provider, api }) => {
    const scripts = names.map((name, at) => callTools({ id: `call_${at}`, name, arguments: "{}" }));
    provider.respond(...scripts, answer("well"));
    const { sessionId } = await startConversation(api, { tools, maxTurns: 20 });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({
      status: "completed",
      output: "well",
    });
  });

  test("fails with a code of its own", async ({ provider, api, service }) => {
    const again = callTools({ id: "call_1", name: "list_dir", arguments: "{" });
    provider.respond(again, again, again, answer("never"));
    const { sessionId } = await startConversation(api, { tools });
    await readSession(api, sessionId);
    const client = new GrpcClient(service.target);
    const { runs } = await client.call(RunService.method.listRuns, {});
    const batches = await Array.fromAsync(client.stream(RunService.method.tailRun, { runId: runs[0]?.runId ?? "" }));
    const last = batches.flatMap(({ results }) => results).at(-1);
    expect(last?.payload).toMatchObject({
      case: "runFailed",
      value: { code: "runner.invalid_calls", retryable: false },
    });
  });
});

describe("a model whose call is cut by the token limit", () => {
  const cut: Script = (wire) => {
    wire.text("I will look");
    wire.toolCalls({ index: 0, id: "call_1", name: "list_dir", arguments: '{"path": "' });
    wire.finish("length");
  };

  test("learns it once, and can go on", async ({ provider, api }) => {
    provider.respond(cut, callTools({ id: "call_2", name: "list_dir", arguments: "{}" }), answer("well"));
    const { sessionId } = await startConversation(api, { tools });
    const events = await readSession(api, sessionId);
    expect(ofType(events, "tool_call").map(({ args }) => args)).toEqual([{}, {}]);
    expect(ofType(events, "tool_result")).toMatchObject([
      { success: false, error: expect.stringContaining("before this call was complete") },
      { success: true },
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "well" });
    const { body } = await provider.request(1);
    const said = body.messages.find(({ role }: { role: string }) => role === "assistant");
    expect(said).toMatchObject({ tool_calls: [{ id: "call_1", function: { name: "list_dir", arguments: "{}" } }] });
  });

  test("beside a call for the caller, gets the error, and the caller no call", async ({ provider, api }) => {
    const both: Script = (wire) => {
      wire.toolCalls({ index: 0, id: "call_1", name: "list_dir", arguments: "{}" });
      wire.toolCalls({ index: 1, id: "call_2", name: "pay", arguments: '{"amount": 10' });
      wire.finish("length");
    };
    provider.respond(both, answer("well"));
    const { sessionId } = await startConversation(api, { tools: { ...tools, functions: [{ name: "pay" }] } });
    const events = await readSession(api, sessionId);
    expect(ofType(events, "tool_result")).toMatchObject([
      { success: false, error: expect.stringContaining("before this call was complete") },
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "well" });
  });

  test("a second time, the run ends with the reason length", async ({ provider, api }) => {
    provider.respond(cut, cut, answer("never"));
    const { sessionId } = await startConversation(api, { tools });
    const events = await readSession(api, sessionId);
    expect(ofType(events, "tool_call")).toHaveLength(1);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", turns: 2 });
    expect(provider.requests).toHaveLength(2);
  });
});
