// Behaviour of Anthropic Messages alone, over a real socket.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAnthropic } from "../../src/agent/models/anthropic/provider.ts";
import { anthropicSettings } from "../../src/agent/models/anthropic/settings.ts";
import type {
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelSettings,
  ReasoningEffort,
} from "../../src/agent/models/model.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { resultBytesMax } from "../../src/agent/models/wire/outcome.ts";
import { answer, onMessages, type Script, startUsage } from "../fakes/anthropic-provider.ts";
import type { WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { callsOf, stateOf, textOf } from "./parts.ts";
import { request } from "./request.ts";

const apiKey = "sk-ant-test-5f1c";
const cached = { cache_control: { type: "ephemeral" } };

let server: WireServer;
let provider: ModelProvider;

beforeEach(async () => {
  server = await openWireServer(() => onMessages(answer("ok")));
  provider = connect(`${server.origin}/v1`);
});

afterEach(() => provider.close());

function connect(baseUrl: string, key = apiKey): ModelProvider {
  return createAnthropic({ name: "anthropic", baseUrl, apiKey: key, clock: createManualClock() });
}

function stream(overrides: Partial<ModelRequest> = {}, model = "claude-sonnet-4-5", signal?: AbortSignal) {
  return provider.model(model).stream({ ...request, ...overrides }, signal ?? new AbortController().signal);
}

function respond(...scripts: readonly Script[]): void {
  server.respond(...scripts.map(onMessages));
}

async function collect(script: Script): Promise<ModelPart[]> {
  respond(script);
  return await Array.fromAsync(stream());
}

/** Collects the parts of a response that begins and ends properly. The script writes everything between. */
function collectWhole(script: Script, reason = "end_turn"): Promise<ModelPart[]> {
  return collect(async (wire, received) => {
    wire.start();
    await script(wire, received);
    wire.done(reason);
  });
}

/** The body of a request with these properties. */
async function send(overrides: Partial<ModelRequest>, model?: string): Promise<Record<string, unknown>> {
  await Array.fromAsync(stream(overrides, model));
  return (await server.request(server.requests.length - 1)).body;
}

/** The blocks that a response keeps. */
function blocksOf(parts: readonly ModelPart[]): unknown {
  return JSON.parse(stateOf(parts) ?? "{}").blocks;
}

describe("a request", () => {
  test("goes to <base url>/messages with the key and the version, and requests nothing but the answer", async () => {
    const body = await send({ temperature: 0.5 });
    const { method, path, headers } = await server.request(0);
    expect({ method, path }).toEqual({ method: "POST", path: "/v1/messages" });
    expect(headers).toMatchObject({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" });
    expect(headers).not.toHaveProperty("authorization");
    expect(body).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      temperature: 0.5,
      stream: true,
      system: [{ type: "text", text: "Be brief.", ...cached }],
      messages: [{ role: "user", content: [{ type: "text", text: "hello", ...cached }] }],
    });
  });

  test("with tools has no beta flag and no field that only the official service supports", async () => {
    const parameters = { type: "object", properties: { b: { anyOf: [{ minLength: 2 }, { enum: [1] }] }, a: {} } };
    const tools = [{ name: "zeta", description: "last first", parameters }];
    const body = await send({ tools });
    expect(JSON.stringify(body.tools)).toBe(
      JSON.stringify([{ name: "zeta", description: "last first", input_schema: parameters }]),
    );
    expect((await server.request(0)).headers).not.toHaveProperty("anthropic-beta");
  });

  test.each([
    ["claude-opus-4-8", 0.5, undefined],
    ["claude-sonnet-4-5", 0, 0],
    ["claude-sonnet-4-5", 1.7, 1],
  ])("to %s with temperature %d has temperature %s", async (model, temperature, sent) => {
    expect((await send({ temperature }, model)).temperature).toBe(sent);
  });

  test("gives all results of a turn in one message, in the order of the calls, and marks those that failed", async () => {
    const body = await send({
      messages: [
        { role: "user", text: "read" },
        {
          role: "assistant",
          text: "",
          toolCalls: [
            { id: "c2", name: "zeta", argumentsJson: '{"b": 1,"a":[2.5,null]}' },
            { id: "c1", name: "alpha", argumentsJson: " " },
          ],
        },
        { role: "tool", toolCallId: "c2", toolName: "zeta", text: "Error: no", isError: true },
        { role: "tool", toolCallId: "c1", toolName: "alpha", text: "" },
        { role: "user", text: "go on" },
        { role: "user", text: "please" },
      ],
    });
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "read", ...cached }] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c2", name: "zeta", input: { b: 1, a: [2.5, null] } },
          { type: "tool_use", id: "c1", name: "alpha", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c2", content: "Error: no", is_error: true },
          { type: "tool_result", tool_use_id: "c1", content: "" },
          { type: "text", text: "go on" },
          { type: "text", text: "please", ...cached },
        ],
      },
    ]);
  });

  test.each(["[1]", '"text"', '{"half": '])(
    "has an object as arguments, also where the model wrote %s",
    async (argumentsJson) => {
      const [, { content }] = (
        await send({
          messages: [
            { role: "user", text: "read" },
            { role: "assistant", text: "", toolCalls: [{ id: "c1", name: "zeta", argumentsJson }] },
            { role: "tool", toolCallId: "c1", toolName: "zeta", text: "Error: no", isError: true },
          ],
        })
      ).messages as [unknown, { content: [{ input: unknown }] }];
      expect(content[0].input).toEqual({ rawInvalidInput: argumentsJson });
    },
  );

  test("marks for the cache its system prompt, its end, and the end of the previous request", async () => {
    const turns: ModelMessage[] = [];
    for (const id of ["c1", "c2", "c3"]) {
      turns.push(
        { role: "assistant", text: "", toolCalls: [{ id, name: "zeta", argumentsJson: "{}" }] },
        { role: "tool", toolCallId: id, toolName: "zeta", text: `result of ${id}` },
      );
    }
    const body = await send({ messages: [...request.messages, ...turns] });
    const blocks = [
      ...(body.system as object[]),
      ...(body.messages as { content: object[] }[]).flatMap((m) => m.content),
    ];
    const marked = blocks.filter((block) => "cache_control" in block);
    expect(marked.map((block) => ("text" in block ? block.text : (block as { content?: string }).content))).toEqual([
      "Be brief.",
      "result of c2",
      "result of c3",
    ]);
  });

  test("has no blank text, and no message without content", async () => {
    const body = await send({
      system: " \n",
      messages: [
        { role: "user", text: "one" },
        { role: "assistant", text: "\n\n", toolCalls: [] },
        { role: "user", text: "  " },
        { role: "user", text: "two" },
        { role: "assistant", text: " ", toolCalls: [{ id: "c1", name: "zeta", argumentsJson: "{}" }] },
        { role: "tool", toolCallId: "c1", toolName: "zeta", text: "" },
      ],
    });
    expect(body).not.toHaveProperty("system");
    expect(body.messages).toMatchObject([
      { role: "user", content: [{ text: "one" }, { text: "two" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1" }] },
      { role: "user", content: [{ type: "tool_result" }] },
    ]);
  });
});

describe("a call of the history", () => {
  const ask = async (...said: readonly ModelMessage[]): Promise<string> => {
    await send({ messages: [...request.messages, ...said] });
    return (await server.request(server.requests.length - 1)).text;
  };
  const turn = (id: string, argumentsJson = "{}"): ModelMessage[] => [
    { role: "assistant", text: "", toolCalls: [{ id, name: "zeta", argumentsJson }] },
    { role: "tool", toolCallId: id, toolName: "zeta", text: `result of ${id}` },
  ];
  const idsOf = (text: string): (string | undefined)[] =>
    [...text.matchAll(/"(?:id|tool_use_id)":"([^"]*)"/g)].map(([, id]) => id);

  test.each(['{"id":2512292042121000001,"r":1.0,"a":1, "a":2}', '{"__proto__":{"x":1}}'])(
    "has its arguments byte for byte: %s",
    async (json) => {
      expect(await ask(...turn("c1", json))).toContain(`"input":${json}`);
    },
  );

  test("has an id that the service accepts, the same for its result and in every later request", async () => {
    const [call, result, ...rest] = idsOf(await ask(...turn("functions.q:0")));
    expect(call).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect([result, rest]).toEqual([call, []]);
    const later = idsOf(await ask(...turn("functions.q:0"), ...turn("toolu_a"), ...turn("functions.q:1")));
    expect(later.slice(0, 4)).toEqual([call, call, "toolu_a", "toolu_a"]);
    expect(later[4]).not.toBe(call);
  });

  test("has an id of its own, also where the history repeats one", async () => {
    const twice: ModelMessage[] = [
      { role: "assistant", text: "", toolCalls: ["x", "y"].map((name) => ({ id: "c1", name, argumentsJson: "{}" })) },
      { role: "tool", toolCallId: "c1", toolName: "x", text: "one" },
      { role: "tool", toolCallId: "c1", toolName: "y", text: "two" },
    ];
    const [first, second, ...results] = idsOf(await ask(...twice, ...turn("c1")));
    expect(first).toBe("c1");
    expect(results.slice(0, 2)).toEqual([first, second]);
    expect(results[2]).toBe(results[3]);
    expect(new Set([first, second, results[2]]).size).toBe(3);
  });
});

describe("a setting", () => {
  const tools = [{ name: "zeta", description: "", parameters: { type: "object" } }];
  const settingsOf = async (settings: ModelSettings, overrides: Partial<ModelRequest> = {}, model?: string) => {
    const {
      model: _name,
      max_tokens: _tokens,
      messages: _said,
      ...fields
    } = await send({ system: "", tools, settings, ...overrides }, model);
    return { ...fields, tools: undefined, stream: undefined };
  };

  test.each<[ModelSettings, object]>([
    [{ toolChoice: "none" }, { tool_choice: { type: "none" } }],
    [{ toolChoice: "required" }, { tool_choice: { type: "any" } }],
    [{ toolChoice: { name: "zeta" } }, { tool_choice: { type: "tool", name: "zeta" } }],
    [{ parallelToolCalls: true }, {}],
    [{ parallelToolCalls: false }, { tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
    [
      { toolChoice: "required", parallelToolCalls: false },
      { tool_choice: { type: "any", disable_parallel_tool_use: true } },
    ],
    [{ toolChoice: "none", parallelToolCalls: false }, { tool_choice: { type: "none" } }],
    [
      { topP: 0.5, topK: 3 },
      { top_p: 0.5, top_k: 3 },
    ],
    [{ stop: ["END"] }, { stop_sequences: ["END"] }],
    [{ stop: [] }, {}],
    [{ serviceTier: "standard_only" }, { service_tier: "standard_only" }],
    [{ serviceTier: "flex" }, {}],
    [{ seed: 7, frequencyPenalty: 1, presencePenalty: 1, verbosity: "low" }, {}],
  ])("%j is sent as %j", async (settings, fields) => {
    expect(await settingsOf(settings)).toEqual(fields);
  });

  test("that chooses tools is not sent without tools", async () => {
    expect(await settingsOf({ toolChoice: "required", parallelToolCalls: false }, { tools: [] })).toEqual({});
  });

  test("of the sampling is not sent where the service refuses it", async () => {
    const settings = { topP: 0.5, topK: 3 };
    expect(await settingsOf(settings, {}, "claude-opus-4-8")).toEqual({});
    expect(await settingsOf(settings, { temperature: 0.5 })).toEqual({ temperature: 0.5, top_k: 3 });
    const thinking = { type: "enabled", budget_tokens: 2000 };
    expect(await settingsOf(settings, { temperature: 0.5, providerOptions: { thinking } })).toEqual({ thinking });
  });

  test("of this provider is named", () => {
    expect([...anthropicSettings].toSorted()).toEqual([
      "maxProviderCalls",
      "parallelToolCalls",
      "serviceTier",
      "stop",
      "toolChoice",
      "topK",
      "topP",
    ]);
  });
});

describe("a reasoning effort", () => {
  const thoughtsOf = async (model: string, overrides: Partial<ModelRequest>) => {
    const { max_tokens, thinking, output_config, temperature } = await send(overrides, model);
    return { max_tokens, thinking, output_config, temperature };
  };

  test.each<[string, ReasoningEffort, number | undefined, string | undefined]>([
    ["claude-sonnet-4-5", "minimal", 1280, undefined],
    ["claude-sonnet-4-5", "high", 38_400, undefined],
    ["claude-opus-4-1-20250805", "low", 3200, undefined],
    ["claude-opus-4-20250514", "medium", 9600, undefined],
    ["claude-3-7-sonnet-latest", "low", 1024, undefined],
    ["another-model", "high", 2458, undefined],
    ["claude-opus-4-6", "minimal", undefined, "low"],
    ["claude-sonnet-5", "medium", undefined, "medium"],
    ["claude-of-tomorrow", "high", undefined, "high"],
  ])("of %s: %s, is a number of tokens or an effort", async (model, reasoningEffort, budget, effort) => {
    expect(await thoughtsOf(model, { reasoningEffort, temperature: 0.5 })).toEqual({
      max_tokens: 100 + (budget ?? 0),
      thinking:
        budget === undefined ? { type: "adaptive", display: "summarized" } : { type: "enabled", budget_tokens: budget },
      ...(effort !== undefined && { output_config: { effort } }),
    });
  });

  test("keeps the tokens of a response within what the model can write", async () => {
    expect(await thoughtsOf("claude-sonnet-4-5", { reasoningEffort: "high", maxTokens: 60_000 })).toMatchObject({
      max_tokens: 64_000,
    });
    expect(await thoughtsOf("claude-haiku-4-5", { maxTokens: 100_000 })).toMatchObject({ max_tokens: 64_000 });
    expect(await thoughtsOf("claude-of-tomorrow", { maxTokens: 200_000 })).toMatchObject({ max_tokens: 200_000 });
  });

  test("has precedence over an option of the caller, beside which other options stay", async () => {
    const providerOptions = { thinking: { type: "disabled" }, output_config: { effort: "max", task_budget: 9 } };
    expect(await thoughtsOf("claude-opus-4-6", { reasoningEffort: "low", providerOptions })).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "low", task_budget: 9 },
    });
    const thinking = { type: "enabled", budget_tokens: 2000 };
    expect(await thoughtsOf("claude-sonnet-4-5", { providerOptions: { thinking }, temperature: 1 })).toEqual({
      max_tokens: 2100,
      thinking,
    });
  });
});

