// The settings of the model, and tools that a provider runs itself: from a caller to the provider, frozen with the run, and refused
// where they cannot work.

import { describe, expect } from "vitest";
import { ToolChoice_Mode, Verbosity } from "#gen/runnel/v1/session_pb.js";
import { likelyText, likelyTexts, likelyTokens } from "../fakes/log-probabilities.ts";
import { answer } from "../fakes/provider.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { expectRefused, modelFlags, readSession, test } from "./stage.ts";
import type { Plain, Surface } from "./surface.ts";
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

/** Returns a value whose bytes are texts, as REST writes them. */
function withBase64(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return Buffer.from(value).toString("base64");
  }
  if (Array.isArray(value)) {
    return value.map(withBase64);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withBase64(member)]))
    : value;
}

describe.each(kinds)("over $name", (kind) => {
  test.override("kind", kind);

  test("settings reach the provider, and are shown with the input of their run", async ({ provider, api }) => {
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

  test("the log has the log probabilities of a text, in its deltas and in its message; the transcript has none", async () => {
    const server = await openWireServer();
    const [chat = expect.fail("no provider")] = likelyTexts;
    const api = kind.connect(await startService(chat.flags(server.origin)));
    server.respond(chat.say);
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", topLogprobs: 5 } });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi", agent: { topLogprobs: 2 } });
    const log = await Array.fromAsync(api.followRun(runId));
    expect((await server.request(0)).body).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect((await api.getRunInput(runId)).agent).toMatchObject({ top_logprobs: 2 });
    const payloads = (type: string) =>
      log.flatMap((each) => (each.type === type ? [withBase64(each.payload) as Plain] : []));
    const chunks = payloads("message.delta").map(({ chunk }) => chunk as { content: string; logprobs?: unknown[] });
    expect(chunks.map(({ content }) => content).join("")).toBe(likelyText);
    const base64 = ({ bytes, ...token }: { readonly bytes: readonly number[] }) => ({
      ...token,
      bytes: Buffer.from(bytes).toString("base64"),
    });
    const expected = likelyTokens.map(({ top_logprobs, ...token }) => ({
      ...base64(token),
      ...(top_logprobs.length > 0 && { top: top_logprobs.map(base64) }),
    }));
    expect(chunks.flatMap(({ logprobs = [] }) => logprobs)).toEqual(expected);
    expect(payloads("message.completed")).toEqual([
      { message: { role: "assistant", text: likelyText, logprobs: expected } },
    ]);
    expect((await api.listMessages({ sessionId })).messages.at(-1)?.message).toEqual({
      role: "assistant",
      text: likelyText,
    });
  });

  test("what cannot work is refused by name, and starts nothing", async ({ provider, api }) => {
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
    await refuse(
      { topLogprobs: 21 },
      "invalid agent.top_logprobs: must be greater than or equal to 0 and less than or equal to 20",
    );
    await refuse({ topP: 3 }, "invalid agent.top_p: must be greater than or equal to 0 and less than or equal to 1");
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

test("a provider's own tool reaches that provider as it is written, and no other", async ({ provider }) => {
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
