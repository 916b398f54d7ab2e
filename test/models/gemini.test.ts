// Behaviour of Gemini alone: contents and turns, thought signatures, calls without ids, and its many finish reasons.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createGemini } from "../../src/agent/models/gemini/provider.ts";
import { geminiSettings } from "../../src/agent/models/gemini/settings.ts";
import { isThinkingModel } from "../../src/agent/models/gemini/thinking.ts";
import type { ModelMessage, ModelPart, ModelRequest, ModelToolCall } from "../../src/agent/models/model.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { earlyCounts, frameTail, type GeminiScript, onGemini } from "../fakes/gemini-provider.ts";
import { fail, type WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { callsOf, stateOf } from "./parts.ts";
import { request } from "./request.ts";

const apiKey = "AIza-of-a-test";
const hello: ModelMessage = { role: "user", text: "hello" };
const earlyUsage = {
  promptTokens: 11,
  completionTokens: undefined,
  totalTokens: 11,
  cachedTokens: undefined,
  reasoningTokens: undefined,
};

let clock: ManualClock;
let server: WireServer;
let provider: ModelProvider;

beforeEach(async () => {
  clock = createManualClock({ nowMs: Date.parse("2026-01-01T00:00:00Z") });
  server = await openWireServer();
  provider = open("/v1beta");
});

afterEach(() => provider.close());

function open(path: string, key = apiKey): ModelProvider {
  return createGemini({ name: "gemini", baseUrl: `${server.origin}${path}`, apiKey: key, clock });
}

function collect(overrides: Partial<ModelRequest> = {}, model = "gemini-2.5-flash", from = provider) {
  return Array.fromAsync(from.model(model).stream({ ...request, ...overrides }, new AbortController().signal));
}

async function respond(...scripts: readonly GeminiScript[]): Promise<ModelPart[]> {
  server.respond(...scripts.map(onGemini));
  return collect();
}

/** The body of the request for a conversation. */
async function bodyOf(messages: readonly ModelMessage[], model?: string): Promise<Record<string, unknown>> {
  server.respond(onGemini(sayOk));
  await collect({ messages }, model);
  return (await server.request(server.requests.length - 1)).body;
}

const sayOk: GeminiScript = (wire) => {
  wire.text("ok");
  wire.finish("STOP");
};

describe("a request to Gemini", () => {
  test("goes to the model's own path, with the key only in its header", async () => {
    server.respond(onGemini(sayOk));
    await collect({ temperature: 0.5 });
    const { method, path, headers, body } = await server.request(0);
    expect({ method, path }).toEqual({
      method: "POST",
      path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    });
    expect(headers["x-goog-api-key"]).toBe(apiKey);
    expect(JSON.stringify({ ...headers, "x-goog-api-key": "" })).not.toContain(apiKey);
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "hello" }] }],
      generationConfig: { maxOutputTokens: 100, temperature: 0.5, thinkingConfig: { includeThoughts: true } },
    });
  });

  test("has no system instruction when none is given", async () => {
    server.respond(onGemini(sayOk));
    await collect({ system: "" });
    expect((await server.request(0)).body).not.toHaveProperty("systemInstruction");
  });

  test.each([
    ["../x", "..%2Fx"],
    ["a b", "a%20b"],
    ["models/x", "models%2Fx"],
    ["..", ".."],
    ["x:generateContent?key=1#", "x%3AgenerateContent%3Fkey%3D1%23"],
    ["half \ud83d", "half%20%EF%BF%BD"],
  ])("for the model %j stays below models/", async (model, segment) => {
    server.respond(onGemini(sayOk));
    await collect({}, model);
    expect((await server.request(0)).path).toBe(`/v1beta/models/${segment}:streamGenerateContent?alt=sse`);
  });

  test.each([
    ["gemini-2.5-pro", true],
    ["gemini-2.5-flash", true],
    ["gemini-2.5-flash-preview-09-2025", true],
    ["gemini-3-pro-preview", true],
    ["gemini-3.1-flash-lite", true],
    ["gemini-3-pro-image-preview", true],
    ["gemini-4", true],
    ["gemini-10.2-ultra", true],
    ["gemini-flash-latest", true],
    ["gemini-2.5-flash-lite", false],
    ["gemini-2.5-flash-image", false],
    ["gemini-2.5-pro-preview-tts", false],
    ["gemini-2.0-flash", false],
    ["gemini-1.5-pro", false],
    ["gemini-pro", false],
    ["gemma-3-27b-it", false],
    ["not-gemini-3", false],
  ])("to %s requests thoughts: %s", async (model, asks) => {
    expect(isThinkingModel(model)).toBe(asks);
    const { generationConfig } = await bodyOf([hello], model);
    expect(generationConfig).toEqual({
      maxOutputTokens: 100,
      ...(asks ? { thinkingConfig: { includeThoughts: true } } : {}),
    });
  });

  test("has all results of a turn in one content, which has nothing else", async () => {
    const { contents } = await bodyOf([
      hello,
      {
        role: "assistant",
        text: "",
        toolCalls: [
          { id: "c1", name: "zeta", argumentsJson: '{"b": 1,"a":2}' },
          { id: "c2", name: "alpha", argumentsJson: "" },
        ],
      },
      { role: "tool", toolCallId: "c1", toolName: "zeta", text: "one" },
      { role: "tool", toolCallId: "c2", toolName: "alpha", text: "Error: no", isError: true },
      { role: "user", text: "go on" },
      { role: "user", text: "please" },
    ]);
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "hello" }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "c1", name: "zeta", args: { b: 1, a: 2 } } },
          { functionCall: { id: "c2", name: "alpha", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "zeta", response: { output: "one" } } },
          { functionResponse: { id: "c2", name: "alpha", response: { error: "Error: no" } } },
        ],
      },
      { role: "user", parts: [{ text: "go on" }, { text: "please" }] },
    ]);
  });

  test("leaves out empty texts", async () => {
    const { contents } = await bodyOf([
      hello,
      { role: "assistant", text: "", toolCalls: [] },
      { role: "user", text: "still there?" },
      { role: "assistant", text: "yes?", toolCalls: [] },
      { role: "user", text: "" },
      { role: "assistant", text: "well?", toolCalls: [] },
      { role: "user", text: "again" },
    ]);
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "hello" }, { text: "still there?" }] },
      { role: "model", parts: [{ text: "yes?" }, { text: "well?" }] },
      { role: "user", parts: [{ text: "again" }] },
    ]);
  });

  test.each([
    ["[1]", { arguments: [1] }],
    ["null", {}],
    ['{"a":', { arguments: '{"a":' }],
  ])("passes arguments that are not an object unchanged: %s", async (argumentsJson, args) => {
    const { contents } = await bodyOf([
      hello,
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "f", argumentsJson }] },
      { role: "tool", toolCallId: "c", toolName: "f", text: "Error: bad arguments", isError: true },
    ]);
    expect(contents).toContainEqual({ role: "model", parts: [{ functionCall: { id: "c", name: "f", args } }] });
  });

  test("keeps an argument named __proto__", async () => {
    const body = await bodyOf([
      hello,
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "f", argumentsJson: '{"__proto__":{"a":1}}' }] },
      { role: "tool", toolCallId: "c", toolName: "f", text: "ok" },
    ]);
    expect(JSON.stringify(body)).toContain('"args":{"__proto__":{"a":1}}');
  });
});