test("keywords of a schema that the service refuses become part of the descriptions", async () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      a: { type: "string", description: "A name.", minLength: 2, format: "email" },
      b: { oneOf: [{ $ref: "#/$defs/c", description: "lost" }, { type: "null" }] },
      d: { type: "array", items: { type: "string", format: "semver" }, minItems: 1 },
    },
    required: ["a", "b", "d"],
    $defs: { c: { type: "object", properties: {}, required: [], propertyNames: false } },
  };
  const { output_config } = await send({
    responseFormat: { type: "json-schema", name: "x", schema, strict: true },
  });
  const rule = "Must match this JSON Schema:";
  expect(output_config).toEqual({
    format: {
      type: "json_schema",
      schema: {
        ...schema,
        additionalProperties: false,
        properties: {
          a: { type: "string", description: `A name.\n${rule} {"minLength":2}`, format: "email" },
          b: { anyOf: [{ $ref: "#/$defs/c" }, { type: "null" }] },
          d: {
            type: "array",
            items: { type: "string", description: `${rule} {"format":"semver"}` },
            description: `${rule} {"minItems":1}`,
          },
        },
        $defs: {
          c: {
            type: "object",
            properties: {},
            required: [],
            additionalProperties: false,
            description: `${rule} {"propertyNames":false}`,
          },
        },
      },
    },
  });
});

