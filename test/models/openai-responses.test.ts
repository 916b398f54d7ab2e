// Behaviour of the Responses provider alone, over a real socket.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelFinish, ModelMessage, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { responsesBody } from "../../src/agent/models/openai-responses/body.ts";
import { createOpenAiResponses } from "../../src/agent/models/openai-responses/provider.ts";
import { responsesSettings } from "../../src/agent/models/openai-responses/settings.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { lineBytesMax } from "../../src/agent/models/wire/bounds.ts";
import { outcomeBytesMax } from "../../src/agent/models/wire/outcome.ts";
import { printJson } from "../../src/platform/base/json/exact.ts";
import { onResponses, type ResponsesScript } from "../fakes/responses-provider.ts";
import type { WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { callsOf, textOf } from "./parts.ts";
import { request } from "./request.ts";

const apiKey = "sk-test-5f1c";
const unknown = {
  promptTokens: undefined,
  completionTokens: undefined,
  totalTokens: undefined,
  cachedTokens: undefined,
  reasoningTokens: undefined,
};

let clock: ManualClock;
let server: WireServer;
let provider: ModelProvider;

beforeEach(async () => {
  clock = createManualClock({ nowMs: Date.parse("2026-01-01T00:00:00Z") });
  server = await openWireServer();
  provider = createOpenAiResponses({ name: "openai", baseUrl: `${server.origin}/v1`, apiKey, clock });
});

afterEach(() => provider.close());

const answer: ResponsesScript = (wire) => {
  wire.text("hi");
  wire.completed();
};

async function collect(
  script: ResponsesScript = answer,
  overrides: Partial<ModelRequest> = {},
  model = "gpt-4o",
): Promise<ModelPart[]> {
  server.respond(onResponses(script));
  const { signal } = new AbortController();
  return await Array.fromAsync(provider.model(model).stream({ ...request, ...overrides }, signal));
}

async function lastBody(): Promise<Record<string, unknown>> {
  return (await server.request(server.requests.length - 1)).body;
}

/** The message that a run keeps of a response, as the next request has it. */
function toMessage(parts: readonly ModelPart[]): ModelMessage {
  const finish = parts.at(-1) as ModelFinish;
  return {
    role: "assistant",
    text: textOf(parts),
    toolCalls: callsOf(parts),
    state: finish.state,
  };
}

describe("the request", () => {
  test("goes to <base url>/responses and asks the server to store nothing", async () => {
    await collect(answer, { temperature: 0.5 });
    const { method, path, headers, body } = await server.request(0);
    expect({ method, path }).toEqual({ method: "POST", path: "/v1/responses" });
    expect(headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(body).toEqual({
      model: "gpt-4o",
      input: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "input_text", text: "hello" }] },
      ],
      temperature: 0.5,
      max_output_tokens: 100,
      store: false,
      stream: true,
    });
  });

  test.each(["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-6-luna"])(
    "of %s requests encrypted thoughts and has no temperature",
    async (model) => {
      await collect(answer, { temperature: 0.5 }, model);
      const body = await lastBody();
      expect(body).toMatchObject({ include: ["reasoning.encrypted_content"], store: false, max_output_tokens: 100 });
      expect(body).toMatchObject({ input: [{ role: "developer", content: "Be brief." }, { role: "user" }] });
      expect(body).not.toHaveProperty("temperature");
    },
  );

  test.each(["gpt-4o", "gpt-50", "gpt-5-chat-latest", "my-own-model"])("of %s requests no thoughts", async (model) => {
    await collect(answer, { temperature: 0.5 }, model);
    const body = await lastBody();
    expect(body).toMatchObject({ temperature: 0.5 });
    expect(body).not.toHaveProperty("include");
  });

  test("has the messages in order, arguments byte for byte, and no empty text of the model", async () => {
    await collect(answer, {
      system: "",
      messages: [
        { role: "user", text: "read" },
        { role: "user", text: "both" },
        {
          role: "assistant",
          text: "",
          toolCalls: [
            { id: "c2", name: "zeta", argumentsJson: '{"b": 1,"a":2}' },
            { id: "c1", name: "alpha", argumentsJson: "" },
          ],
        },
        { role: "tool", toolCallId: "c2", toolName: "zeta", text: "two" },
        { role: "tool", toolCallId: "c1", toolName: "alpha", text: 'Error: "no"', isError: true },
        { role: "assistant", text: "done", toolCalls: [] },
      ],
    });
    expect((await lastBody()).input).toEqual([
      { role: "user", content: [{ type: "input_text", text: "read" }] },
      { role: "user", content: [{ type: "input_text", text: "both" }] },
      { type: "function_call", call_id: "c2", name: "zeta", arguments: '{"b": 1,"a":2}' },
      { type: "function_call", call_id: "c1", name: "alpha", arguments: "{}" },
      { type: "function_call_output", call_id: "c2", output: "two" },
      { type: "function_call_output", call_id: "c1", output: 'Error: "no"' },
      { role: "assistant", content: "done" },
    ]);
  });

  test("has schemas that strict functions may not have, and declares its functions as not strict", async () => {
    const parameters = {
      type: "object",
      properties: { root: { allOf: [{ $ref: "#/$defs/root" }] } },
      $defs: {
        root: {
          type: "object",
          properties: {
            map: { type: "object", propertyNames: { pattern: "^[a-z]+$" } },
            any: { type: "object", propertyNames: true },
            code: { type: "string", pattern: "^(?!x)y" },
          },
        },
      },
    };
    await collect(answer, { tools: [{ name: "zeta", description: "finds", parameters }] });
    expect((await lastBody()).tools).toEqual([
      { type: "function", name: "zeta", description: "finds", parameters, strict: false },
    ]);
  });
});