describe("the settings of a request to Gemini", () => {
  const tools = [{ name: "f", description: "does", parameters: { type: "object" } }];

  async function send(overrides: Partial<ModelRequest>, model = "gemini-2.5-flash"): Promise<Record<string, unknown>> {
    server.respond(onGemini(sayOk));
    await collect(overrides, model);
    return (await server.request(0)).body;
  }

  test("have the names of the service, and only those that are set", async () => {
    const settings = { topP: 0.9, topK: 40, stop: ["END"], seed: 7, frequencyPenalty: 0.5, presencePenalty: -1 };
    const { generationConfig } = await send({ settings: { ...settings, verbosity: "low" } }, "gemini-2.0-flash");
    expect(generationConfig).toEqual({
      ...{ maxOutputTokens: 100, topP: 0.9, topK: 40, stopSequences: ["END"], seed: 7 },
      ...{ frequencyPenalty: 0.5, presencePenalty: -1 },
    });
    const names = ["toolChoice", "topLogprobs", ...Object.keys(settings)];
    expect([...geminiSettings].toSorted()).toEqual(names.toSorted());
  });

  test.each([
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [{ name: "f" }, { mode: "ANY", allowedFunctionNames: ["f"] }],
  ] as const)("have the tool choice %j", async (toolChoice, functionCallingConfig) => {
    expect(await send({ tools, settings: { toolChoice } })).toMatchObject({ toolConfig: { functionCallingConfig } });
  });

  test("have no tool choice without tools", async () => {
    expect(await send({ settings: { toolChoice: "required" } })).not.toHaveProperty("toolConfig");
  });

  test.each([
    ["gemini-3-pro-preview", "minimal", { thinkingLevel: "LOW" }],
    ["gemini-3.1-pro-preview", "high", { thinkingLevel: "HIGH" }],
    ["gemini-3-flash-preview", "minimal", { thinkingLevel: "MINIMAL" }],
    ["gemini-3.7-flash", "minimal", { thinkingLevel: "LOW" }],
    ["gemini-3.7-flash-lite", "minimal", { thinkingLevel: "MINIMAL" }],
    ["gemini-flash-latest", "minimal", { thinkingLevel: "LOW" }],
    ["gemini-3-pro-image-preview", "high", { thinkingBudget: 32_768 }],
    ["gemini-2.5-pro", "high", { thinkingBudget: 32_768 }],
    ["gemini-2.5-flash", "high", { thinkingBudget: 24_576 }],
    ["gemini-2.5-flash", "minimal", { thinkingBudget: 1311 }],
    ["gemini-2.5-flash-lite", "low", { thinkingBudget: 6554 }],
    ["gemini-2.0-flash", "low", undefined],
    ["gemini-2.5-flash-preview-tts", "low", undefined],
    ["gemma-3-27b-it", "low", undefined],
  ] as const)("have for %s with effort %s the thinking config %j", async (model, reasoningEffort, amount) => {
    const { generationConfig } = await send({ reasoningEffort }, model);
    const config = { ...amount, ...(isThinkingModel(model) && { includeThoughts: true }) };
    expect(generationConfig).toEqual({ maxOutputTokens: 100, ...(amount !== undefined && { thinkingConfig: config }) });
  });

  test("take the caller's fields of the body, below their own", async () => {
    const providerOptions = {
      contents: [],
      labels: { team: "a" },
      generationConfig: {
        maxOutputTokens: 7,
        mediaResolution: "MEDIA_RESOLUTION_LOW",
        thinkingConfig: { thinkingBudget: 99, includeThoughts: false },
      },
      toolConfig: { functionCallingConfig: { mode: "ANY" }, retrievalConfig: { languageCode: "de" } },
    };
    const body = await send({ tools, settings: { toolChoice: "none" }, providerOptions });
    expect(body).toMatchObject({
      contents: [{ role: "user", parts: [{ text: "hello" }] }],
      labels: { team: "a" },
      generationConfig: {
        maxOutputTokens: 100,
        mediaResolution: "MEDIA_RESOLUTION_LOW",
        thinkingConfig: { thinkingBudget: 99, includeThoughts: true },
      },
      toolConfig: { functionCallingConfig: { mode: "NONE" }, retrievalConfig: { languageCode: "de" } },
    });
  });

  test("have one amount of thoughts: that of the request before that of the caller's fields", async () => {
    const providerOptions = { generationConfig: { thinkingConfig: { thinkingBudget: 99 } } };
    const { generationConfig } = await send({ reasoningEffort: "low", providerOptions }, "gemini-3-pro-preview");
    expect(generationConfig).toMatchObject({ thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } });
    expect(JSON.stringify(generationConfig)).not.toContain("thinkingBudget");
  });

  test("have a schema without const, which the service does not know", async () => {
    const schema = {
      type: "object",
      properties: {
        const: { const: 1 },
        list: { type: "array", items: { anyOf: [{ const: "a" }, { type: "null" }] } },
      },
      $defs: { d: { type: "object", additionalProperties: { const: true } } },
      additionalProperties: false,
    };
    const { generationConfig } = await send({
      responseFormat: { type: "json-schema", name: "n", schema, strict: true },
    });
    expect(generationConfig).toMatchObject({
      responseMimeType: "application/json",
      responseJsonSchema: {
        type: "object",
        properties: {
          const: { enum: [1] },
          list: { type: "array", items: { anyOf: [{ enum: ["a"] }, { type: "null" }] } },
        },
        $defs: { d: { type: "object", additionalProperties: { enum: [true] } } },
        additionalProperties: false,
      },
    });
  });

  test("have no response format beside a call that must be made, which the service refuses", async () => {
    const { generationConfig } = await send({
      tools,
      settings: { toolChoice: "required" },
      responseFormat: { type: "json-object" },
    });
    expect(generationConfig).not.toHaveProperty("responseMimeType");
  });

  test("put the system text of Gemma before the first message, because it has no system instruction", async () => {
    const body = await send({}, "gemma-3-27b-it");
    expect(body).not.toHaveProperty("systemInstruction");
    expect(body.contents).toEqual([{ role: "user", parts: [{ text: "Be brief.\n\n" }, { text: "hello" }] }]);
  });

  test("never have the URL of a file", async () => {
    const parts = [
      { type: "text", text: "Look:" },
      { type: "image", name: undefined, mediaType: "image/png", data: new URL("http://10.0.0.1/secret.png") },
    ] as const;
    const { contents } = await send({ messages: [{ role: "user", text: "Look:", parts }] });
    expect(contents).toEqual([{ role: "user", parts: [{ text: "Look:" }] }]);
  });
});

