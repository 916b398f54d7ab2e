// The counts that providers give of a request: they get what a run would send.

import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { askForCount, countLimitMs } from "../../src/agent/models/count.ts";
import { withMedia } from "../../src/agent/models/media/with-media.ts";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { withResponseFormat } from "../../src/agent/models/response-format.ts";
import { openEgress } from "../egress/internet.ts";
import { fail, type Script } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { anthropicStage } from "./anthropic-stage.ts";
import { chatStage } from "./chat-stage.ts";
import { geminiStage } from "./gemini-stage.ts";
import { responsesStage } from "./openai-responses-stage.ts";
import { request } from "./request.ts";

const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false };
const everything: ModelRequest = {
  ...request,
  // The egress refuses the address, as in a run.
  messages: [
    { role: "user", text: "Hi", parts: [{ type: "text", text: "Hi" }, imageAt("http://10.0.0.1/secret.png")] },
    {
      role: "assistant",
      text: "",
      toolCalls: [{ id: "call00001", name: "add", argumentsJson: '{"n":2512292042121000001}' }],
    },
    { role: "tool", toolCallId: "call00001", toolName: "add", text: "ok" },
  ],
  tools: [{ name: "add", description: "adds", parameters: schema }],
  temperature: 0.5,
  settings: { toolChoice: { name: "add" }, parallelToolCalls: false },
  responseFormat: { type: "json-schema", name: "answer", schema, strict: true },
  providerOptions: { metadata: { user_id: "a" } },
};

function imageAt(url: string) {
  return { type: "image", name: undefined, mediaType: "image/png", data: new URL(url) } as const;
}

type CountedByAnthropic = keyof Anthropic.Beta.Messages.MessageCountTokensParams;
type CountedByOpenAi = keyof OpenAI.Responses.InputTokenCountParams;

const providers = [
  {
    stage: anthropicStage,
    path: "/v1/messages/count_tokens",
    answer: '{"input_tokens":42}',
    countedOf: ({ model, messages, system, tools, tool_choice, output_config }: Record<string, unknown>) =>
      ({ model, messages, system, tools, tool_choice, output_config }) satisfies Partial<
        Record<CountedByAnthropic, unknown>
      >,
  },
  {
    stage: responsesStage,
    path: "/v1/responses/input_tokens",
    answer: '{"object":"response.input_tokens","input_tokens":42}',
    countedOf: ({ model, input, tools, tool_choice, parallel_tool_calls, text }: Record<string, unknown>) =>
      ({ model, input, tools, tool_choice, parallel_tool_calls, text }) satisfies Partial<
        Record<CountedByOpenAi, unknown>
      >,
  },
  {
    stage: geminiStage,
    path: `/v1beta/models/${geminiStage.modelName}:countTokens`,
    answer: '{"totalTokens":42}',
    countedOf: (body: Record<string, unknown>) => ({
      generateContentRequest: { model: `models/${geminiStage.modelName}`, ...body },
    }),
  },
];

async function openModel({ open, modelName }: typeof anthropicStage) {
  const server = await openWireServer();
  const clock = createManualClock();
  const provider = open({ origin: server.origin, apiKey: "key", clock });
  onTestFinished(() => provider.close());
  const options = { egress: openEgress(), clock, takesUrls: false };
  const model = withMedia(withResponseFormat(provider.model(modelName)), options);
  const { signal } = new AbortController();
  return { server, clock, model, count: () => askForCount(model, everything, { clock, signal }), signal };
}

describe.each(providers)("a count of $stage.name", ({ stage, path, answer, countedOf }) => {
  test("is asked for with what a run sends", async () => {
    const { server, model, count, signal } = await openModel(stage);
    server.respond(stage.say("x"), fail(200, answer));
    await Array.fromAsync(model.stream(everything, signal));
    expect(await count()).toBe(42);
    const [run, asked] = [await server.request(0), await server.request(1)];
    expect(asked.path).toBe(path);
    expect(stage.keyOf(asked)).toBe("key");
    expect(asked.body).toEqual(countedOf(run.body));
    expect(asked.text).toContain("2512292042121000001");
    expect(asked.text).toContain("its host is not public");
  });

  test.each<[string, Script]>([
    ["refuses", fail(404, "not found")],
    ["says something else", fail(200, '{"tokens":42}')],
    ["is no JSON", fail(200, "<html>")],
    ["breaks off", (wire) => wire.cut()],
  ])("is missing when the provider %s", async (_, script) => {
    const { server, count } = await openModel(stage);
    server.respond(script);
    expect(await count()).toBeUndefined();
  });
});

test("a count that is late is missing, and its request ends", async () => {
  const { server, clock, count } = await openModel(anthropicStage);
  server.respond((wire) => wire.hang());
  const counting = count();
  const { closed } = await server.request(0);
  clock.advance(countLimitMs);
  expect(await counting).toBeUndefined();
  expect(await closed).toBe(false);
});

test("Chat Completions have no count", async () => {
  const { server, count } = await openModel(chatStage);
  expect(await count()).toBeUndefined();
  expect(server.requests).toEqual([]);
});