describe("thoughts of a reasoning model", () => {
  const encrypted = "gAAAAAB/é+==\\u0000";

  async function thinkAndCall(): Promise<ModelPart[]> {
    return await collect(
      (wire) => {
        wire.reasoning({ id: "rs_1", summary: ["first", "second"], encrypted });
        wire.text("looking");
        wire.call({ id: "call_1", name: "search", arguments: '{"q": 1}' });
        wire.reasoning({ id: "rs_2", summary: [], encrypted: "more" });
        wire.call({ id: "call_2", name: "search", arguments: '{"q": 2}' });
        wire.completed();
      },
      {},
      "gpt-5",
    );
  }

  const results: readonly ModelMessage[] = ["call_1", "call_2"].map((toolCallId) => ({
    role: "tool",
    toolCallId,
    toolName: "search",
    text: "found",
  }));

  test("are sent back in their place, unchanged", async () => {
    const parts = await thinkAndCall();
    expect(parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : []))).toEqual(["first", "second"]);
    const messages = [...request.messages, toMessage(parts), ...results];
    await collect(answer, { system: "", messages }, "gpt-5");
    expect((await lastBody()).input).toEqual([
      { role: "user", content: [{ type: "input_text", text: "hello" }] },
      {
        type: "reasoning",
        id: "rs_1",
        encrypted_content: encrypted,
        summary: [
          { type: "summary_text", text: "first" },
          { type: "summary_text", text: "second" },
        ],
      },
      { role: "assistant", content: "looking" },
      { type: "function_call", call_id: "call_1", name: "search", arguments: '{"q": 1}' },
      { type: "reasoning", id: "rs_2", encrypted_content: "more", summary: [] },
      { type: "function_call", call_id: "call_2", name: "search", arguments: '{"q": 2}' },
      { type: "function_call_output", call_id: "call_1", output: "found" },
      { type: "function_call_output", call_id: "call_2", output: "found" },
    ]);
  });

  test.each([
    ["another provider", (state: string) => state.replace('"openai"', '"gemini"')],
    ["Chat Completions at the same provider", (state: string) => state.replace(',"kind":"responses"', "")],
    ["nobody: it is cut", (state: string) => state.slice(0, -1)],
  ])("are not sent back when the state is of %s", async (_owner, alter) => {
    const message = toMessage(await thinkAndCall()) as Extract<ModelMessage, { role: "assistant" }>;
    const state = alter(String(message.state));
    expect(state).not.toBe(message.state);
    await collect(answer, { messages: [...request.messages, { ...message, state }, ...results] }, "gpt-5");
    const { input } = await lastBody();
    expect(JSON.stringify(input)).not.toContain("rs_1");
    expect(input).toContainEqual({ role: "assistant", content: "looking" });
    expect(input).toContainEqual(expect.objectContaining({ type: "function_call", call_id: "call_2" }));
  });

  test("that nothing follows are left out", async () => {
    const parts = await collect(
      (wire) => {
        wire.text("so far");
        wire.reasoning({ id: "rs_1", summary: [], encrypted });
        wire.incomplete("max_output_tokens");
      },
      {},
      "gpt-5",
    );
    expect(parts.at(-1)).toMatchObject({ reason: "length", state: expect.any(String) });
    await collect(answer, { system: "", messages: [toMessage(parts), { role: "user", text: "go on" }] }, "gpt-5");
    expect((await lastBody()).input).toEqual([
      { role: "assistant", content: "so far" },
      { role: "user", content: [{ type: "input_text", text: "go on" }] },
    ]);
  });

  test("are left out with the calls of a cut response that its message lacks", async () => {
    const parts = await collect(
      (wire) => {
        wire.text("looking");
        wire.reasoning({ id: "rs_1", summary: [], encrypted });
        wire.call({ id: "call_1", name: "search", arguments: '{"q": ' });
        wire.incomplete("max_output_tokens");
      },
      {},
      "gpt-5",
    );
    expect(toMessage(parts)).toMatchObject({ toolCalls: [], state: expect.stringContaining("call_1") });
    await collect(answer, { system: "", messages: [toMessage(parts), { role: "user", text: "go on" }] }, "gpt-5");
    expect((await lastBody()).input).toEqual([
      { role: "assistant", content: "looking" },
      { role: "user", content: [{ type: "input_text", text: "go on" }] },
    ]);
  });

  test("stay where the message has some of the calls that they led to", async () => {
    const message = toMessage(await thinkAndCall()) as Extract<ModelMessage, { role: "assistant" }>;
    const kept = { ...message, toolCalls: message.toolCalls.slice(1) };
    await collect(answer, { system: "", messages: [kept, ...results.slice(1)] }, "gpt-5");
    expect((await lastBody()).input).toMatchObject([
      { type: "reasoning", id: "rs_1" },
      { role: "assistant" },
      { type: "reasoning", id: "rs_2" },
      { type: "function_call", call_id: "call_2" },
      { type: "function_call_output", call_id: "call_2" },
    ]);
  });

  test("without their encrypted content leave no state", async () => {
    const parts = await collect((wire) => {
      wire.reasoning({ id: "rs_1", summary: ["hm"] });
      wire.text("x");
      wire.call({ id: "call_1", name: "search", arguments: "{}" });
      wire.completed();
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls", state: undefined });
  });

  test("are passed on as they arrive where a server sends them in full", async () => {
    const parts = await collect((wire, received) => {
      wire.start();
      const place = { item_id: "rs_0", output_index: 0, content_index: 0 };
      wire.event("response.reasoning_text.delta", { ...place, delta: "hm, " });
      wire.event("response.reasoning_text.delta", { ...place });
      wire.event("response.reasoning_text.delta", { ...place, delta: "well" });
      wire.event("response.reasoning_text.done", { ...place, text: "hm, well" });
      return answer(wire, received);
    });
    expect(parts.slice(0, 3)).toEqual([
      { type: "reasoning", text: "hm, " },
      { type: "reasoning", text: "well" },
      { type: "text", text: "hi" },
    ]);
  });
});

test("the phase of a message is sent back", async () => {
  const parts = await collect((wire) => {
    wire.start();
    const item = { id: "msg_0", type: "message", role: "assistant", phase: "commentary", content: [] };
    wire.event("response.output_item.added", { output_index: 0, item });
    wire.event("response.output_text.delta", { item_id: "msg_0", output_index: 0, content_index: 0, delta: "I look." });
    wire.event("response.output_item.done", { output_index: 0, item });
    wire.completed();
  });
  await collect(answer, { messages: [...request.messages, toMessage(parts)] });
  expect((await lastBody()).input).toContainEqual({ role: "assistant", content: "I look.", phase: "commentary" });
});