describe("signatures of Gemini", () => {
  const signed: GeminiScript = (wire) => {
    wire.thought("Let me ");
    wire.parts([{ text: "see.", thought: true }]);
    wire.parts([{ text: "Looking", thoughtSignature: "c2lnLXRleHQ=" }]);
    wire.text(" it");
    wire.text(" up");
    wire.parts([
      { functionCall: { name: "search", args: { q: "é" } }, thoughtSignature: "c2lnLWNhbGw=" },
      { functionCall: { name: "list", args: {} } },
    ]);
    wire.parts([{ text: "", thoughtSignature: "c2lnLWVuZA==" }], { finishReason: "STOP" });
  };

  test("are sent back on the parts that they came with", async () => {
    const parts = await respond(signed);
    const [search, list] = callsOf(parts).map((call) => ({ ...call, id: `call_of_${call.name}` })) as [
      ModelToolCall,
      ModelToolCall,
    ];
    const { contents } = await bodyOf([
      hello,
      { role: "assistant", text: "Looking it up", toolCalls: [search, list], state: stateOf(parts) },
      { role: "tool", toolCallId: search.id, toolName: "search", text: "found" },
      { role: "tool", toolCallId: list.id, toolName: "list", text: "none" },
    ]);
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "hello" }] },
      {
        role: "model",
        parts: [
          { text: "Let me see.", thought: true },
          { text: "Looking", thoughtSignature: "c2lnLXRleHQ=" },
          { text: " it up" },
          { functionCall: { id: search.id, name: "search", args: { q: "é" } }, thoughtSignature: "c2lnLWNhbGw=" },
          { functionCall: { id: list.id, name: "list", args: {} } },
          { text: "", thoughtSignature: "c2lnLWVuZA==" },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: search.id, name: "search", response: { output: "found" } } },
          { functionResponse: { id: list.id, name: "list", response: { output: "none" } } },
        ],
      },
    ]);
  });

  test("are left out with the calls of a cut response that its message lacks, and with thoughts after those", async () => {
    const parts = await respond((wire) => {
      wire.text("Looking");
      wire.thought("search, ");
      wire.parts([{ functionCall: { name: "search", args: {} }, thoughtSignature: "c2lnLWNhbGw=" }]);
      wire.thought("list");
      wire.finish("MAX_TOKENS");
    });
    const { contents } = await bodyOf([
      hello,
      { role: "assistant", text: "Looking", toolCalls: [], state: stateOf(parts) },
      { role: "user", text: "and?" },
    ]);
    expect(contents).toMatchObject([{}, { role: "model", parts: [{ text: "Looking" }] }, { role: "user" }]);
  });

  test("of successive pieces are all kept", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ text: "one", thoughtSignature: "QQ==" }]);
      wire.parts([{ text: "two", thoughtSignature: "Qg==" }]);
      wire.parts([{ text: "three", thought: true, thoughtSignature: "Qw==" }]);
      wire.finish("STOP");
    });
    const { contents } = await bodyOf([
      hello,
      { role: "assistant", text: "onetwo", toolCalls: [], state: stateOf(parts) },
      { role: "user", text: "and?" },
    ]);
    expect(contents).toContainEqual({
      role: "model",
      parts: [
        { text: "one", thoughtSignature: "QQ==" },
        { text: "two", thoughtSignature: "Qg==" },
        { text: "three", thought: true, thoughtSignature: "Qw==" },
      ],
    });
  });

  test("without any text are sent back as they came", async () => {
    const parts = await respond((wire) => {
      wire.text("done");
      wire.parts([{ thoughtSignature: "QQ==" }], { finishReason: "STOP" });
    });
    const message = { role: "assistant", text: "done", toolCalls: [], state: stateOf(parts) } as const;
    const { contents } = await bodyOf([hello, message, hello]);
    expect(contents).toContainEqual({
      role: "model",
      parts: [{ text: "done" }, { text: "", thoughtSignature: "QQ==" }],
    });
  });

  test.each([
    ["of the format before", { provider: "gemini", content: [{ type: "text", text: "secret" }] }],
    ["of another account", { provider: "other", kind: "gemini", parts: [{ text: "secret" }] }],
    ["of another format", { provider: "gemini", kind: "chat", parts: [{ text: "secret" }] }],
    ["that is no JSON", undefined],
  ])("%s are ignored", async (_, state) => {
    const message = { role: "assistant", text: "so", toolCalls: [], state: JSON.stringify(state) ?? "{" } as const;
    const { contents } = await bodyOf([hello, message, hello]);
    expect(contents).toContainEqual({ role: "model", parts: [{ text: "so" }] });
  });

  test("are the only state: a response without them has no state", async () => {
    const parts = await respond((wire) => {
      wire.thought("hm");
      wire.text("done");
      wire.parts([{ functionCall: { name: "f", args: {} } }], { finishReason: "STOP" });
    });
    expect(stateOf(parts)).toBeUndefined();
  });

  test("of another provider are not sent to Gemini, which gets the marker for missing signatures", async () => {
    const written = vi.spyOn(process.stdout, "write");
    const warned = vi.spyOn(console, "warn");
    const state = JSON.stringify({
      provider: "anthropic",
      content: [{ type: "reasoning", text: "secret", providerOptions: { google: { thoughtSignature: "x" } } }],
    });
    const { contents } = await bodyOf(
      [
        hello,
        { role: "assistant", text: "so", toolCalls: [{ id: "toolu_1", name: "f", argumentsJson: "{}" }], state },
        { role: "tool", toolCallId: "toolu_1", toolName: "f", text: "ok" },
      ],
      "gemini-3-pro-preview",
    );
    expect(contents).toContainEqual({
      role: "model",
      parts: [
        { text: "so" },
        {
          functionCall: { id: "toolu_1", name: "f", args: {} },
          thoughtSignature: "skip_thought_signature_validator",
        },
      ],
    });
    expect([...written.mock.calls, ...warned.mock.calls]).toEqual([]);
    vi.restoreAllMocks();
  });
});

