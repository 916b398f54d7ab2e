// Behaviour of the Responses provider alone, over a real socket.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  ModelFinish,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelToolCall,
} from "../../src/agent/models/model.ts";
import { createOpenAiResponses } from "../../src/agent/models/openai-responses/provider.ts";
import type { ModelProvider } from "../../src/agent/models/route.ts";
import { onResponses, type ResponsesScript } from "../fakes/responses-provider.ts";
import { splitBytes, startWireServer, type WireServer } from "../fakes/wire-server.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
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
  server = await startWireServer();
  provider = createOpenAiResponses({ name: "openai", baseUrl: `${server.origin}/v1`, apiKey, clock });
});

afterEach(async () => {
  provider.close();
  await server.close();
});

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
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    toolCalls: callsOf(parts),
    state: finish.state,
  };
}

function callsOf(parts: readonly ModelPart[]): ModelToolCall[] {
  return parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
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

  test("tolerates a trailing slash and a path in the base URL", async () => {
    const baseUrl = `${server.origin}/openai/v1/`;
    const slashed = createOpenAiResponses({ name: "openai", baseUrl, apiKey, clock });
    server.respond(onResponses(answer));
    await Array.fromAsync(slashed.model("gpt-4o").stream(request, new AbortController().signal));
    slashed.close();
    expect((await server.request(0)).path).toBe("/openai/v1/responses");
  });

  test("carries no Authorization header without a key", async () => {
    const keyless = createOpenAiResponses({ name: "local", baseUrl: `${server.origin}/v1`, apiKey: "", clock });
    server.respond(onResponses(answer));
    const parts = await Array.fromAsync(keyless.model("gpt-oss").stream(request, new AbortController().signal));
    keyless.close();
    expect(parts.at(-1)).toMatchObject({ type: "finish" });
    const { headers } = await server.request(0);
    expect(headers.authorization).toBeUndefined();
    expect(headers["content-type"]).toBe("application/json");
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

describe("before the first piece of an answer", () => {
  test("a cut is a retryable failure", async () => {
    const parts = await collect((wire) => {
      wire.start();
      return wire.cut();
    });
    expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "cut", retryable: true })]);
  });

  test("an end is a retryable failure", async () => {
    const parts = await collect((wire) => wire.start());
    expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "cut", retryable: true })]);
  });

  test.each(["response.created", "nothing"])(
    "an abort after %s ends the stream and closes the socket",
    async (sent) => {
      const stop = new AbortController();
      server.respond(
        onResponses((wire) => {
          if (sent === "nothing") {
            wire.raw(": here\n\n");
          } else {
            wire.event(sent, { response: { id: "resp_1", created_at: 1, model: "gpt-4o" } });
          }
          return wire.hang();
        }),
      );
      const parts = Array.fromAsync(provider.model("gpt-4o").stream(request, stop.signal));
      const received = await server.request(0);
      stop.abort();
      expect(await parts).toEqual([]);
      expect(await received.closed).toBe(false);
    },
  );
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

test("a response is the same when every byte arrives separately, also within a character", async () => {
  const frames = ["für ", "日本", "🚀"].map((delta) => ({ type: "response.output_text.delta", item_id: "m", delta }));
  const all = [...frames, { type: "response.completed", response: { usage: null } }];
  const text = all.map((frame) => `event: ${frame.type}\r\ndata: ${JSON.stringify(frame)}\r\n\r\n`).join("");
  const parts = await collect((wire) => wire.raw(...splitBytes(text)));
  expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")).toBe("für 日本🚀");
  expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
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