describe("the usage", () => {
  const usage = {
    input_tokens: 90,
    input_tokens_details: { cached_tokens: 64 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 7 },
    total_tokens: 100,
  };
  const read = { promptTokens: 90, completionTokens: 10, totalTokens: 100, cachedTokens: 64, reasoningTokens: 7 };

  test("has the cached and the reasoning share, and comes before the finish", async () => {
    const parts = await collect((wire) => {
      wire.text("x");
      wire.completed(usage);
    });
    expect(parts.slice(-2)).toEqual([
      { type: "usage", usage: read },
      { type: "finish", reason: "stop", detail: undefined, usage: read, state: undefined },
    ]);
  });

  test("of a response that was cut short or failed is reported as well", async () => {
    const incomplete = await collect((wire) => wire.incomplete("max_output_tokens", usage));
    expect(incomplete.at(-1)).toMatchObject({ reason: "length", usage: read });
    const failed = await collect((wire) => {
      wire.text("x");
      wire.failed({ code: "server_error", message: "no" }, usage);
    });
    expect(failed.slice(1)).toEqual([{ type: "usage", usage: read }, expect.objectContaining({ type: "failure" })]);
  });

  test("is undefined where the provider sent none", async () => {
    const some = await collect((wire) => wire.completed({ input_tokens: 3, output_tokens: -1 }));
    expect(some.at(-1)).toMatchObject({ usage: { ...unknown, promptTokens: 3 } });
    const none = await collect((wire) => wire.completed(null));
    expect(none).toEqual([{ type: "finish", reason: "stop", detail: undefined, usage: undefined, state: undefined }]);
  });
});

describe("the end", () => {
  test("of a refusal has the model's words as its detail, and not as text", async () => {
    const parts = await collect((wire) => {
      wire.refusal("I cannot", " do", " that.");
      wire.completed();
    });
    expect(parts).toEqual([
      { type: "finish", reason: "content-filter", detail: "I cannot do that.", usage: undefined, state: undefined },
    ]);
  });

  test.each([
    ["max_output_tokens", { reason: "length" }],
    ["content_filter", { reason: "content-filter", detail: "content_filter" }],
    ["max_tokens", { reason: "length" }],
    ["max_tool_calls", { reason: "other" }],
    ["constructor", { reason: "other" }],
  ])("incomplete for %s is %j", async (reason, expected) => {
    const parts = await collect((wire) => {
      wire.text("so far");
      wire.incomplete(reason);
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", ...expected });
  });

  test.each([null, "max_of_tomorrow"])("incomplete for %s has no call whose arguments do not end", async (reason) => {
    const parts = await collect((wire) => {
      wire.call({ id: "call_1", name: "search", arguments: '{"q": ' });
      wire.incomplete(reason);
    });
    expect(parts.filter(({ type }) => type === "tool-call")).toEqual([]);
    expect(parts.slice(-2)).toMatchObject([
      { type: "cut-call", id: "call_1" },
      { type: "finish", reason: "length" },
    ]);
    await collect(answer, { messages: [toMessage(parts), { role: "user", text: "go on" }] });
    expect(JSON.stringify((await lastBody()).input)).not.toContain("call_1");
  });

  test("with the status failed alone is a retryable failure", async () => {
    const parts = await collect((wire) => {
      wire.text("x");
      wire.failed(null);
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "finish", retryable: true });
  });
});

const errors: readonly (readonly [string, boolean, ResponsesScript])[] = [
  ["boom", true, (wire) => wire.failed({ code: "server_error", message: "boom" })],
  ["slow down", true, (wire) => wire.failed({ code: "rate_limit_exceeded", message: "slow down" })],
  ["not this", false, (wire) => wire.failed({ code: "invalid_prompt", message: "not this" })],
  ["flat", true, (wire) => wire.event("error", { code: "ERR_SOMETHING", message: "flat", param: null })],
  ["no code", true, (wire) => wire.event("error", { code: null, message: "no code", param: null })],
  [
    "all spent",
    false,
    (wire) =>
      wire.event("error", {
        error: { type: "insufficient_quota", code: "insufficient_quota", message: "all spent", param: null },
      }),
  ],
  ["no number", false, (wire) => wire.frame({ type: "error", code: "invalid_prompt", message: "no number" })],
  ["of a gateway", true, (wire) => wire.frame({ error: { message: "of a gateway", code: 502 } })],
];

describe.each(errors)("the error %j, retryable: %s,", (text, retryable, script) => {
  const failure = expect.objectContaining({
    type: "failure",
    message: `API error in stream: ${text}`,
    retryable,
    code: expect.any(String),
    retryAfterMs: undefined,
  });

  test("is a failure in the middle of an answer", async () => {
    const parts = await collect((wire, received) => {
      wire.text("half");
      return script(wire, received);
    });
    expect(parts).toEqual([{ type: "text", text: "half" }, failure]);
  });

  test("is a failure before any answer, and its socket is closed although the server keeps it open", async () => {
    const parts = await collect(async (wire, received) => {
      wire.start();
      await script(wire, received);
      await wire.hang();
    });
    expect(parts).toEqual([failure]);
    expect(await (await server.request(0)).closed).toBe(false);
  });

  test("is a failure as the very first frame", async () => {
    expect(await collect(script)).toEqual([failure]);
  });
});

test("unknown events are ignored", async () => {
  const parts = await collect((wire, received) => {
    wire.event("response.queued", {});
    wire.event("response.output_item.added", { output_index: 9, item: { id: "x", type: "new_thing" } });
    wire.event("response.new_thing.delta", { delta: 7 });
    return answer(wire, received);
  });
  expect(parts.map((part) => part.type)).toEqual(["text", "finish"]);
});

test("a part of an answer in an unknown form is a permanent failure, since the rest would lack it", async () => {
  const parts = await collect((wire, received) => {
    wire.start();
    wire.event("response.output_text.delta", { item_id: "msg_0", output_index: 0, delta: { text: "x" } });
    return answer(wire, received);
  });
  expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "unreadable", retryable: false })]);
});