describe("the calls of Gemini", () => {
  const call = (name: string, id?: string): object => ({
    functionCall: { name, args: {}, ...(id === undefined ? {} : { id }) },
  });

  test("keep the ids that they have", async () => {
    const parts = await respond((wire) => wire.parts([call("f", "abc"), call("g", "def")], { finishReason: "STOP" }));
    expect(callsOf(parts).map(({ id }) => id)).toEqual(["abc", "def"]);
  });

  test("without ids are left to the loop, which knows the ids of the conversation", async () => {
    const parts = await respond((wire) => wire.parts([call("f"), call("f")], { finishReason: "STOP" }));
    expect(callsOf(parts).map(({ id }) => id)).toEqual(["", ""]);
  });

  test("without ids keep their signatures, whatever ids they have got, and also of one name", async () => {
    const sign = (name: string, signature: string) => ({ ...call(name), thoughtSignature: signature });
    const parts = await respond((wire) =>
      wire.parts([sign("f", "MQ=="), sign("g", "Mg=="), sign("f", "Mw==")], { finishReason: "MAX_TOKENS" }),
    );
    const toolCalls = ["a", "b"].map((id) => ({ id, name: "f", argumentsJson: "{}" }));
    const { contents } = await bodyOf([hello, { role: "assistant", text: "", toolCalls, state: stateOf(parts) }]);
    expect(contents).toMatchObject([
      {},
      {
        parts: [
          { functionCall: { id: "a", name: "f" }, thoughtSignature: "MQ==" },
          { functionCall: { id: "b", name: "f" }, thoughtSignature: "Mw==" },
        ],
      },
    ]);
  });

  test("may leave their arguments out", async () => {
    const parts = await respond((wire) => wire.parts([{ functionCall: { name: "f" } }], { finishReason: "STOP" }));
    expect(callsOf(parts)).toMatchObject([{ name: "f", argumentsJson: "{}" }]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
  });

  test("are never lost silently: a call without a name fails the response", async () => {
    const parts = await respond((wire) => wire.parts([{ functionCall: { args: {} } }], { finishReason: "STOP" }));
    expect(parts.at(-1)).toMatchObject({ type: "failure", message: expect.stringContaining("has no name") });
  });
});

describe("the digits of Gemini's calls", () => {
  const json = '{"id": 2512292042121000001, "r":1.0,"deep":[{"e":1E+2}]}';
  const frame = (part: string): string =>
    `data: {"candidates":[{"content":{"parts":[${part}]},"finishReason":"STOP"}]}\n\n`;

  test("reach the caller and go back as they are written, also beside other parts", async () => {
    const first = '{"functionCall":{"name":"f","args":{}},"thoughtSignature":"QQ=="}';
    server.respond(onGemini((wire) => wire.raw(frame(`${first},{"functionCall":{"args":${json},"name":"g"}}`))));
    const parts = await collect();
    const toolCalls = callsOf(parts).map((call) => ({ ...call, id: `id_of_${call.name}` }));
    expect(toolCalls).toMatchObject([{ argumentsJson: "{}" }, { argumentsJson: json }]);
    const assistant = { role: "assistant", text: "", toolCalls } as const;
    for (const state of [stateOf(parts), undefined]) {
      expect(await rawBodyOf([hello, { ...assistant, state }])).toContain(`"name":"g","args":${json}}`);
    }
  });

  test("of numbers in place of an object go back as they are written", async () => {
    const toolCalls = [{ id: "c", name: "f", argumentsJson: "[2512292042121000001]" }];
    const body = await rawBodyOf([hello, { role: "assistant", text: "", toolCalls }]);
    expect(body).toContain('"args":{"arguments":[2512292042121000001]}');
  });

  async function rawBodyOf(messages: readonly ModelMessage[]): Promise<string> {
    const bodies: string[] = [];
    const raw = createServer((incoming, outgoing) => {
      void text(incoming).then((body) => {
        bodies.push(body);
        outgoing.writeHead(200, { "content-type": "text/event-stream" }).end(frame('{"text":"ok"}'));
      });
    });
    raw.listen(0, "127.0.0.1");
    await once(raw, "listening");
    const { port } = raw.address() as AddressInfo;
    const other = createGemini({ name: "gemini", baseUrl: `http://127.0.0.1:${port}`, apiKey, clock });
    await collect({ messages }, "gemini-2.5-flash", other);
    other.close();
    raw.close();
    return bodies.join("");
  }
});

describe("arguments of Gemini that arrive in pieces", () => {
  const begin = (name: string, signature?: string): object => ({
    functionCall: { name, willContinue: true },
    ...(signature !== undefined && { thoughtSignature: signature }),
  });
  const go = (...partialArgs: readonly object[]): object => ({ functionCall: { partialArgs, willContinue: true } });
  const end = { functionCall: {} };

  function respondWith(...parts: readonly object[]): Promise<ModelPart[]> {
    return respond((wire) => {
      for (const part of parts) {
        wire.parts([part]);
      }
      wire.finish("STOP");
    });
  }

  test("are joined by their paths", async () => {
    const parts = await respondWith(
      begin("search"),
      go({ jsonPath: "$.q", stringValue: 'é "', willContinue: true }),
      go({ jsonPath: "$.q", stringValue: "x" }, { jsonPath: "$.deep.list[0].n", numberValue: 2 }),
      { functionCall: { willContinue: true } },
      go({ jsonPath: "$.deep.list[1]", boolValue: false }, { jsonPath: "$.deep.list[2]", nullValue: null }),
      go({ jsonPath: "$['a.b'][\"c\"]", stringValue: "" }),
      end,
      begin("list"),
      end,
    );
    expect(callsOf(parts)).toEqual([
      {
        ...{ id: "", name: "search" },
        argumentsJson: '{"q":"é \\"x","deep":{"list":[{"n":2},false,null]},"a.b":{"c":""}}',
      },
      { id: "", name: "list", argumentsJson: "{}" },
    ]);
    expect(parts.filter(({ type }) => type === "call-piece")).not.toEqual([]);
  });

  test("keep the digits of their numbers", async () => {
    const parts = await respond((wire) => {
      wire.parts([begin("f")]);
      const pieces = '[{"jsonPath":"$.id","numberValue":2512292042121000001},{"jsonPath":"$.r","numberValue":1.0}]';
      wire.raw(`data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":${pieces}}}]}}]}\n\n`);
      wire.finish("STOP");
    });
    expect(callsOf(parts)).toMatchObject([{ argumentsJson: '{"id":2512292042121000001,"r":1.0}' }]);
  });

  test("may end without a last part", async () => {
    const last = { functionCall: { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }] } };
    expect(callsOf(await respondWith(begin("f"), last))).toMatchObject([{ argumentsJson: '{"a":1}' }]);
    expect(callsOf(await respondWith(begin("f"), last, end))).toMatchObject([{ argumentsJson: '{"a":1}' }]);
  });

  test("may have empty objects and lists", async () => {
    const parts = await respondWith(
      begin("f"),
      go({ jsonPath: "$.none[]" }, { jsonPath: "$.empty" }),
      go({ jsonPath: "$.some[0]", stringValue: "a", willContinue: true }),
      go({ jsonPath: "$.some[0]" }, { jsonPath: "$.some.1", stringValue: "b" }, { jsonPath: "$.some[]" }),
      end,
    );
    expect(callsOf(parts)).toMatchObject([{ argumentsJson: '{"none":[],"empty":{},"some":["a","b"]}' }]);
  });

  test("go back whole, with the signature of their first part", async () => {
    const parts = await respondWith(begin("f", "QQ=="), go({ jsonPath: "$.a", stringValue: "x" }), end);
    const toolCalls = callsOf(parts).map((call) => ({ ...call, id: "c" }));
    const { contents } = await bodyOf([hello, { role: "assistant", text: "", toolCalls, state: stateOf(parts) }]);
    const functionCall = { id: "c", name: "f", args: { a: "x" } };
    expect(contents).toContainEqual({ role: "model", parts: [{ functionCall, thoughtSignature: "QQ==" }] });
  });

  test("have keys that reach no prototype", async () => {
    const parts = await respondWith(
      begin("f"),
      go(
        { jsonPath: "$.__proto__.polluted", boolValue: true },
        { jsonPath: "$.constructor.prototype.x", numberValue: 1 },
      ),
      end,
    );
    const argumentsJson = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}';
    expect(callsOf(parts)).toMatchObject([{ argumentsJson }]);
    expect({}).not.toHaveProperty("polluted");
  });

  test.each([
    "$.list[4294967294]",
    "$.list[1]",
    "$.list.99999999999999999999",
    `$${".a".repeat(65)}`,
    `$.list${"[0]".repeat(100_000)}`,
    "$.text.below",
    "$.text[0]",
    "$[0]",
    "$..a",
    "$.a[",
    "$",
    7,
  ])("fail the response at the place %#", async (jsonPath) => {
    const before = go({ jsonPath: "$.list[]" }, { jsonPath: "$.text", stringValue: "x" });
    const parts = await respondWith(begin("f"), before, go({ jsonPath, stringValue: "x" }), end);
    const message = expect.stringContaining("a function call has an unknown form");
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "unreadable", message });
  });

  test("that never end give no call", async () => {
    const parts = await respondWith(begin("f"), go({ jsonPath: "$.a", stringValue: "x" }));
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test("of a cut response are a cut call, and do not go back", async () => {
    const parts = await respond((wire) => {
      wire.parts([begin("f", "QQ=="), go({ jsonPath: "$.a", stringValue: "half", willContinue: true })]);
      wire.finish("MAX_TOKENS");
    });
    expect(parts.slice(-2)).toMatchObject([
      { type: "cut-call", name: "f" },
      { type: "finish", reason: "length" },
    ]);
    expect(JSON.parse(stateOf(parts) ?? "")).toMatchObject({
      parts: [{ functionCall: { name: "f", args: {} }, thoughtSignature: "QQ==" }],
    });
  });

  test("of a call that has not begun fail the response, which may have lost the beginning", async () => {
    const orphan = go({ jsonPath: "$.a", stringValue: "x" });
    expect((await respondWith(orphan)).at(-1)).toMatchObject({ message: expect.stringContaining("has no name") });
    expect((await respondWith(begin("f"), end, orphan)).at(-1)).toMatchObject({ code: "unreadable", retryable: false });
    const parts = await respond((wire) => {
      wire.raw('data: {"candidates":[{"content":{"parts":[{"functionCall":{"na\n\n');
      wire.parts([orphan]);
      wire.finish("STOP");
    });
    expect(parts.at(-1)).toMatchObject({ code: "cut", retryable: true });
  });
});

