// Behaviour of Gemini alone: contents and turns, thought signatures, calls without ids, and its many finish reasons.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createGemini } from "../../src/agent/models/gemini/provider.ts";
import { isThinkingModel } from "../../src/agent/models/gemini/thinking.ts";
import type { ModelMessage, ModelPart, ModelRequest, ModelToolCall } from "../../src/agent/models/model.ts";
import type { ModelProvider } from "../../src/agent/models/route.ts";
import { earlyCounts, frameTail, type GeminiScript, onGemini } from "../fakes/gemini-provider.ts";
import { fail, splitBytes, startWireServer, type WireServer } from "../fakes/wire-server.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
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
  server = await startWireServer();
  provider = open("/v1beta");
});

afterEach(async () => {
  provider.close();
  await server.close();
});

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

const callsOf = (parts: readonly ModelPart[]): ModelToolCall[] =>
  parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));

const stateOf = (parts: readonly ModelPart[]): string | undefined => {
  const last = parts.at(-1);
  return last?.type === "finish" ? last.state : undefined;
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

  test("has no header for a key when none is set", async () => {
    const keyless = open("/v1beta", "");
    server.respond(onGemini(sayOk));
    await collect({}, "gemini-2.5-flash", keyless);
    keyless.close();
    expect((await server.request(0)).headers).not.toHaveProperty("x-goog-api-key");
  });

  test.each(["/gateway/v1beta", "/gateway/v1beta/"])("goes below the base URL %s", async (path) => {
    const other = open(path);
    server.respond(onGemini(sayOk));
    await collect({}, "gemini-2.5-flash", other);
    other.close();
    expect((await server.request(0)).path).toMatch(/^\/gateway\/v1beta\/models\/gemini-2\.5-flash:/);
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
          { functionResponse: { id: "c1", name: "zeta", response: { name: "zeta", content: "one" } } },
          { functionResponse: { id: "c2", name: "alpha", response: { name: "alpha", error: "Error: no" } } },
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

  test("passes all schemas unchanged", async () => {
    server.respond(onGemini(sayOk));
    const parameters = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        size: { enum: [1, 2, 4] },
        name: { type: ["string", "null"], minLength: 1, pattern: "^a", default: null },
        any: { oneOf: [{ const: "x" }, { $ref: "#/$defs/n" }], examples: ["x"] },
      },
      $defs: { n: { type: "number", exclusiveMinimum: 0 } },
      additionalProperties: { type: "boolean" },
    };
    await collect({ tools: [{ name: "f", description: "does", parameters }] });
    expect((await server.request(0)).body.tools).toEqual([
      { functionDeclarations: [{ name: "f", description: "does", parametersJsonSchema: parameters }] },
    ]);
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
          { functionResponse: { id: search.id, name: "search", response: { name: "search", content: "found" } } },
          { functionResponse: { id: list.id, name: "list", response: { name: "list", content: "none" } } },
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
    expect(parts.filter(({ type }) => type === "text")).toHaveLength(2);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "content-filter" });
  });

  test("comes after the rest of a long answer, which a second request fetches", async () => {
    const parts = await respond((wire) => {
      wire.text("one ");
      wire.parts([{ text: "two " }], { finishReason: "CONTINUATION", continuationToken: "token" });
    }, sayOk);
    expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual(["one ", "two ", "ok"]);
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
    expect(parts.filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", usage: earlyUsage },
      { type: "usage", usage },
    ]);
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
  test("are read in any split of their bytes", async () => {
    const frames = ["für ", "日本", "🚀"].map((text) => ({ candidates: [{ content: { parts: [{ text }] } }] }));
    const end = { candidates: [{ finishReason: "STOP", index: 0 }] };
    const bytes = [...frames, end].map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`).join("");
    const parts = await respond((wire) => wire.raw(...splitBytes(bytes)));
    expect(parts).toEqual([
      { type: "text", text: "für " },
      { type: "text", text: "日本" },
      { type: "text", text: "🚀" },
      { type: "finish", reason: "stop", detail: undefined, usage: undefined, state: undefined },
    ]);
  });

  test("fail the response when an unknown form would lose a part of it", async () => {
    const parts = await respond((wire) => {
      wire.parts([{ text: 7 }]);
      wire.finish("STOP");
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "unreadable", retryable: false });
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