describe("token usage", () => {
  const given = { totalTokens: undefined, reasoningTokens: undefined };

  test("is sent at the start and at the end, and the prompt includes cached tokens", async () => {
    const parts = await collect((wire) => {
      wire.start();
      wire.text("x");
      wire.stop("end_turn", { output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } });
      wire.done();
    });
    const usages = parts.flatMap((part) => (part.type === "usage" ? [part.usage] : []));
    const usage = { ...given, promptTokens: 11, completionTokens: 40, cachedTokens: 5, reasoningTokens: 30 };
    expect(usages.at(-1)).toEqual(usage);
    expect(parts.at(-1)).toMatchObject({ type: "finish", usage });
    expect(parts.findIndex(({ type }) => type === "usage")).toBeLessThan(
      parts.findIndex(({ type }) => type === "text"),
    );
  });

  test.each([
    ["only what changed", { input_tokens: 9, output_tokens: 3 }, { promptTokens: 16, cachedTokens: 5 }],
    [
      "all of them",
      { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 3 },
      { promptTokens: 109, cachedTokens: 100 },
    ],
    [
      "nothing for some",
      { input_tokens: null, cache_read_input_tokens: null, output_tokens: 3 },
      { promptTokens: 11, cachedTokens: 5 },
    ],
  ])("at the end replaces the one at the start, where the end has %s", async (_, usage, expected) => {
    const parts = await collect((wire) => {
      wire.start();
      wire.stop("end_turn", usage);
      wire.done();
    });
    expect(parts.at(-1)).toMatchObject({ usage: { ...expected, completionTokens: 3 } });
  });

  test("is undefined where the server does not send it", async () => {
    const parts = await collect((wire) => {
      wire.start({});
      wire.text("x");
      wire.stop("end_turn", {});
      wire.done();
    });
    expect(parts.map(({ type }) => type)).toEqual(["text", "finish"]);
    expect(parts.at(-1)).toMatchObject({ usage: undefined });
    const some = await collect((wire) => {
      wire.start({ input_tokens: 4 });
      wire.stop("end_turn", { output_tokens: 2 });
      wire.done();
    });
    expect(some.at(-1)).toMatchObject({
      usage: { ...given, promptTokens: 4, completionTokens: 2, cachedTokens: undefined },
    });
  });
});