describe("the tools that Gemini runs itself", () => {
  const providerCallsOf = (parts: readonly ModelPart[]) => parts.filter(({ type }) => type === "provider-call");
  const code = { language: "PYTHON", code: "print(2512292042121000001)" };
  const noResult = { error: "the provider sent no result" };

  test("are calls with their results, by id and by order, and no calls of ours", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ executableCode: { ...code, id: "x1" } }, { executableCode: code }]);
      wire.parts([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } }]);
      wire.parts([{ codeExecutionResult: { id: "x1", outcome: "OUTCOME_FAILED", output: "NameError" } }]);
      wire.parts([{ toolCall: { toolType: "FILE_SEARCH", id: "s1" } }, { toolCall: { toolType: "GOOGLE_MAPS" } }]);
      wire.parts([{ toolResponse: { toolType: "FILE_SEARCH", id: "s1", response: { hits: [1] } } }]);
      wire.parts([{ text: "done" }], { finishReason: "STOP" });
    });
    const argumentsJson = JSON.stringify(code);
    expect(providerCallsOf(parts)).toEqual([
      {
        type: "provider-call",
        call: { id: "", name: "code_execution", argumentsJson },
        outcome: { json: '{"outcome":"OUTCOME_OK","output":"1\\n"}' },
      },
      {
        type: "provider-call",
        call: { id: "x1", name: "code_execution", argumentsJson },
        outcome: { error: "OUTCOME_FAILED: NameError" },
      },
      {
        type: "provider-call",
        call: { id: "s1", name: "file_search", argumentsJson: "{}" },
        outcome: { json: '{"hits":[1]}' },
      },
      { type: "provider-call", call: { id: "", name: "google_maps", argumentsJson: "{}" }, outcome: noResult },
    ]);
    expect(callsOf(parts)).toEqual([]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("go back as they came, with their signatures", async () => {
    const used = [
      { executableCode: { ...code, id: "x1" }, thoughtSignature: "QQ==" },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1", id: "x1" } },
      { thoughtSignature: "Qg==", toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["a"] }, id: "s1" } },
      { toolResponse: { toolType: "GOOGLE_SEARCH_WEB", response: { n: 1 }, id: "s1" }, thoughtSignature: "Qw==" },
    ];
    const parts = await respond((wire) => {
      wire.parts(used);
      wire.parts([{ text: "done" }], { finishReason: "STOP" });
    });
    const message = { role: "assistant", text: "done", toolCalls: [], state: stateOf(parts) } as const;
    const { contents } = await bodyOf([hello, message, hello]);
    expect(contents).toContainEqual({ role: "model", parts: [...used, { text: "done" }] });
  });

  test("are one call for all the searches and one for all the pages of a grounded answer", async () => {
    const grounding = { webSearchQueries: ["a", "b"], groundingChunks: [{ web: { uri: "https://a.example" } }] };
    const pages = { urlMetadata: [{ retrievedUrl: "https://b.example", urlRetrievalStatus: "OK" }] };
    const parts = await respond((wire) => {
      wire.parts([{ text: "so" }], { groundingMetadata: {}, urlContextMetadata: pages });
      wire.parts([{ text: "" }], { groundingMetadata: { webSearchQueries: ["a"] } });
      wire.parts([{ text: "" }], { groundingMetadata: grounding, finishReason: "STOP" });
    });
    expect(parts.slice(-3)).toMatchObject([
      {
        call: { id: "", name: "google_search", argumentsJson: '{"queries":["a","b"]}' },
        outcome: { json: JSON.stringify(grounding) },
      },
      {
        call: { id: "", name: "url_context", argumentsJson: '{"urls":["https://b.example"]}' },
        outcome: { json: JSON.stringify(pages) },
      },
      { type: "finish", reason: "stop", state: undefined },
    ]);
  });

  test("count once when parts name them and the end of the answer does, too", async () => {
    const search = { toolType: "GOOGLE_SEARCH_WEB", id: "s1" };
    const read = { toolType: "URL_CONTEXT", id: "u1" };
    const parts = await respond((wire) => {
      wire.parts([{ toolCall: { ...search, args: { queries: ["a"] } } }, { toolCall: { ...read, args: { n: 1 } } }]);
      wire.parts([{ toolResponse: { ...search, response: {} } }, { toolResponse: { ...read, response: {} } }]);
      const groundingMetadata = { webSearchQueries: ["", "a"] };
      const urlContextMetadata = { urlMetadata: [{ retrievedUrl: "https://b.example" }] };
      wire.parts([{ text: "so" }], { groundingMetadata, urlContextMetadata, finishReason: "STOP" });
    });
    expect(providerCallsOf(parts)).toMatchObject([
      { call: { id: "s1", name: "google_search_web", argumentsJson: '{"queries":["a"]}' }, outcome: { json: "{}" } },
      { call: { id: "u1", name: "url_context", argumentsJson: '{"n":1}' }, outcome: { json: "{}" } },
    ]);
  });

  test("have results without their large members, and an image of many megabytes is no text", async () => {
    const data = "A".repeat(2 * 1024 * 1024);
    const response = { hits: [1], image: data };
    const parts = await respond((wire) => {
      wire.parts([{ toolCall: { toolType: "GOOGLE_MAPS", id: "m1" } }]);
      wire.parts([{ toolResponse: { toolType: "GOOGLE_MAPS", id: "m1", response } }]);
      wire.parts([{ inlineData: { mimeType: "image/png", data } }, { text: "so" }], { finishReason: "STOP" });
    });
    expect(providerCallsOf(parts)).toMatchObject([{ outcome: { json: '{"hits":[1]}' } }]);
    expect(parts.slice(-3)).toMatchObject([
      { type: "artifact", kind: "image", sizeBytes: (data.length / 4) * 3, content: undefined },
      { type: "text", text: "so" },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("give nothing for the end of a response that was cut off", async () => {
    const parts = await respond((wire) => wire.parts([{ executableCode: code }]));
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut" });
    expect(providerCallsOf(parts)).toEqual([]);
  });
});

describe("the end of a response of Gemini", () => {
  test.each([
    ["STOP", "stop", undefined],
    ["MAX_TOKENS", "length", undefined],
    ["CONTINUATION", "length", undefined],
    ["SAFETY", "content-filter", "SAFETY"],
    ["RECITATION", "content-filter", "RECITATION"],
    ["LANGUAGE", "content-filter", "LANGUAGE"],
    ["BLOCKLIST", "content-filter", "BLOCKLIST"],
    ["SPII", "content-filter", "SPII"],
    ["IMAGE_SAFETY", "content-filter", "IMAGE_SAFETY"],
    ["IMAGE_RECITATION", "content-filter", "IMAGE_RECITATION"],
    ["IMAGE_PROHIBITED_CONTENT", "content-filter", "IMAGE_PROHIBITED_CONTENT"],
  ])("%s is %s", async (word, reason, detail) => {
    const parts = await respond((wire) => wire.finish(word));
    expect(parts.at(-1)).toEqual({ type: "finish", reason, detail, usage: earlyUsage, state: undefined });
  });

  test.each([
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "OTHER",
    "constructor",
    "A_WORD_OF_THE_FUTURE",
  ])("%s is a failure that names it", async (word) => {
    const parts = await respond((wire) => wire.finish(word));
    const message = `provider gemini ended the response with finish reason "${word}"`;
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "finish", message, retryable: true });
  });

  test("names what was unsafe, with the message of the service", async () => {
    const parts = await respond((wire) =>
      wire.frame({
        candidates: [
          {
            finishReason: "SAFETY",
            finishMessage: "Try other words.",
            index: 0,
            safetyRatings: [
              { category: "HARM_CATEGORY_HATE_SPEECH", probability: "MEDIUM", blocked: false },
              { category: "HARM_CATEGORY_HARASSMENT", probability: "HIGH", blocked: true },
              { category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "NEGLIGIBLE" },
            ],
          },
        ],
        usageMetadata: earlyCounts,
        ...frameTail,
      }),
    );
    const detail = "SAFETY (HARM_CATEGORY_HARASSMENT): Try other words.";
    expect(parts.at(-1)).toMatchObject({ reason: "content-filter", detail });
  });

  test("quotes a malformed call up to a limit", async () => {
    const parts = await respond((wire) =>
      wire.parts([], { finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: `print(${"x".repeat(5000)})` }),
    );
    const message = expect.stringMatching(/"MALFORMED_FUNCTION_CALL: print\(x{900,980}"$/);
    expect(parts.at(-1)).toMatchObject({ type: "failure", message });
  });

  test("is a content filter when the prompt was blocked", async () => {
    const parts = await respond((wire) =>
      wire.frame({
        promptFeedback: {
          blockReason: "SAFETY",
          safetyRatings: [
            { category: "HARM_CATEGORY_SEXUALLY_EXPLICIT", probability: "HIGH" },
            { category: "HARM_CATEGORY_HATE_SPEECH", probability: "NEGLIGIBLE" },
          ],
        },
        usageMetadata: earlyCounts,
        ...frameTail,
      }),
    );
    const detail = "SAFETY (HARM_CATEGORY_SEXUALLY_EXPLICIT)";
    const finish = { type: "finish", reason: "content-filter", detail, usage: earlyUsage, state: undefined };
    expect(parts).toEqual([{ type: "usage", usage: earlyUsage }, finish]);
  });

  test("is not reached with an unspecified reason or with ratings of the prompt", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ text: "a" }], { finishReason: "FINISH_REASON_UNSPECIFIED" });
      wire.frame({ promptFeedback: { safetyRatings: [], blockReason: "BLOCK_REASON_UNSPECIFIED" } });
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut" });
  });

  test("is the last reason: some models send STOP in every frame", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ text: "a" }], { finishReason: "STOP" });
      wire.parts([{ text: "b" }], { finishReason: "STOP" });
      wire.parts([], { finishReason: "SAFETY" });
    });
    expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")).toBe("ab");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "content-filter" });
  });

  test("gives no call when a frame was lost after one of many finish reasons", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ functionCall: { name: "f", args: {} } }], { finishReason: "STOP" });
      wire.raw('data: {"candidates":[{"content":{"parts":[{"functionCall":{"na\n\n');
      wire.parts([{ text: "b" }], { finishReason: "STOP" });
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test("comes after the rest of a long answer, which a second request fetches", async () => {
    const parts = await respond((wire) => {
      wire.text("one ");
      wire.parts([{ text: "two " }], { finishReason: "CONTINUATION", continuationToken: "token" });
    }, sayOk);
    expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")).toBe("one two ok");
    const usage = { promptTokens: 22, totalTokens: 22, completionTokens: undefined };
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage });
    expect((await server.request(1)).body.continuationToken).toBe("token");
  });

  test("is a cut when the rest of a long answer does not arrive", async () => {
    server.respond(
      onGemini((wire) => wire.parts([{ text: "one" }], { finishReason: "CONTINUATION", continuationToken: "token" })),
      fail(503, "{}"),
    );
    const parts = await collect();
    expect(parts.at(-1)).toMatchObject({ type: "failure", retryable: true });
  });
});