test("a call without a name is a permanent failure, since it would be lost silently", async () => {
  const parts = await collect((wire) => {
    wire.start();
    const item = { id: "fc_0", type: "function_call", call_id: "call_1", arguments: "{}" };
    wire.event("response.output_item.done", { output_index: 0, item });
    wire.completed();
  });
  expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "unreadable", retryable: false })]);
});

test.each(["added", "done"])("a response that lost a frame is cut when it has a call that is only %s", async (seen) => {
  const parts = await collect((wire) => {
    wire.text("looking");
    wire.raw('data: {"type":"response.output_item.\n\n');
    const item = {
      id: "fc_1",
      type: "function_call",
      status: "completed",
      call_id: "call_1",
      name: "search",
      arguments: "{}",
    };
    wire.event(`response.output_item.${seen}`, { output_index: 1, item });
    wire.completed();
  });
  expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
});

test("an answer in the format of Chat Completions is a permanent failure", async () => {
  const parts = await collect((wire) => {
    wire.frame({ id: "c", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] });
    wire.frame({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    wire.raw("data: [DONE]\n\n");
  });
  expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "unreadable", retryable: false })]);
});

test("calls that the model wrapped into one are split, and answered separately", async () => {
  const tools = ["search", "list"].map((name) => ({ name, description: name, parameters: { type: "object" } }));
  const uses = tools.map(({ name }) => ({ recipient_name: `functions.${name}`, parameters: { of: name } }));
  const parts = await collect(
    (wire) => {
      wire.call({ id: "call_1", name: "parallel", arguments: JSON.stringify({ tool_uses: uses }) });
      wire.completed();
    },
    { tools },
  );
  const calls = callsOf(parts);
  expect(calls.map(({ name, argumentsJson }) => [name, argumentsJson])).toEqual([
    ["search", '{"of":"search"}'],
    ["list", '{"of":"list"}'],
  ]);
  const results = calls.map(({ id, name }) => ({ role: "tool", toolCallId: id, toolName: name, text: name }) as const);
  await collect(answer, { tools, messages: [...request.messages, toMessage(parts), ...results] });
  const { input } = await lastBody();
  for (const { id, name } of calls) {
    expect(input).toContainEqual(expect.objectContaining({ type: "function_call", call_id: id, name }));
    expect(input).toContainEqual({ type: "function_call_output", call_id: id, output: name });
  }
});

test("an effort and options of the caller reach the service, and those that this service sets stay", async () => {
  await collect(answer, { reasoningEffort: "low", providerOptions: { user: "u-1", store: true } }, "gpt-5");
  expect(await lastBody()).toMatchObject({ reasoning: { effort: "low" }, user: "u-1", store: false });
});

describe("settings", () => {
  const tools = [{ name: "zeta", description: "finds", parameters: { type: "object" } }];

  test.each([
    [{ toolChoice: "none" }, { tool_choice: "none" }],
    [{ toolChoice: "required" }, { tool_choice: "required" }],
    [{ toolChoice: { name: "zeta" } }, { tool_choice: { type: "function", name: "zeta" } }],
    [{ parallelToolCalls: false }, { parallel_tool_calls: false }],
    [{ topP: 0.5 }, { top_p: 0.5 }],
    [{ verbosity: "low" }, { text: { verbosity: "low" } }],
    [{ serviceTier: "flex" }, { service_tier: "flex" }],
  ] as const)("%j are sent as %j", async (settings, fields) => {
    await collect(answer, { tools, settings });
    expect(await lastBody()).toMatchObject(fields);
    expect(Object.keys(settings).every((name) => new Set<string>(responsesSettings).has(name))).toBe(true);
  });

  test("that the format does not know are not sent", async () => {
    await collect(answer, {
      settings: { topK: 1, stop: ["x"], seed: 7, frequencyPenalty: 1, presencePenalty: 1 },
    });
    const names = Object.keys(await lastBody()).sort();
    expect(names).toEqual(["input", "max_output_tokens", "model", "store", "stream"]);
  });

  test("of tools are not sent without tools", async () => {
    await collect(answer, { settings: { toolChoice: "none", parallelToolCalls: true } });
    const body = await lastBody();
    expect(body).not.toHaveProperty("tool_choice");
    expect(body).not.toHaveProperty("parallel_tool_calls");
  });

  test("have no top_p for a model that reasons", async () => {
    await collect(answer, { settings: { topP: 0.5, serviceTier: "flex" } }, "gpt-5");
    const body = await lastBody();
    expect(body).not.toHaveProperty("top_p");
    expect(body).toMatchObject({ service_tier: "flex" });
  });

  test("of the text stand beside its format", async () => {
    await collect(answer, { settings: { verbosity: "high" }, responseFormat: { type: "json-object" } });
    expect((await lastBody()).text).toEqual({ format: { type: "json_object" }, verbosity: "high" });
  });
});

describe("options of the caller", () => {
  test("join those of this service within one field", async () => {
    const providerOptions = {
      text: { verbosity: "low", format: { type: "text" } },
      reasoning: { effort: "high", summary: "auto", mode: "pro" },
      include: ["web_search_call.action.sources"],
      max_tool_calls: 3,
    };
    await collect(
      answer,
      { providerOptions, reasoningEffort: "low", responseFormat: { type: "json-object" } },
      "gpt-5",
    );
    expect(await lastBody()).toMatchObject({
      text: { verbosity: "low", format: { type: "json_object" } },
      reasoning: { effort: "low", summary: "auto", mode: "pro" },
      include: ["web_search_call.action.sources", "reasoning.encrypted_content"],
      max_tool_calls: 3,
    });
  });

  test("are sent as they are where this service sets nothing", async () => {
    const providerOptions = { include: ["message.output_text.logprobs"], tools: [{ type: "web_search" }] };
    await collect(answer, { providerOptions });
    expect(await lastBody()).toMatchObject(providerOptions);
  });
});