describe("a response", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "paused"],
    ["constructor", "other"],
  ])("that ended with %s finishes as: %s", async (word, reason) => {
    const parts = await collect((wire) => {
      wire.start();
      wire.done(word);
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason, detail: undefined });
  });

  test.each([
    [{ type: "refusal", category: "cyber", explanation: "Not this." }, "refusal: cyber: Not this."],
    [{ type: "refusal", category: null, explanation: null }, "refusal"],
    [undefined, "refusal"],
  ])("that was refused with details %j has the detail: %s", async (details, detail) => {
    const parts = await collect((wire) => {
      wire.start();
      wire.stop("refusal", { output_tokens: 0 }, details);
      wire.done();
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "content-filter", detail });
  });

  test("has its calls in order, with arguments byte for byte, and needs no state for them", async () => {
    const parts = await collectWhole((wire) => {
      wire.text("first");
      wire.toolUse("toolu_b", "beta", '{"x"', ": 1", "}");
      wire.toolUse("toolu_a", "alpha");
    }, "tool_use");
    expect(parts.filter(({ type }) => ["text", "tool-call", "finish"].includes(type))).toEqual([
      { type: "text", text: "first" },
      { type: "tool-call", call: { id: "toolu_b", name: "beta", argumentsJson: '{"x": 1}' } },
      { type: "tool-call", call: { id: "toolu_a", name: "alpha", argumentsJson: "{}" } },
      expect.objectContaining({ type: "finish", reason: "tool-calls", state: undefined }),
    ]);
  });

  test("ignores unknown events, blocks and deltas", async () => {
    const parts = await collect((wire) => {
      wire.frame({ type: "weather", wind: 3 }, "weather");
      wire.start();
      wire.frame({ type: "content_block_start", index: 7, content_block: { type: "hologram" } }, "content_block_start");
      wire.open({ type: "text", text: "" });
      wire.delta({ type: "text_delta", text: "a" });
      wire.delta({ type: "glow_delta", glow: 1 });
      wire.delta({ type: "text_delta", text: "b" });
      wire.close();
      wire.done("end_turn");
    });
    expect(textOf(parts)).toBe("ab");
    expect(parts.at(-1)).toMatchObject({ type: "finish" });
  });

  test.each([
    { type: "text_delta", text: 7 },
    { type: "thinking_delta" },
    { type: "signature_delta", signature: null },
    { type: "input_json_delta", partial_json: {} },
  ])("fails without retry when %j would lose a part of it", async (delta) => {
    const parts = await collectWhole((wire) => {
      wire.open({ type: "text", text: "" });
      wire.delta(delta);
      wire.close();
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "unreadable", retryable: false });
  });

  test("that has all its content but lacks the last frame is complete", async () => {
    const parts = await collect((wire) => {
      wire.start();
      wire.toolUse("toolu_a", "alpha");
      wire.stop("tool_use");
    });
    expect(parts.at(-2)).toMatchObject({ type: "tool-call" });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
    const silent = await collect((wire) => {
      wire.start();
      wire.stop("end_turn");
    });
    expect(silent.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });
});