describe("the usage of Gemini", () => {
  const countsOf = (last: ModelPart | undefined): unknown => (last?.type === "finish" ? last.usage : undefined);

  test("counts thoughts as completion, tokens read by tools as prompt, and the cached share of the prompt", async () => {
    const parts = await respond((wire) => {
      wire.text("x");
      wire.finish("STOP", {
        promptTokenCount: 90,
        cachedContentTokenCount: 64,
        candidatesTokenCount: 10,
        thoughtsTokenCount: 30,
        toolUsePromptTokenCount: 5,
        totalTokenCount: 135,
        trafficType: "ON_DEMAND",
        cacheTokensDetails: [{ modality: "TEXT", tokenCount: 64 }],
      });
    });
    const usage = { promptTokens: 95, completionTokens: 40, totalTokens: 135, cachedTokens: 64, reasoningTokens: 30 };
    expect(countsOf(parts.at(-1))).toEqual(usage);
    expect(parts.findLast(({ type }) => type === "usage")).toEqual({ type: "usage", usage });
  });

  test("is undefined, not zero, where it was not sent", async () => {
    const parts = await respond((wire) => {
      wire.frame({
        candidates: [{ content: { parts: [{ text: "x" }] } }],
        usageMetadata: { trafficType: "ON_DEMAND" },
      });
      wire.frame({ candidates: [{ finishReason: "STOP" }] });
    });
    expect(parts).toEqual([
      { type: "text", text: "x" },
      { type: "finish", reason: "stop", detail: undefined, usage: undefined, state: undefined },
    ]);
  });

  test("is passed on as it arrives, also before an abort", async () => {
    server.respond(
      onGemini((wire) => {
        wire.text("x");
        return wire.hang();
      }),
    );
    const stop = new AbortController();
    const parts: ModelPart[] = [];
    for await (const part of provider.model("gemini-2.5-flash").stream(request, stop.signal)) {
      parts.push(part);
      if (part.type === "text") {
        stop.abort();
      }
    }
    expect(parts).toEqual([
      { type: "usage", usage: earlyUsage },
      { type: "text", text: "x" },
    ]);
    expect(await (await server.request(0)).closed).toBe(false);
  });
});