test.each([
  ["gpt-5", "minimal", { effort: "minimal", summary: "detailed" }],
  ["gpt-5.1", "minimal", { effort: "low", summary: "detailed" }],
  ["gpt-6-luna", "minimal", { effort: "low", summary: "detailed" }],
  ["gpt-5.1", "high", { effort: "high", summary: "detailed" }],
  ["gpt-4o", "high", undefined],
] as const)("%s with the effort %s gets the reasoning %j", async (model, reasoningEffort, reasoning) => {
  await collect(answer, { reasoningEffort }, model);
  expect((await lastBody()).reasoning).toEqual(reasoning);
});

test("images and files of a tool are in its output", async () => {
  const parts = [
    { type: "text", text: "One:" },
    { type: "image", name: undefined, mediaType: "image/png", data: Buffer.from("png") },
    { type: "file", name: undefined, mediaType: "application/pdf", data: Buffer.from("pdf") },
    { type: "file", name: undefined, mediaType: undefined, data: new URL("https://files.example/two.pdf") },
  ] as const;
  const call = { id: "c", name: "read", argumentsJson: "{}" };
  await collect(answer, {
    messages: [
      { role: "assistant", text: "", toolCalls: [call] },
      { role: "tool", toolCallId: "c", toolName: "read", text: "One:", parts },
    ],
  });
  expect((await lastBody()).input).toContainEqual({
    type: "function_call_output",
    call_id: "c",
    output: [
      { type: "input_text", text: "One:" },
      { type: "input_image", image_url: "data:image/png;base64,cG5n", detail: "auto" },
      { type: "input_file", filename: "part-2.pdf", file_data: "data:application/pdf;base64,cGRm" },
      { type: "input_file", file_url: "https://files.example/two.pdf" },
    ],
  });
});

const message = {
  id: "msg_0",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello.", annotations: [] }],
};
const functionCall = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "search",
  arguments: '{"id": 2512292042121000001}',
};

/** Adds events that complete these items, each at the next place. */
function items(...all: readonly object[]): ResponsesScript {
  return (wire) => {
    for (const [output_index, item] of all.entries()) {
      wire.event("response.output_item.done", { output_index, item });
    }
    wire.completed();
  };
}

describe("an answer without pieces", () => {
  const thoughts = { id: "rs", type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] };

  test.each([
    ["the events that complete its items", items(thoughts, message, functionCall)],
    [
      "its last event",
      (wire) => {
        wire.start();
        wire.event("response.completed", { response: { output: [thoughts, message, functionCall], usage: null } });
      },
    ],
  ] satisfies (readonly [string, ResponsesScript])[])("is read from %s", async (_, script) => {
    const parts = await collect(script);
    expect(parts).toMatchObject([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Hello." },
      { type: "tool-call", call: { id: "call_1", argumentsJson: '{"id": 2512292042121000001}' } },
      { type: "finish", reason: "tool-calls" },
    ]);
  });

  test.each([{ output_index: 0, item_id: "other" }, { item_id: "msg_0" }, {}])(
    "does not come twice after pieces of %j",
    async (place) => {
      const begun = await collect((wire, received) => {
        wire.event("response.output_text.delta", { ...place, delta: "Hello" });
        return items(message)(wire, received);
      });
      expect(textOf(begun)).toBe("Hello.");
      const whole = await collect((wire) => {
        wire.event("response.output_text.delta", { ...place, delta: "Hello." });
        wire.event("response.completed", { response: { output: [message], usage: null } });
      });
      expect(textOf(whole)).toBe("Hello.");
    },
  );

  test("does not come twice after pieces of thoughts and text without a place", async () => {
    const parts = await collect((wire) => {
      wire.event("response.reasoning_text.delta", { delta: "hm" });
      wire.event("response.output_text.delta", { delta: "Hello." });
      wire.event("response.completed", { response: { output: [thoughts, message], usage: null } });
    });
    expect(parts.map(({ type }) => type)).toEqual(["reasoning", "text", "finish"]);
  });

  test("may be a refusal", async () => {
    const content = [{ type: "refusal", refusal: "No." }];
    const parts = await collect(items({ ...message, content }));
    expect(parts).toMatchObject([{ type: "finish", reason: "content-filter", detail: "No." }]);
  });
});

test("pieces belong to the item at their place although a gateway changes its id", async () => {
  const parts = await collect((wire) => {
    for (const [output_index, name] of ["search", "list"].entries()) {
      const item = { ...functionCall, name, call_id: `call_${name}`, arguments: "" };
      wire.event("response.output_item.added", { output_index, item });
    }
    for (const [at, delta] of ['{"a":', '{"b":', "1}", "2}"].entries()) {
      const place = { output_index: at % 2, item_id: `x${at}` };
      wire.event("response.function_call_arguments.delta", { ...place, delta });
    }
    wire.completed();
  });
  expect(callsOf(parts).map((call) => call.argumentsJson)).toEqual(['{"a":1}', '{"b":2}']);
});

test("arguments that are an object are kept as they are written", async () => {
  const text = '{"id":2512292042121000001,"r":1.0}';
  const item = `{"type":"function_call","call_id":"call_1","name":"search","arguments":${text}}`;
  const parts = await collect((wire) => {
    wire.raw(`data: {"type":"response.output_item.done","output_index":0,"item":${item}}\n\n`);
    wire.completed();
  });
  expect(callsOf(parts)).toEqual([{ id: "call_1", name: "search", argumentsJson: text }]);
});

test("arguments of calls that the model wrapped into one keep their digits", async () => {
  const text = '{"id": 2512292042121000001}';
  const uses = `{"tool_uses":[{"recipient_name":"functions.search","parameters":${text}}]}`;
  const tools = [{ name: "search", description: "", parameters: {} }];
  const parts = await collect(items({ ...functionCall, name: "parallel", arguments: uses }), { tools });
  expect(callsOf(parts)).toEqual([{ id: "call_1_0", name: "search", argumentsJson: text }]);
});

