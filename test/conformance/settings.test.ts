// The settings of the model, and tools that a provider runs itself: from a caller to the provider, frozen with the run, and refused
// where they cannot work.

import { describe, expect, onTestFinished, test } from "vitest";
import { ToolChoice_Mode, Verbosity } from "#gen/runnel/v1/session_pb.js";
import { answer, startFakeProvider } from "../fakes/provider.ts";
import { startService } from "../harness/service.ts";
import { expectRefused, modelFlags, readSession, setStage } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const kinds = ["gRPC", "REST", "Connect, HTTP/1.1, JSON"].map(findSurface);
const tools = { builtin: ["list_dir"] };

type Agent = NonNullable<Parameters<Surface["sendMessage"]>[0]["agent"]>;

async function send(api: Surface, agent: Agent): Promise<string> {
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "hello", agent });
  await readSession(api, sessionId);
  return runId;
}

describe.each(kinds)("over $name", (kind) => {
  test("settings reach the provider, and are shown with the input of their run", async () => {
    const { provider, api } = await setStage(kind);
    provider.respond(answer("ok"));
    const runId = await send(api, {
      ...{ topP: 0.25, stop: ["END"], seed: 7n, frequencyPenalty: 0.5, presencePenalty: -0.5 },
      ...{ verbosity: Verbosity.LOW, serviceTier: "flex", parallelToolCalls: false },
      ...{ toolChoice: { name: "list_dir" }, tools },
    });
    const settings = {
      ...{ top_p: 0.25, stop: ["END"], seed: 7, frequency_penalty: 0.5, presence_penalty: -0.5 },
      ...{ verbosity: "low", service_tier: "flex", parallel_tool_calls: false },
    };
    const { body } = await provider.request(0);
    expect(body).toMatchObject({ ...settings, tool_choice: { type: "function", function: { name: "list_dir" } } });
    const { agent } = await api.getRunInput(runId);
    expect(agent).toMatchObject({ ...settings, tool_choice: { name: "list_dir" } });
  });

  test("what cannot work is refused by name, and starts nothing", async () => {
    const { provider, api } = await setStage(kind);
    const refuse = (agent: Agent, text: string | RegExp) =>
      expectRefused(send(api, agent), {
        grpcCode: "INVALID_ARGUMENT",
        httpStatus: 400,
        reason: "INVALID_ARGUMENT",
        text,
      });
    await refuse(
      { topK: 5 },
      /^invalid agent\.top_k: openai has no such setting: leave it out, or use a model of .*compatible/,
    );
    await refuse({ topP: 3 }, "invalid agent.top_p: must be greater than 0 and less than or equal to 1");
    await refuse(
      { toolChoice: { mode: ToolChoice_Mode.REQUIRED } },
      "invalid agent.tool_choice: the agent has no tool to call: give it some, or leave the choice out",
    );
    await refuse(
      { toolChoice: { name: "get_time" }, tools },
      'invalid agent.tool_choice.name: the agent has no tool "get_time": name one of list_dir',
    );
    await refuse(
      { tools: { provider: [{ provider: "elsewhere", tool: "{}" }] } },
      /^invalid agent\.tools\.provider\[0\]\.provider: must be one of openai, /,
    );
    expect(provider.requests).toEqual([]);
  });
});

test("a provider's own tool reaches that provider as it is written, and no other", async () => {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  const service = await startService({ ...modelFlags(provider), compatibleBaseUrl: provider.baseUrl });
  const api = findSurface("gRPC").connect(service);
  provider.respond(answer("ok"), answer("ok"));
  const tool = '{"type":"browser_search","budget":9007199254740993}';
  const tools = {
    provider: [
      { provider: "compatible", tool },
      { provider: "gemini", tool: '{"google_search":{}}' },
    ],
  };
  await send(api, { tools, model: "compatible:llama" });
  expect((await provider.request(0)).text).toContain(`"tools":[${tool}]`);
  await send(api, { tools });
  expect((await provider.request(1)).text).not.toContain('"tools"');
});