describe("an error of Gemini", () => {
  const quota = {
    code: 429,
    message: "You exceeded your current quota.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaValue: "250" }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.074824224s" },
    ],
  };

  test.each([
    ["an object", { error: quota }],
    ["an array", [{ error: quota }]],
  ])("with a retry delay in its body sets retryAfterMs: %s", async (_form, body) => {
    server.respond(fail(429, JSON.stringify(body, null, 2)));
    expect(await collect()).toMatchObject([{ type: "failure", code: "429", retryable: true, retryAfterMs: 34_075 }]);
  });

  test("takes the retry delay of its header first", async () => {
    server.respond(fail(429, JSON.stringify({ error: quota }), { "retry-after": "2" }));
    expect(await collect()).toMatchObject([{ retryAfterMs: 2_000 }]);
  });

  test.each([
    ["an object", { error: quota }],
    ["an array", [{ error: quota }]],
  ])("in the stream sets retryAfterMs as well: %s", async (_form, frame) => {
    const parts = await respond((wire) => wire.frame(frame));
    const message = "API error in stream: You exceeded your current quota.";
    expect(parts).toMatchObject([
      { type: "failure", cause: "rate_limit", code: "429", message, retryable: true, retryAfterMs: 34_075 },
    ]);
  });

  test.each([
    [{ code: 500, message: "An internal error has occurred.", status: "INTERNAL" }, "500", true],
    [{ code: 403, message: "no", status: "PERMISSION_DENIED" }, "403", false],
    [{ code: null, message: "no", status: "INVALID_ARGUMENT" }, "400", false],
    [{ message: "busy", status: "UNAVAILABLE" }, "503", true],
    [{ code: 8, message: "slowly", status: "RESOURCE_EXHAUSTED" }, "429", true],
    [{ code: 5, message: "what?", status: "NOT_FOUND" }, "404", false],
    [{ message: "?", status: "A_WORD_OF_THE_FUTURE" }, "stream_error", true],
  ])("in the stream is classified by its code or its status: %j", async (error, code, retryable) => {
    const parts = await respond((wire) => {
      wire.text("half");
      wire.frame({ error });
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code, retryable, retryAfterMs: undefined });
  });
});