test.each([
  ["of a tool that was not offered", '{"tool_uses":[{"recipient_name":"functions.drop","parameters":{}}]}'],
  ["without arguments", '{"tool_uses":[{"recipient_name":"functions.search"}]}'],
  ["of nothing", '{"tool_uses":[]}'],
  ["in no JSON", "{"],
])("a wrapper of calls %s stays one call", async (_, text) => {
  const tools = [{ name: "search", description: "", parameters: {} }];
  const parts = await collect(items({ ...functionCall, name: "parallel", arguments: text }), { tools });
  expect(callsOf(parts)).toEqual([{ id: "call_1", name: "parallel", argumentsJson: text }]);
});

describe("a call of a custom tool", () => {
  const custom = { id: "ctc", type: "custom_tool_call", call_id: "call_c", name: "write", input: 'say "x"' };

  test("has its text as input", async () => {
    const parts = await collect(items(message, custom));
    expect(callsOf(parts)).toEqual([{ id: "call_c", name: "write", argumentsJson: '{"input":"say \\"x\\""}' }]);
  });

  test("is one of the provider when the provider goes on with its answer", async () => {
    const parts = await collect(items({ ...custom, input: '{"query":1}' }, message));
    expect(parts).toMatchObject([
      { type: "text" },
      { type: "provider-call", call: { id: "ctc", name: "write", argumentsJson: '{"query":1}' } },
      { type: "finish", reason: "stop", state: undefined },
    ]);
  });
});

describe("a response that its token limit has cut", () => {
  test("gives no call to run, and its arguments never go back", async () => {
    const parts = await collect((wire) => {
      wire.reasoning({ id: "rs_1", summary: [], encrypted: "gAAA" });
      wire.call({ id: "call_1", name: "search", arguments: '{"amount": 10' });
      wire.incomplete("max_output_tokens");
    });
    expect(parts.slice(-2)).toMatchObject([
      { type: "cut-call", id: "call_1", name: "search" },
      { type: "finish", reason: "length" },
    ]);
    const toolCalls = [{ id: "call_1", name: "search", argumentsJson: "{}" }];
    const { state } = toMessage(parts) as Extract<ModelMessage, { role: "assistant" }>;
    expect(state).not.toContain("amount");
    await collect(answer, { system: "", messages: [{ role: "assistant", text: "", toolCalls, state }] });
    expect((await lastBody()).input).toMatchObject([
      { type: "reasoning", id: "rs_1" },
      { type: "function_call", call_id: "call_1", arguments: "{}" },
    ]);
  });

  test("is cut also when its last event says completed", async () => {
    const parts = await collect((wire) => {
      wire.call({ id: "call_1", name: "search", arguments: '{"amount": 10' });
      const incomplete_details = { reason: "max_output_tokens" };
      wire.event("response.completed", { response: { output: [], incomplete_details, usage: null } });
    });
    expect(parts.slice(-2)).toMatchObject([{ type: "cut-call" }, { type: "finish", reason: "length" }]);
  });
});

test("texts and arguments count once, also when a server gives no pieces of them", async () => {
  const parts = await collect((wire) => {
    wire.event("response.output_text.done", { item_id: "msg_1", output_index: 0, content_index: 0, text: "I look." });
    const place = { item_id: functionCall.id, output_index: 1 };
    wire.event("response.output_item.added", { output_index: 1, item: { ...functionCall, arguments: "" } });
    wire.event("response.function_call_arguments.done", { ...place, arguments: '{"q":1.0}' });
    wire.event("response.output_item.done", { output_index: 1, item: { ...functionCall, arguments: "" } });
    const input = { item_id: "ctc_1", output_index: 2 };
    const custom = { id: "ctc_1", type: "custom_tool_call", call_id: "call_2", name: "patch", input: "" };
    wire.event("response.output_item.added", { output_index: 2, item: custom });
    wire.event("response.custom_tool_call_input.delta", { ...input, delta: "a" });
    wire.event("response.custom_tool_call_input.done", { ...input, input: "a" });
    wire.completed();
  });
  expect(textOf(parts)).toBe("I look.");
  expect(callsOf(parts).map(({ argumentsJson }) => argumentsJson)).toEqual(['{"q":1.0}', '{"input":"a"}']);
});

describe("a server that marks the end by [DONE] alone", () => {
  const done = "data: [DONE]\n\n";

  test("has sent a whole response", async () => {
    const parts = await collect((wire) => {
      wire.text("so it is");
      wire.raw(done);
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "other" });
  });

  test("has cut a call that is incomplete", async () => {
    const parts = await collect((wire) => {
      wire.event("response.output_item.added", { output_index: 0, item: { ...functionCall, arguments: "" } });
      wire.raw(done);
    });
    expect(parts).toMatchObject([{ type: "failure", code: "cut" }]);
  });
});