describe("a block", () => {
  test("may begin with a part of its content", async () => {
    const parts = await collectWhole((wire) => {
      wire.open({ type: "thinking", thinking: "Let ", signature: "c2ln" });
      wire.delta({ type: "thinking_delta", thinking: "me see." });
      wire.close();
      wire.open({ type: "text", text: "It is " });
      wire.delta({ type: "text_delta", text: "done." });
      wire.close();
    });
    expect(parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("")).toBe("Let me see.");
    expect(textOf(parts)).toBe("It is done.");
    expect(blocksOf(parts)).toEqual([
      { type: "thinking", thinking: "Let me see.", signature: "c2ln" },
      { type: "text", text: "It is done." },
    ]);
  });

  test("of a call may begin with its arguments, which count byte for byte unless pieces follow", async () => {
    const parts = await collectWhole((wire) => {
      const start = (index: number, input: string): string =>
        `data: {"type":"content_block_start","index":${index},"content_block":{"type":"tool_use","id":"c${index}","name":"zeta","input":${input}}}\n\n`;
      wire.raw(start(0, '{"id": 2512292042121000001, "r":1.0}'), start(1, '{"a":1}'), start(2, '"{\\"b\\":2}"'));
      wire.frame({
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json: '{"a":2}' },
      });
    }, "tool_use");
    expect(parts.flatMap((part) => (part.type === "tool-call" ? [part.call.argumentsJson] : []))).toEqual([
      '{"id": 2512292042121000001, "r":1.0}',
      '{"a":2}',
      '{"b":2}',
    ]);
  });

  test("of a call counts once when a gateway sends all of its arguments again", async () => {
    const parts = await collectWhole((wire) => wire.toolUse("c1", "zeta", '{"a"', ":1}", '{"a":1}'), "tool_use");
    expect(callsOf(parts)).toEqual([{ id: "c1", name: "zeta", argumentsJson: '{"a":1}' }]);
  });

  test("of a call that a gateway begins again with each piece is one call", async () => {
    const parts = await collectWhole((wire) => {
      for (const partial_json of ['{"a"', ":1}"]) {
        wire.open({ type: "tool_use", id: "c1", name: "zeta", input: {} });
        wire.delta({ type: "input_json_delta", partial_json });
      }
      wire.open({ type: "tool_use", id: "c2", name: "zeta", input: {} });
    }, "tool_use");
    expect(callsOf(parts)).toEqual([
      { id: "c1", name: "zeta", argumentsJson: '{"a":1}' },
      { id: "c2", name: "zeta", argumentsJson: "{}" },
    ]);
  });

  test("without a start is text, but no call", async () => {
    const lost =
      (delta: object): Script =>
      (wire) => {
        wire.start();
        wire.delta(delta);
        wire.done("end_turn");
      };
    expect(textOf(await collect(lost({ type: "text_delta", text: "x" })))).toBe("x");
    expect((await collect(lost({ type: "input_json_delta", partial_json: "{}" }))).at(-1)).toMatchObject({
      type: "failure",
      code: "unreadable",
    });
  });

  test("of an unknown type may have arguments too", async () => {
    const parts = await collectWhole((wire) => {
      wire.open({ type: "hologram", depth: 3 });
      wire.delta({ type: "input_json_delta", partial_json: "{}" });
      wire.close();
      wire.text("ok");
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("that sums up the conversation is no part of the answer, and goes back as it came", async () => {
    const parts = await collectWhole((wire) => {
      wire.open({ type: "compaction", content: null });
      wire.delta({ type: "compaction_delta", content: "So far: nothing." });
      wire.close();
      wire.text("Hello.");
    });
    expect(textOf(parts)).toBe("Hello.");
    expect(blocksOf(parts)).toEqual([
      { type: "compaction", content: "So far: nothing." },
      { type: "text", text: "Hello." },
    ]);
  });

  test("of text keeps its citations as they are written", async () => {
    const cited = '{"type":"web_search_result_location","encrypted_index":"Rm9v\\/==","n":9007199254740993}';
    const parts = await collectWhole((wire) => {
      wire.open({ type: "text", text: "", citations: [{ type: "page_location", start_page_number: 1 }] });
      wire.delta({ type: "text_delta", text: "Said." });
      wire.raw(
        `data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":${cited}}}\n\n`,
      );
      wire.close();
    });
    expect(stateOf(parts)).toContain(`"citations":[{"type":"page_location","start_page_number":1},${cited}]`);
  });
});

describe("a stream", () => {
  const another = (id: string): object => ({ type: "message_start", message: { id, usage: startUsage } });

  test("ends with the last event, although the server keeps the connection open", async () => {
    const clock = createManualClock();
    const patient = createAnthropic({ name: "anthropic", baseUrl: `${server.origin}/v1`, apiKey, clock });
    respond(async (wire) => {
      await answer("done")(wire, await server.request(0));
      await wire.hang();
    });
    const parts = Array.fromAsync(patient.model("claude-x").stream(request, new AbortController().signal));
    // The first sleep is the limit of the headers, the second one waits for the end of the connection.
    await clock.slept(2);
    clock.advance(1_000);
    expect((await parts).at(-1)).toMatchObject({ type: "finish", reason: "stop" });
    expect(await (await server.request(0)).closed).toBe(false);
    patient.close();
  });

  test("that marks its end and gives no reason is complete", async () => {
    const parts = await collect((wire) => {
      wire.start();
      wire.text("done");
      wire.done();
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "other" });
    const silent = await collect((wire) => {
      wire.start();
      wire.done();
    });
    expect(silent.at(-1)).toMatchObject({ type: "failure", code: "cut" });
  });

  test("may begin its message again: only the second counts while nothing was said", async () => {
    const parts = await collectWhole((wire) => {
      wire.thinking("b2xk", "I will call.");
      wire.toolUse("toolu_a", "alpha", '{"half');
      wire.frame(another("msg_second"));
      wire.thinking("bmV3", "Let me call.");
      wire.toolUse("toolu_b", "alpha", "{}");
    }, "tool_use");
    expect(parts.flatMap((part) => (part.type === "tool-call" ? [part.call.id] : []))).toEqual(["toolu_b"]);
    expect(blocksOf(parts)).toMatchObject([{ type: "thinking", signature: "bmV3" }, { id: "toolu_b" }]);
  });

  test("may repeat the beginning of its message", async () => {
    const parts = await collectWhole((wire) => {
      wire.open({ type: "text", text: "a" });
      wire.frame(another("msg_fake"));
      wire.delta({ type: "text_delta", text: "b" });
    });
    expect(textOf(parts)).toBe("ab");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("that begins another message after text begins again, for a caller that can void the text, three times", async () => {
    const again = async (times: number): Promise<ModelPart[]> => {
      respond((wire) => {
        for (let time = 0; time <= times; time += 1) {
          wire.frame(another(`msg_${time}`));
          wire.thinking("b2xk", "so");
          wire.text(`text ${time}`);
          wire.toolUse(`toolu_${time}`, "alpha", "{}");
        }
        wire.done("tool_use");
      });
      return await Array.fromAsync(stream({ takesRestart: true }));
    };
    const parts = await again(3);
    expect(parts.filter(({ type }) => type === "restart")).toHaveLength(3);
    const last = parts.slice(parts.findLastIndex(({ type }) => type === "restart"));
    expect(textOf(last)).toBe("text 3");
    expect(last.slice(-2)).toMatchObject([
      { type: "tool-call", call: { id: "toolu_3" } },
      { type: "finish", reason: "tool-calls", state: expect.not.stringContaining("toolu_2") },
    ]);
    expect((await again(4)).at(-1)).toMatchObject({ type: "failure", code: "cut" });
  });

  test("that begins another message after text is a cut", async () => {
    const parts = await collectWhole((wire) => {
      wire.text("a");
      wire.frame(another("msg_second"));
      wire.text("b");
    });
    expect(textOf(parts)).toBe("a");
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test("that lost a piece has no state, because a signature fits its exact thought", async () => {
    const parts = await collectWhole((wire) => {
      wire.raw('data: {"type":"content_block_delta","index":0,"del\n\n');
      wire.thinking("c2ln", "so");
      wire.text("well");
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", state: undefined });
  });
});

describe("a tool that the service runs itself", () => {
  const callId = "srvtoolu_a";
  const input = '{"query": "x", "n": 2512292042121000001}';
  const found = '[{"type":"web_search_result","encrypted_content":"RW5j\\/==","age":1.0}]';

  function use(wire: Parameters<Script>[0], id = callId, type = "server_tool_use"): void {
    wire.open({ type, id, name: "web_search", input: {} });
    for (const partial_json of ["", input.slice(0, 9), input.slice(9)]) {
      wire.delta({ type: "input_json_delta", partial_json });
    }
    wire.close();
  }
  function result(wire: Parameters<Script>[0], content = found, type = "web_search_tool_result", more = ""): void {
    wire.raw(
      `data: {"type":"content_block_start","index":1,"content_block":{"type":"${type}","tool_use_id":"${callId}","content":${content}${more}}}\n\n`,
    );
    wire.close();
  }
  const runsOf = (parts: readonly ModelPart[]) => parts.filter((part) => part.type === "provider-call");
  const call = { id: callId, name: "web_search", argumentsJson: input };
  const search: Script = (wire) => {
    wire.start();
    use(wire);
    result(wire);
    wire.text("Found.");
    wire.done("end_turn");
  };

  test("gives one call with its result, and never a call for us", async () => {
    const parts = await collect(search);
    expect(runsOf(parts)).toEqual([{ type: "provider-call", call, outcome: { json: found } }]);
    expect(parts.some(({ type }) => type === "tool-call")).toBe(false);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("has a result without its large elements, and nothing of a large text", async () => {
    const large = `"${"A".repeat(resultBytesMax)}"`;
    const [listed, text] = [`[1.0,${large},2.0]`, large];
    for (const [content, outcome] of [
      [listed, { json: "[1.0,2.0]" }],
      [text, { error: `the result is larger than ${resultBytesMax} bytes` }],
    ] as const) {
      const parts = await collectWhole((wire) => {
        use(wire);
        result(wire, content);
      });
      expect(runsOf(parts)).toEqual([{ type: "provider-call", call, outcome }]);
    }
  });

  test.each([
    [
      "web_search_tool_result",
      '{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}',
      "",
      "max_uses_exceeded",
    ],
    ["new_tool_result", '{"type":"new_tool_result_error"}', "", "new_tool_result_error"],
    ["mcp_tool_result", '[{"type":"text","text":"no such thing"}]', ',"is_error":true', "no such thing"],
    ["mcp_tool_result", "[]", ',"is_error":true', "the tool failed"],
  ])("gives an error of %s: %s%s", async (type, content, more, error) => {
    const parts = await collectWhole((wire) => {
      use(wire, callId, type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use");
      result(wire, content, type, more);
    });
    expect(runsOf(parts)).toEqual([{ type: "provider-call", call, outcome: { error } }]);
  });

  test.each([
    ["end_turn", input],
    ["max_tokens", "{}"],
  ])("without a result, at the end by %s, gives an error, and its call is not sent back", async (reason, sent) => {
    const parts = await collectWhole((wire) => {
      wire.thinking("c2ln", "so");
      use(wire);
    }, reason);
    expect(runsOf(parts)).toEqual([
      {
        type: "provider-call",
        call: { ...call, argumentsJson: sent },
        outcome: { error: "the provider sent no result" },
      },
    ]);
    expect(stateOf(parts)).not.toContain(callId);
  });

  test("goes back as it is written, with what it wrote about it", async () => {
    const parts = await collect(search);
    const said = { role: "assistant", text: "Found.", toolCalls: [], state: stateOf(parts) } as const;
    await send({ messages: [...request.messages, said, { role: "user", text: "go on" }] });
    const { text } = await server.request(server.requests.length - 1);
    expect(text).toContain(
      `{"role":"assistant","content":[{"type":"server_tool_use","id":"${callId}","name":"web_search","input":${input}},` +
        `{"type":"web_search_tool_result","tool_use_id":"${callId}","content":${found}},{"type":"text","text":"Found."}]}`,
    );
  });

  test("may answer in the next response of the turn, which goes on where the first one paused", async () => {
    const paused = await collect((wire) => {
      wire.start();
      use(wire);
      wire.frame({
        type: "message_delta",
        delta: { stop_reason: "pause_turn", container: { id: "container_1", expires_at: "2026-01-01T00:00:00Z" } },
        usage: { output_tokens: 3 },
      });
      wire.done();
    });
    expect(runsOf(paused)).toEqual([]);
    expect(paused.at(-1)).toMatchObject({ type: "finish", reason: "paused" });

    const said = { role: "assistant", text: "", toolCalls: [], state: stateOf(paused) } as const;
    const messages = [...request.messages, said];
    respond((wire) => {
      wire.start();
      result(wire);
      wire.text("Found.");
      wire.done("end_turn");
    });
    const parts = await Array.fromAsync(stream({ messages }));
    expect(runsOf(parts)).toEqual([{ type: "provider-call", call, outcome: { json: found } }]);
    const { body } = await server.request(1);
    expect(body).toMatchObject({ container: "container_1", messages: [{}, { content: [{ id: callId }] }] });

    const whole = { role: "assistant", text: "Found.", toolCalls: [], state: stateOf(parts) } as const;
    const later = await send({ messages: [...messages, whole, { role: "user", text: "and?" }] });
    expect(later).not.toHaveProperty("container");
    expect((later.messages as { content: object[] }[])[1]?.content).toMatchObject([
      { type: "server_tool_use", id: callId },
      { type: "web_search_tool_result", tool_use_id: callId },
      { type: "text", text: "Found." },
    ]);
  });

  test("that was waiting when a user spoke is not sent, nor a result whose call has left the history", async () => {
    const program = { type: "code_execution_20260120", tool_id: callId };
    const waiting = await collectWhole((wire) => {
      use(wire);
      wire.open({ type: "tool_use", id: "toolu_a", name: "alpha", input: { a: 1 }, caller: program });
    }, "tool_use");
    const [toolCall] = waiting.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
    expect(runsOf(waiting)).toEqual([]);
    const said: ModelMessage[] = [
      { role: "assistant", text: "", toolCalls: toolCall ? [toolCall] : [], state: stateOf(waiting) },
      { role: "tool", toolCallId: "toolu_a", toolName: "alpha", text: "one" },
    ];
    const open = await send({ messages: [...request.messages, ...said] });
    expect(open.messages).toMatchObject([{}, { content: [{ id: callId }, { id: "toolu_a", caller: program }] }, {}]);
    const left = await send({ messages: [...request.messages, ...said, { role: "user", text: "stop" }] });
    expect((left.messages as { content: object[] }[])[1]?.content).toEqual([
      { type: "tool_use", id: "toolu_a", name: "alpha", input: { a: 1 } },
    ]);

    const answered = await collectWhole((wire) => {
      result(wire);
      wire.text("Found.");
    });
    const lone = { role: "assistant", text: "Found.", toolCalls: [], state: stateOf(answered) } as const;
    const { messages } = await send({ messages: [...request.messages, lone, { role: "user", text: "go on" }] });
    expect((messages as readonly { content?: unknown }[])[1]?.content).toEqual([{ type: "text", text: "Found." }]);
  });

  test("may let a message begin with whole calls of its program", async () => {
    const caller = { type: "code_execution_20260120", tool_id: callId };
    const parts = await collect((wire) => {
      wire.raw(
        `data: {"type":"message_start","message":{"id":"m","content":[{"type":"tool_use","id":"toolu_a","name":"alpha","input":{"n":1.0},"caller":${JSON.stringify(caller)}}],"container":{"id":"container_1"},"stop_reason":"tool_use","usage":{"input_tokens":0,"output_tokens":0}}}\n\n`,
      );
      wire.done();
    });
    expect(parts.slice(-2)).toMatchObject([
      { type: "tool-call", call: { id: "toolu_a", argumentsJson: '{"n":1.0}' } },
      { type: "finish", reason: "tool-calls" },
    ]);
    expect(stateOf(parts)).toContain('"container":"container_1"');
    expect(blocksOf(parts)).toMatchObject([{ caller }]);
  });
});

test.each([
  [
    '{"type":"web_search_20250305","name":"web_search"}',
    '{"type":"web_search_20250305","name":"web_search","max_uses":2}',
  ],
  ['{"type":"web_fetch_20250910","n":1.0} ', '{"type":"web_fetch_20250910","n":1.0,"max_uses":2}'],
  ['{"type":"web_search_20250305","max_uses":5}', '{"type":"web_search_20250305","max_uses":5}'],
  ['{"type":"code_execution_20250825"}', '{"type":"code_execution_20250825"}'],
])("a maximum of calls makes %s %s", async (tool, sent) => {
  await send({ providerTools: [tool], settings: { maxProviderCalls: 2 } });
  expect((await server.request(0)).text).toContain(`"tools":[${sent}]`);
});

describe("thoughts", () => {
  const think: Script = (wire) => {
    wire.start();
    wire.thinking("c2lnbmVk/+==", "I should ", "search.");
    wire.redactedThinking("b3BhcXVl");
    wire.thinking("b21pdHRlZA==");
    wire.text("\n\n");
    wire.text("Let me look.");
    wire.toolUse("toolu_a", "search", '{"q": "x"}');
    wire.done("tool_use");
  };
  const calls = [{ id: "toolu_a", name: "search", argumentsJson: '{"q": "x"}' }];
  const result = { role: "tool", toolCallId: "toolu_a", toolName: "search", text: "found" } as const;

  async function assistantAfter(state: string | undefined, rest: readonly ModelMessage[] = [result]): Promise<unknown> {
    const said = { role: "assistant", text: "\n\nLet me look.", toolCalls: calls, state } as const;
    const { messages } = await send({ messages: [...request.messages, said, ...rest] });
    return (messages as { role: string; content: unknown }[])[1]?.content;
  }

  test("are sent back before the call that they led to, with their signatures byte for byte", async () => {
    const parts = await collect(think);
    expect(parts.filter(({ type }) => type === "reasoning")).toEqual([
      { type: "reasoning", text: "I should " },
      { type: "reasoning", text: "search." },
    ]);
    expect(await assistantAfter(stateOf(parts))).toEqual([
      { type: "thinking", thinking: "I should search.", signature: "c2lnbmVk/+==" },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "thinking", thinking: "", signature: "b21pdHRlZA==" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "toolu_a", name: "search", input: { q: "x" }, caller: { type: "direct" } },
    ]);
  });

  test.each([
    ["another provider", JSON.stringify({ provider: "gemini", content: [{ type: "text", text: "mine" }] })],
    ["nobody", "no JSON"],
    [
      "another format",
      JSON.stringify({ provider: "anthropic", kind: "chat", blocks: [{ type: "text", text: "mine" }] }),
    ],
    ["an older version", JSON.stringify({ provider: "anthropic", content: [{ type: "text", text: "mine" }] })],
  ])("of %s are not sent", async (_, state) => {
    expect(await assistantAfter(state)).toMatchObject([
      { type: "text", text: "\n\nLet me look." },
      { type: "tool_use", id: "toolu_a" },
    ]);
  });

  test("of a cut response are sent without the calls that its message lacks", async () => {
    const state = stateOf(
      await collectWhole((wire) => {
        wire.thinking("c2ln", "so");
        wire.text("Let me look.");
        wire.toolUse("toolu_a", "search", '{"q": ');
      }, "max_tokens"),
    );
    const said = { role: "assistant", text: "Let me look.", toolCalls: [], state } as const;
    const { messages } = await send({ messages: [...request.messages, said, { role: "user", text: "go on" }] });
    expect(messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", signature: "c2ln" },
          { type: "text", text: "Let me look." },
        ],
      },
      { role: "user", content: [{ text: "go on" }] },
    ]);
    expect(JSON.stringify(messages)).not.toContain("toolu_a");
  });

  test("of a cut response are sent with the call, without its arguments, which may be half of them", async () => {
    const parts = await collectWhole((wire) => {
      wire.thinking("c2ln", "so");
      wire.toolUse("toolu_a", "search", '{"q": 1}');
    }, "max_tokens");
    expect(parts.at(-2)).toEqual({ type: "cut-call", id: "toolu_a", name: "search" });
    expect(await assistantAfter(stateOf(parts))).toEqual([
      { type: "thinking", thinking: "so", signature: "c2ln" },
      { type: "tool_use", id: "toolu_a", name: "search", input: {}, caller: { type: "direct" } },
    ]);
  });

  test("without an answer are not sent, since a message may not end in one", async () => {
    const state = stateOf(
      await collectWhole((wire) => {
        wire.thinking("c2ln", "so long that");
      }, "max_tokens"),
    );
    expect(state).toBeDefined();
    const said = { role: "assistant", text: "", toolCalls: [], state } as const;
    const { messages } = await send({ messages: [...request.messages, said, { role: "user", text: "go on" }] });
    expect(messages).toMatchObject([{ role: "user", content: [{ text: "hello" }, { text: "go on" }] }]);
  });
});

describe("an error", () => {
  test.each([
    ["overloaded_error", true],
    ["api_error", true],
    ["rate_limit_error", true],
    ["timeout_error", true],
    ["invalid_request_error", false],
    ["authentication_error", false],
    ["billing_error", false],
    ["permission_error", false],
    ["not_found_error", false],
    ["request_too_large", false],
  ])("of type %s as the first event may be retried: %s", async (type, retryable) => {
    const parts = await collect((wire) => wire.error(type, "as it is"));
    expect(parts).toEqual([
      expect.objectContaining({ type: "failure", message: "API error in stream: as it is", retryable }),
    ]);
  });

  test("in a gateway's own format fails the response too", async () => {
    const parts = await collect((wire) => {
      wire.start();
      wire.frame({ error: { message: "no upstream", code: 502 } });
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "502", retryable: true });
  });

  test.each<[string, Script]>([
    ["only the start was said", (wire) => wire.start()],
    [
      "a line could not be read",
      (wire) => {
        wire.start();
        wire.raw("data: {broken\n\n");
        wire.text("half");
      },
    ],
  ])("that ends a response when %s is a cut", async (_, script) => {
    const parts = await collect(script);
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test("in the first line alone does not matter", async () => {
    const parts = await collect((wire, received) => {
      wire.raw("data: {broken\n\n");
      return answer("fine")(wire, received);
    });
    expect(textOf(parts)).toBe("fine");
    expect(parts.at(-1)).toMatchObject({ type: "finish" });
  });
});

describe("an abort", () => {
  test("keeps the usage that had arrived", async () => {
    const stop = new AbortController();
    respond((wire) => {
      wire.start();
      return wire.hang();
    });
    const parts = stream({}, undefined, stop.signal)[Symbol.asyncIterator]();
    expect((await parts.next()).value).toMatchObject({
      type: "usage",
      usage: { promptTokens: 11, completionTokens: 1 },
    });
    const next = parts.next();
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await (await server.request(0)).closed).toBe(false);
  });
});

test("the provider loads although the environment has an empty address for other programs", async () => {
  const module = new URL("../../src/agent/models/anthropic/provider.ts", import.meta.url).href;
  const env = { ...process.env, ANTHROPIC_BASE_URL: "" };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      "-e",
      `import(${JSON.stringify(module)}).then(({ createAnthropic }) => process.stdout.write(typeof createAnthropic))`,
    ],
    { env },
  );
  expect(stdout).toBe("function");
});

test("options of the caller reach the service, and those that this service sets stay", async () => {
  const body = await send({ providerOptions: { metadata: { user_id: "u-1" }, model: "another", stream: false } });
  expect(body).toMatchObject({ metadata: { user_id: "u-1" }, model: "claude-sonnet-4-5", stream: true });
});

test("beta features that the caller names go into their header, beside those of a file", async () => {
  const parts = [{ type: "file", name: "a.pdf", mediaType: "application/pdf", data: Buffer.from("%PDF-1.7") }] as const;
  const messages = [{ role: "user", text: "", parts }] as const;
  const betas = ["context-management-2025-06-27", "compact-2026-01-12"];
  const body = await send({ messages, providerOptions: { betas, context_management: { edits: [] } } });
  expect((await server.request(0)).headers["anthropic-beta"]).toBe(`pdfs-2024-09-25,${betas.join(",")}`);
  expect(body).toMatchObject({ context_management: { edits: [] } });
  expect(body).not.toHaveProperty("betas");
});