describe("the frames of Gemini", () => {
  test("named error are errors, also in plain words", async () => {
    const parts = await respond((wire) => wire.raw("event: error\ndata: the model is overloaded\n\n"));
    const message = "API error in stream: the model is overloaded";
    expect(parts).toMatchObject([{ type: "failure", cause: "overloaded", message, retryable: true }]);
  });

  test("fail the response when an unknown form would lose a part of it", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ text: 7 }]);
      wire.finish("STOP");
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "unreadable", retryable: false });
  });

  test("have parts of unknown kinds, which are not in the text", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ text: "Here:" }]);
      wire.parts([{ somethingNew: { text: "x" } }, []]);
      wire.finish("STOP");
    });
    expect(parts.filter(({ type }) => type !== "usage")).toEqual([
      { type: "text", text: "Here:" },
      {
        type: "finish",
        reason: "stop",
        usage: earlyUsage,
        skipped: { events: 0, items: 0, parts: 2, type: "somethingNew" },
      },
    ]);
  });

  test("are ignored when they have no part of the answer", async () => {
    const parts = await respond((wire) => {
      wire.frame({ createTime: "2026-03-10T14:54:45Z", ...frameTail });
      wire.frame({ candidates: [], ...frameTail });
      wire.frame({ candidates: 7 });
      wire.text("ok");
      wire.finish("STOP");
    });
    expect(parts.filter(({ type }) => type !== "usage").map(({ type }) => type)).toEqual(["text", "finish"]);
  });
});