describe("a tool that the provider runs", () => {
  const search = '{"type":"search","query":"Runnel","n":2512292042121000001}';
  const webSearch = `{"id":"ws_1","type":"web_search_call","status":"completed","action":${search}}`;

  /** Adds events that complete these items, as they are written. */
  function rawItems(...all: readonly string[]): ResponsesScript {
    return (wire) => {
      for (const [place, item] of all.entries()) {
        wire.raw(`data: {"type":"response.output_item.done","output_index":${place},"item":${item}}\n\n`);
      }
      wire.completed();
    };
  }

  function providerCallsOf(parts: readonly ModelPart[]): Omit<Extract<ModelPart, { type: "provider-call" }>, "type">[] {
    return parts.flatMap((part) => (part.type === "provider-call" ? [{ call: part.call, outcome: part.outcome }] : []));
  }

  test.each([
    ["web_search", search, webSearch],
    [
      "file_search",
      '{"queries":["a"]}',
      '{"id":"x","type":"file_search_call","queries":["a"],"results":[{"score":1.0}]}',
    ],
    ["code_interpreter", '{"code":"1+1"}', '{"id":"x","type":"code_interpreter_call","code":"1+1","outputs":null}'],
    ["image_generation", "{}", '{"id":"x","type":"image_generation_call","result":null}'],
    [
      "find",
      '{"q": 1.0}',
      '{"id":"x","type":"mcp_call","name":"find","arguments":"{\\"q\\": 1.0}","output":"y","error":null}',
    ],
    [
      "web_search",
      '{"query":"a"}',
      '{"id":"x","call_id":"","type":"web_search_call","arguments":"{\\"query\\":\\"a\\"}"}',
    ],
    ["new_thing", '{"input":"as text"}', '{"id":"x","call_id":"call_x","type":"new_thing_call","input":"as text"}'],
  ])("gives one call of %s with the arguments %s and its item as the result", async (name, argumentsJson, item) => {
    const parts = await collect(rawItems(item));
    const { id } = JSON.parse(item);
    expect(providerCallsOf(parts)).toEqual([{ call: { id, name, argumentsJson }, outcome: { json: item } }]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
    expect(callsOf(parts)).toEqual([]);
  });

  test.each([
    ["its error", '{"id":"x","type":"mcp_call","name":"find","error":"no such host"}', "no such host"],
    ["the message of its error", '{"id":"x","type":"mcp_call","error":{"code":401,"message":"no key"}}', "no key"],
    ["words of ours", '{"id":"x","type":"web_search_call","status":"failed"}', "the provider says that it failed"],
  ])("that failed gives %s", async (_, item, error) => {
    const parts = await collect(rawItems(item));
    expect(providerCallsOf(parts)).toMatchObject([{ outcome: { error } }]);
  });

  test.each([
    ["mcp_list_tools", '{"id":"x","type":"mcp_list_tools","server_label":"s","tools":[{"name":"a","n":1.0}]}'],
    ["mcp_list_tools", '{"id":"x","type":"mcp_list_tools","error":{"code":401,"message":"no key"}}'],
    ["compaction", '{"id":"x","type":"compaction","encrypted_content":"gAAA"}'],
  ])("has no call in an item of the type %s, which is sent back as it came", async (_, item) => {
    const parts = await collect(rawItems(item, JSON.stringify(message)));
    expect(parts.map(({ type }) => type)).toEqual(["text", "finish"]);
    const sent = printJson(
      responsesBody({ provider: "openai", model: "gpt-4o" }, { ...request, messages: [toMessage(parts)] }),
    );
    expect(sent).toContain(`${item},{"role":"assistant","content":"Hello."}`);
  });

  test.each([
    ["alone", [], []],
    ["after a text", [JSON.stringify(message)], ["text"]],
    ["beside calls of ours and of the provider", [webSearch, JSON.stringify(functionCall)], ["provider-call"]],
  ])("that waits for an approval, %s, fails the response for good, with what to set", async (_, others, before) => {
    const asked = '{"id":"x","type":"mcp_approval_request","name":"find","server_label":"s","arguments":"{}"}';
    const parts = await collect(rawItems(...others, asked));
    expect(parts.map(({ type }) => type)).toEqual([...before, "failure"]);
    expect(parts.at(-1)).toMatchObject({
      cause: "invalid_request",
      providerCode: "mcp_approval_request",
      retryable: false,
      message: expect.stringMatching(/MCP tool "find".*set "require_approval": "never"/),
    });
  });

  test("gives its call with the item of its output", async () => {
    const shell = '{"id":"sh_1","type":"shell_call","call_id":"call_1","action":{"commands":["ls"]}}';
    const output = '{"id":"sho_1","type":"shell_call_output","call_id":"call_1","output":[{"stdout":"a"}]}';
    const found = '{"id":"tsc_1","type":"tool_search_call","call_id":null,"arguments":{"paths":["a"]}}';
    const tools = '{"id":"tso_1","type":"tool_search_output","call_id":null,"tools":[]}';
    const parts = await collect(rawItems(shell, found, tools, output));
    expect(providerCallsOf(parts)).toEqual([
      { call: { id: "tsc_1", name: "tool_search", argumentsJson: '{"paths":["a"]}' }, outcome: { json: tools } },
      { call: { id: "sh_1", name: "shell", argumentsJson: '{"commands":["ls"]}' }, outcome: { json: output } },
    ]);
  });

  test("has failed when its result never came", async () => {
    const shell = '{"id":"sh_1","type":"local_shell_call","call_id":"call_1","action":{"command":["ls"]}}';
    const parts = await collect((wire, received) => {
      const item = { id: "ci_1", type: "code_interpreter_call", code: "" };
      wire.event("response.output_item.added", { output_index: 1, item });
      return rawItems(shell)(wire, received);
    });
    expect(providerCallsOf(parts)).toMatchObject([
      { call: { id: "sh_1", name: "local_shell" }, outcome: { error: "the provider sent no result" } },
      { call: { id: "ci_1", name: "code_interpreter" }, outcome: { error: "the provider sent no result" } },
    ]);
  });

  describe("and that calls our functions", () => {
    const program = '{"id":"cm_1","type":"program","call_id":"call_p","code":"await tools.search()","n":1.0}';
    const caller = { type: "program", caller_id: "call_p" };
    const output = '{"id":"cmo_1","type":"program_output","call_id":"call_p","result":"[1.0]"}';
    const call = { id: "cm_1", name: "program", argumentsJson: '{"code":"await tools.search()"}' };
    const result = { role: "tool", toolCallId: "call_1", toolName: "search", text: "1" } as const;

    /** The first message of a turn, whose program waits for the result of its call. */
    async function begin(): Promise<readonly ModelMessage[]> {
      const parts = await collect(rawItems(program, JSON.stringify({ ...functionCall, caller })));
      expect(parts.map(({ type }) => type)).toEqual(["tool-call", "finish"]);
      return [...request.messages, toMessage(parts), result];
    }

    test("gives its call in the response that has its output", async () => {
      const messages = await begin();
      const next = { ...functionCall, id: "fc_2", call_id: "call_2", caller };
      const again = await collect(rawItems(JSON.stringify(next)), { messages });
      expect(again.map(({ type }) => type)).toEqual(["tool-call", "finish"]);

      const later = [...messages, toMessage(again), { ...result, toolCallId: "call_2" }];
      const parts = await collect(rawItems(output, JSON.stringify(message)), { messages: later });
      expect(parts.slice(0, -1)).toEqual([
        { type: "provider-call", call, outcome: { json: output } },
        { type: "text", text: "Hello." },
      ]);
      const { input } = await lastBody();
      expect(input).toMatchObject([
        {},
        {},
        { type: "program", call_id: "call_p" },
        { type: "function_call", call_id: "call_1", caller },
        { type: "function_call_output", call_id: "call_1" },
        { type: "function_call", call_id: "call_2", caller },
        { type: "function_call_output", call_id: "call_2" },
      ]);

      const whole = [...later, toMessage(parts)];
      expect(providerCallsOf(await collect(answer, { messages: whole }))).toEqual([]);
    });

    test("has failed when the turn ends without its output, and belongs to no later turn", async () => {
      const messages = await begin();
      const outcome = { error: "the provider sent no result" };
      expect(providerCallsOf(await collect(answer, { messages }))).toEqual([{ call, outcome }]);
      const later = [...messages, { role: "user", text: "stop" } as const];
      expect(providerCallsOf(await collect(answer, { messages: later }))).toEqual([]);
    });

    test("has failed in a response that is cut or that calls nothing", async () => {
      const alone = await collect(rawItems(program));
      const cut = await collect((wire) => {
        wire.raw(`data: {"type":"response.output_item.done","output_index":0,"item":${program}}\n\n`);
        wire.event("response.output_item.done", { output_index: 1, item: { ...functionCall, caller } });
        wire.incomplete("max_output_tokens");
      });
      const outcome = { error: "the provider sent no result" };
      expect([alone, cut].map(providerCallsOf)).toEqual([[{ call, outcome }], [{ call, outcome }]]);
    });
  });

  test("has a result without its large member", async () => {
    const image = "A".repeat(outcomeBytesMax);
    const item = `{"id":"ig_1","type":"image_generation_call","size": "1x1","result":"${image}","quality":"low"}`;
    const parts = await collect(rawItems(item));
    const json = '{"id":"ig_1","type":"image_generation_call","size": "1x1","artifact_id":"ig_1","quality":"low"}';
    expect(providerCallsOf(parts)).toMatchObject([{ outcome: { json } }]);
    expect(parts.at(-1)).toMatchObject({ state: undefined });
  });

  test("may send an image of many megabytes, which neither the log nor the state holds", async () => {
    const image = "A".repeat(lineBytesMax - 1000);
    const item = `{"id":"ig_1","type":"image_generation_call","n": 1.0,"result":"${image}"}`;
    const parts = await collect(rawItems(item, JSON.stringify(message)));
    const json = '{"id":"ig_1","type":"image_generation_call","n": 1.0,"artifact_id":"ig_1"}';
    expect(parts).toMatchObject([
      { type: "artifact", id: "ig_1", content: undefined },
      { type: "provider-call", outcome: { json } },
      { type: "text", text: "Hello." },
      { type: "finish", reason: "stop", state: undefined },
    ]);
  });

  test("is not sent back where its item was too large to keep", async () => {
    const found = JSON.stringify({ id: "fs_1", type: "file_search_call", results: ["a".repeat(2 * 1024 * 1024)] });
    const parts = await collect(rawItems(found, webSearch));
    expect(providerCallsOf(parts)).toMatchObject([
      { call: { name: "file_search" }, outcome: { json: '{"id":"fs_1","type":"file_search_call"}' } },
      { call: { name: "web_search" } },
    ]);
    expect(JSON.parse((parts.at(-1) as ModelFinish).state ?? "{}").items).toMatchObject([{ id: "ws_1" }]);
  });

  test("arrives before the text after it", async () => {
    const parts = await collect(rawItems(webSearch, JSON.stringify(message)));
    expect(parts.map(({ type }) => type)).toEqual(["provider-call", "text", "finish"]);
  });

  test("is sent back whole and digit for digit, in its place", async () => {
    const parts = await collect(rawItems(webSearch.replace("{", '{"created_by":"x",'), JSON.stringify(message)));
    const sent = printJson(
      responsesBody({ provider: "openai", model: "gpt-4o" }, { ...request, messages: [toMessage(parts)] }),
    );
    expect(sent).toContain(`${webSearch},{"role":"assistant","content":"Hello."}`);
  });

  test.each([
    ["code_interpreter_call", '{"id":"ci_1","type":"code_interpreter_call","code":"1","container_id":"c"}'],
    ["image_generation_call", '{"id":"ig_1","type":"image_generation_call","result":"aGk="}'],
    ["shell_call", '{"id":"sh_1","type":"shell_call","call_id":"call_1","action":{}}'],
    ["new_thing_call", '{"id":"n_1","type":"new_thing_call"}'],
  ])("is not sent back as %s, which the service refuses alone or later", async (type, item) => {
    const parts = await collect(rawItems(webSearch, item, JSON.stringify(message)));
    await collect(answer, { system: "", messages: [toMessage(parts)] });
    const { input } = await lastBody();
    expect(JSON.stringify(input)).not.toContain(type);
    expect(input).toMatchObject([{ type: "web_search_call" }, { role: "assistant" }]);
  });
});

test("annotations of a text are sent back with it", async () => {
  const content = [{ type: "output_text", text: "Hello.", annotations: [{ type: "url_citation", start_index: 1 }] }];
  const parts = await collect((wire, received) => {
    wire.event("response.output_text.delta", { output_index: 0, item_id: "msg_0", delta: "Hello." });
    return items({ ...message, content })(wire, received);
  });
  await collect(answer, { messages: [toMessage(parts)] });
  expect((await lastBody()).input).toContainEqual({ type: "message", role: "assistant", content });
});

test("the namespace of a call is sent back", async () => {
  const parts = await collect(items({ ...functionCall, namespace: "crm", status: "completed" }));
  await collect(answer, { system: "", messages: [toMessage(parts)] });
  const { id: _unused, ...sent } = { ...functionCall, namespace: "crm" };
  expect((await lastBody()).input).toEqual([sent]);
});

test("a state in the form of the former SDK is not read", async () => {
  const state = '{"provider":"openai","kind":"responses","content":[{"type":"text","text":"old"}]}';
  await collect(answer, { system: "", messages: [{ role: "assistant", text: "new", toolCalls: [], state }] });
  expect((await lastBody()).input).toEqual([{ role: "assistant", content: "new" }]);
});
