// The Chat Completions provider over a real socket.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelFinish, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { outcomeBytesMax } from "../../src/agent/models/wire/outcome.ts";
import { headersLimitMs } from "../../src/agent/models/wire/transport.ts";
import { answer, type FakeProvider, hangAfter, type Script, type ToolCallPiece } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openProvider } from "../fixtures.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { callsOf, textOf } from "./parts.ts";
import { request } from "./request.ts";

const apiKey = "sk-test-5f1c";

let clock: ManualClock;
let fake: FakeProvider;
let provider: ModelProvider;

beforeEach(async () => {
  clock = createManualClock({ nowMs: Date.parse("2026-01-01T00:00:00Z") });
  fake = await openProvider();
  provider = createOpenAiCompatible({ name: "openai", baseUrl: fake.baseUrl, apiKey, clock });
});

afterEach(() => provider.close());

function open(overrides: Partial<ModelRequest> = {}, signal = new AbortController().signal, model = "gpt-4o") {
  return provider
    .model(model)
    .stream({ ...request, ...overrides }, signal)
    [Symbol.asyncIterator]();
}

async function collect(overrides: Partial<ModelRequest> = {}, model = "gpt-4o"): Promise<ModelPart[]> {
  return Array.fromAsync(provider.model(model).stream({ ...request, ...overrides }, new AbortController().signal));
}

async function respondAndCollect(script: Script): Promise<ModelPart[]> {
  fake.respond(script);
  return collect();
}

async function lastBody(): Promise<Record<string, unknown>> {
  return (await fake.request(fake.requests.length - 1)).body;
}

describe("the request", () => {
  test("goes to <base url>/chat/completions with the key as bearer token and requests usage", async () => {
    await respondAndCollect(answer("hi"));
    const { method, path, headers, body } = await fake.request(0);
    expect({ method, path }).toEqual({ method: "POST", path: "/v1/chat/completions" });
    expect(headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(body).toEqual({
      model: "gpt-4o",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("keeps the order of messages, calls and tools, with schemas and arguments byte for byte", async () => {
    const parameters = { type: "object", properties: { b: { anyOf: [{ minLength: 2 }, { enum: [1] }] }, a: {} } };
    await collect({
      messages: [
        { role: "user", text: "read" },
        {
          role: "assistant",
          text: "",
          toolCalls: [
            { id: "c2", name: "zeta", argumentsJson: '{"b": 1,"a":2}' },
            { id: "c1", name: "alpha", argumentsJson: "" },
          ],
        },
        { role: "tool", toolCallId: "c2", toolName: "zeta", text: "two" },
        { role: "tool", toolCallId: "c1", toolName: "alpha", text: "Error: no" },
      ],
      tools: [
        { name: "zeta", description: "last first", parameters },
        { name: "alpha", description: "", parameters: {} },
      ],
    });
    const body = await lastBody();
    expect(body.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "read" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c2", type: "function", function: { name: "zeta", arguments: '{"b": 1,"a":2}' } },
          { id: "c1", type: "function", function: { name: "alpha", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "c2", content: "two" },
      { role: "tool", tool_call_id: "c1", content: "Error: no" },
    ]);
    expect(JSON.stringify(body.tools)).toBe(
      JSON.stringify([
        { type: "function", function: { name: "zeta", description: "last first", parameters } },
        { type: "function", function: { name: "alpha", description: "", parameters: { type: "object" } } },
      ]),
    );
  });

  test.each(["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-6"])(
    "of %s has max_completion_tokens and no temperature",
    async (model) => {
      await collect({ temperature: 0.5 }, model);
      const body = await lastBody();
      expect(body).toMatchObject({ max_completion_tokens: 100 });
      expect(body).not.toHaveProperty("max_tokens");
      expect(body).not.toHaveProperty("temperature");
    },
  );

  test.each(["gpt-4o", "gpt-50", "o10", "chatgpt-4o-latest", "gpt-5-chat-latest"])(
    "of %s has max_tokens and temperature",
    async (model) => {
      await collect({ temperature: 0.5 }, model);
      expect(await lastBody()).toMatchObject({ max_tokens: 100, temperature: 0.5 });
    },
  );
});

describe("ids of calls", () => {
  const ids = ["functions.q:0", "call_1", "abcDEF123", "functions.q:0"];
  const messages = ids.flatMap((id): ModelRequest["messages"] => [
    { role: "assistant", text: "", toolCalls: [{ id, name: "q", argumentsJson: "{}" }] },
    { role: "tool", toolCallId: id, toolName: "q", text: "done" },
  ]);

  async function idsFor(model: string): Promise<readonly (readonly unknown[])[]> {
    fake.respond(answer("hi"));
    await collect({ messages: [...request.messages, ...messages] }, model);
    const { body } = await fake.request(fake.requests.length - 1);
    const made = body.messages.flatMap(({ tool_calls: calls }) => (calls as { id: string }[] | undefined) ?? []);
    return [made.map(({ id }) => id), body.messages.flatMap(({ tool_call_id: id }) => id ?? [])];
  }

  test("of other providers have Mistral's form for its models, the same in each request", async () => {
    for (const model of ["mistral-large-latest", "mistralai/Mixtral-8x7B-Instruct-v0.1", "open-mistral-nemo"]) {
      const [made = [], answered] = await idsFor(model);
      expect(made.every((id) => /^[a-zA-Z0-9]{9}$/.test(String(id)))).toBe(true);
      expect(new Set(made).size).toBe(ids.length);
      expect(made[2]).toBe("abcDEF123");
      expect(answered).toEqual(made);
      expect(await idsFor(model)).toEqual([made, answered]);
    }
  });

  test("stay as they are for all other models", async () => {
    expect(await idsFor("gpt-4o")).toEqual([ids, ids]);
  });
});

describe("the response", () => {
  test("reports usage with the cached and reasoning share", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.text("x");
      wire.finish("stop");
      wire.usage({
        prompt_tokens: 90,
        completion_tokens: 10,
        total_tokens: 100,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 7 },
      });
      wire.done();
    });
    const usage = { promptTokens: 90, completionTokens: 10, totalTokens: 100, cachedTokens: 64, reasoningTokens: 7 };
    expect(parts.slice(1)).toEqual([
      { type: "usage", usage },
      { type: "finish", reason: "stop", usage },
    ]);
  });

  test("leaves usage undefined that the provider did not send", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.finish("stop");
      wire.usage({ prompt_tokens: 3 });
    });
    expect(parts.at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      usage: {
        promptTokens: 3,
        completionTokens: undefined,
        totalTokens: undefined,
        cachedTokens: undefined,
        reasoningTokens: undefined,
      },
    });
  });

  test("assembles tool calls by index, however their pieces were interleaved", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.toolCalls({ index: 1, id: "b", name: "beta", arguments: '{"x"' });
      wire.toolCalls({ index: 0, id: "a", name: "alpha", arguments: "{" });
      wire.toolCalls({ index: 0, arguments: "}" }, { index: 1, arguments: ":" });
      wire.toolCalls({ index: 1, arguments: "1}" });
      wire.done("tool_calls");
    });
    const pieces = parts.flatMap((part) => (part.type === "call-piece" ? [part.text] : []));
    expect(pieces).toEqual(['{"x"', "{", "}", ":", "1}"]);
    expect(parts.slice(pieces.length)).toEqual([
      { type: "tool-call", call: { id: "a", name: "alpha", argumentsJson: "{}" } },
      { type: "tool-call", call: { id: "b", name: "beta", argumentsJson: '{"x":1}' } },
      { type: "finish", reason: "tool-calls", usage: undefined },
    ]);
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["function_call", "tool-calls"],
    ["eos", "other"],
  ])("maps finish reason %s to %s", async (wireReason, reason) => {
    const parts = await respondAndCollect((wire) => wire.finish(wireReason));
    expect(parts).toEqual([{ type: "finish", reason, usage: undefined }]);
  });

  test.each(["error", "insufficient_system_resource", "network_error"])(
    "treats finish reason %s as a retryable failure",
    async (word) => {
      const parts = await respondAndCollect((wire) => {
        wire.toolCalls({ index: 0, id: "a", name: "alpha", arguments: "{}" });
        wire.finish(word);
      });
      expect(parts).toEqual([
        { type: "call-piece", text: "{}" },
        expect.objectContaining({ code: "finish", retryable: true, message: expect.stringContaining(`"${word}"`) }),
      ]);
    },
  );

  test("reports a refusal with the model's words, and not as text", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.delta({ role: "assistant", content: "", refusal: null });
      wire.delta({ refusal: "I cannot" });
      wire.delta({ refusal: " do that." });
      wire.done("stop");
    });
    expect(parts).toEqual([
      { type: "finish", reason: "content-filter", detail: "I cannot do that.", usage: undefined, state: undefined },
    ]);
  });

  test("is a whole refusal after the mark of the end, also without a finish reason", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.delta({ refusal: "No." });
      wire.done();
    });
    expect(parts).toEqual([
      { type: "finish", reason: "content-filter", detail: "No.", usage: undefined, state: undefined },
    ]);
  });

  test.each(["content_filter", "sensitive"])("is a refusal by the finish reason %s", async (word) => {
    const parts = await respondAndCollect((wire) => wire.finish(word));
    expect(parts).toMatchObject([{ type: "finish", reason: "content-filter", detail: word }]);
  });

  test("keeps the text before a refusal, and drops the calls of such a response", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.text("Well. ");
      wire.toolCalls({ index: 0, id: "a", name: "alpha", arguments: "{}" });
      wire.delta({ refusal: "No." }, "stop");
    });
    expect(parts).toEqual([
      { type: "text", text: "Well. " },
      { type: "call-piece", text: "{}" },
      { type: "finish", reason: "content-filter", detail: "No.", usage: undefined, state: undefined },
    ]);
  });

  test.each(["stop", "eos"])(
    "finishes with tool-calls for its tools although the server sent %s",
    async (wireReason) => {
      const parts = await respondAndCollect((wire) => {
        wire.toolCalls({ index: 0, id: "a", name: "alpha", arguments: "{}" });
        wire.finish(wireReason);
      });
      expect(parts.map((part) => part.type)).toEqual(["call-piece", "tool-call", "finish"]);
      expect(parts.at(-1)).toMatchObject({ reason: "tool-calls" });
    },
  );
});

describe("a server that only resembles OpenAI", () => {
  test("may send usage with every piece; the last one counts", async () => {
    const parts = await respondAndCollect((wire) => {
      for (const [tokens, content] of ["a", "b"].entries()) {
        const usage = { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens };
        wire.frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }], usage });
      }
      wire.finish("stop");
    });
    const counts = parts.flatMap((part) => (part.type === "usage" ? [part.usage.completionTokens] : []));
    expect(counts.at(-1)).toBe(1);
    expect(parts.at(-1)).toMatchObject({ type: "finish", usage: { promptTokens: 5, completionTokens: 1 } });
  });

  test("may send usage in a frame without choices", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.delta({ content: "a" }, "stop");
      wire.frame({ usage: { prompt_tokens: 5, prompt_cache_hit_tokens: 4 } });
    });
    expect(parts.at(-1)).toMatchObject({ type: "finish", usage: { promptTokens: 5, cachedTokens: 4 } });
  });

  test("may send usage as Groq does, which counts without the standard one alone", async () => {
    const own = { x_groq: { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } } };
    const alone = await respondAndCollect((wire) => {
      wire.delta({ content: "a" });
      wire.frame({ choices: [{ delta: {}, finish_reason: "stop" }], ...own });
    });
    expect(alone.at(-1)).toMatchObject({ type: "finish", usage: { promptTokens: 5, totalTokens: 7 } });
    const both = await respondAndCollect((wire) => {
      wire.usage({ prompt_tokens: 6, completion_tokens: 3 });
      wire.frame({ choices: [{ delta: {}, finish_reason: "stop" }], ...own });
    });
    expect(both.at(-1)).toMatchObject({ usage: { promptTokens: 6, completionTokens: 3, totalTokens: undefined } });
  });

  test.each(["reasoning_content", "reasoning"])("may send its reasoning as %s", async (field) => {
    const parts = await respondAndCollect((wire) => {
      wire.delta({ role: "assistant", content: null, [field]: "hm" });
      wire.delta({ content: "", [field]: ", well" });
      wire.delta({ content: "42", [field]: null });
      wire.finish("stop");
    });
    expect(parts.slice(0, -1)).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "reasoning", text: ", well" },
      { type: "text", text: "42" },
    ]);
  });

  test.each([
    ["no index", ({ index: _left, ...rest }: ToolCallPiece): ToolCallPiece => rest],
    ["an empty id", (piece: ToolCallPiece): ToolCallPiece => ({ ...piece, id: "" })],
  ])("may send calls with %s", async (what, strip) => {
    const parts = await respondAndCollect((wire) => {
      wire.toolCalls(strip({ index: 0, id: "a", name: "alpha", arguments: '{"x":1}' }));
      wire.toolCalls(strip({ index: 1, id: "b", name: "beta", arguments: "{}" }));
      wire.finish("tool_calls");
    });
    const calls = callsOf(parts);
    expect(calls.map(({ name, argumentsJson }) => [name, argumentsJson])).toEqual([
      ["alpha", '{"x":1}'],
      ["beta", "{}"],
    ]);
    // The loop makes ids that no other call of the conversation has.
    expect(calls.map(({ id }) => id)).toEqual(what === "an empty id" ? ["", ""] : ["a", "b"]);
  });

  test("may have its reasoning in details alone, which count only in a delta without other reasoning", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.delta({ reasoning: "One", reasoning_details: [{ type: "reasoning.text", text: "One" }] });
      wire.delta({
        content: "",
        reasoning: null,
        reasoning_details: [
          { type: "reasoning.text", text: ", two" },
          { type: "reasoning.summary", summary: ", three" },
          { type: "reasoning.encrypted", data: "gAAA" },
        ],
      });
      wire.delta({ content: "42", reasoning_details: [{ type: "reasoning.text", text: "", signature: "s" }] });
      wire.finish("stop");
    });
    expect(parts.slice(0, -1)).toEqual([
      { type: "reasoning", text: "One" },
      { type: "reasoning", text: ", two, three" },
      { type: "text", text: "42" },
    ]);
  });

  describe("and runs tools itself", () => {
    /** A frame with a delta or a message as it is written. */
    function raw(text: string, place = "delta"): string {
      return `data: {"choices":[{"${place}":${text}}]}\n\n`;
    }
    const begun = String.raw`{"index":0,"type":"search","arguments":"{\"q\": 1.0}","search_results":{"results":[]}}`;
    const done = begun
      .replace('"search_results"', '"output":"Title: a","search_results"')
      .replace("[]", '[{"score":1.0}]');
    const call = { id: "", name: "search", argumentsJson: '{"q": 1.0}' };

    test("gives each call once, with its output digit for digit and in its place", async () => {
      const parts = await respondAndCollect((wire) => {
        wire.raw(raw(`{"executed_tools":[${begun}]}`), raw(`{"executed_tools":[${done}]}`));
        wire.raw(raw(`{"executed_tools":[${done}]}`), raw('{"executed_tools":null,"content":"so"}'));
        wire.finish("stop");
      });
      expect(parts.slice(0, -1)).toEqual([
        { type: "provider-call", call, outcome: { json: done } },
        { type: "text", text: "so" },
      ]);
      expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", state: undefined });
    });

    test("gives those of a whole message", async () => {
      const parts = await respondAndCollect((wire) => {
        const python = '{"index":1,"type":"python","arguments":{"code":"1","n":1.0},"output":""}';
        const other = '{"index":2,"type":"","name":"visit","arguments":"https://a.example","output":"b"}';
        wire.raw(raw(`{"executed_tools":[${done},${python},${other}],"content":"so"}`, "message"));
        wire.finish("stop");
      });
      const calls = parts.flatMap((part) => (part.type === "provider-call" ? [part.call] : []));
      expect(calls).toEqual([
        call,
        { id: "", name: "python", argumentsJson: '{"code":"1","n":1.0}' },
        { id: "", name: "visit", argumentsJson: '{"arguments":"https://a.example"}' },
      ]);
    });

    test("has failed where the output never came, in a whole response alone", async () => {
      const parts = await respondAndCollect((wire) => {
        wire.raw(raw(`{"executed_tools":[${begun}]}`));
        wire.finish("stop");
      });
      const outcome = { error: "the provider sent no result" };
      expect(parts).toMatchObject([{ type: "provider-call", call, outcome }, { type: "finish" }]);
      const cut = await respondAndCollect((wire) => wire.raw(raw(`{"executed_tools":[${begun}]}`)));
      expect(cut).toMatchObject([{ type: "failure", code: "cut" }]);
    });

    test("has a result without its large member", async () => {
      const large = done.replace("Title: a", "a".repeat(outcomeBytesMax));
      const parts = await respondAndCollect((wire) => wire.raw(raw(`{"executed_tools":[${large}]}`)));
      const { output: _left, ...rest } = JSON.parse(done);
      expect(parts[0]).toMatchObject({
        outcome: { json: JSON.stringify(rest).replaceAll('"score":1', '"score":1.0') },
      });
    });
  });

  describe("and thinks before it calls", () => {
    async function callAndGiveBack(field: string, isCalled: boolean): Promise<unknown> {
      const parts = await respondAndCollect((wire) => {
        wire.delta({ [field]: "hm, " });
        wire.delta({ [field]: "well" });
        wire.text("looking");
        if (isCalled) {
          wire.toolCalls({ index: 0, id: "a", name: "alpha", arguments: '{"x": 1}' });
        }
        wire.finish("stop");
      });
      const { state } = parts.at(-1) as ModelFinish;
      const toolCalls = callsOf(parts);
      const answered = { role: "tool", toolCallId: "a", toolName: "alpha", text: "1" } as const;
      const said = { role: "assistant", text: "looking", toolCalls, state } as const;
      await collect({ messages: [...request.messages, said, ...(isCalled ? [answered] : [])] });
      return ((await lastBody()).messages as unknown[])[2];
    }
    const call = { id: "a", type: "function", function: { name: "alpha", arguments: '{"x": 1}' } };

    test("gets its thoughts back if it calls them reasoning_content, since it would refuse the request otherwise", async () => {
      expect(await callAndGiveBack("reasoning_content", true)).toEqual({
        role: "assistant",
        content: "looking",
        reasoning_content: "hm, well",
        tool_calls: [call],
      });
    });

    test("does not get them back under a name that it may not know", async () => {
      expect(await callAndGiveBack("reasoning", true)).toEqual({
        role: "assistant",
        content: "looking",
        tool_calls: [call],
      });
    });

    test("does not get them back when they led to no call", async () => {
      expect(await callAndGiveBack("reasoning_content", false)).toEqual({ role: "assistant", content: "looking" });
    });
  });
});

describe("a broken stream", () => {
  test("never counts as success when the unreadable line was its end", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.text("fine");
      wire.raw('data: {"choices":[{"delta":{},"finish_reason":"st\n\n');
      wire.done();
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", retryable: true });
  });

  test("ignores frames without a choice, such as pings", async () => {
    const parts = await respondAndCollect((wire, received) => {
      wire.frame({ type: "ping" });
      return answer("ok")(wire, received);
    });
    expect(parts.map((part) => part.type)).toEqual(["text", "finish"]);
  });

  test("fails when a readable frame has a form that would lose content", async () => {
    const parts = await respondAndCollect((wire, received) => {
      wire.frame({ choices: [{ delta: { content: 7 } }] });
      return answer("rest")(wire, received);
    });
    expect(parts).toEqual([expect.objectContaining({ type: "failure", retryable: false })]);
  });

  test("fails when a tool call has no name", async () => {
    const parts = await respondAndCollect((wire) => {
      wire.toolCalls({ index: 0, id: "a", arguments: "{}" });
      wire.finish("tool_calls");
    });
    expect(parts.slice(1)).toEqual([expect.objectContaining({ type: "failure", retryable: false })]);
  });

  test.each([
    [{ message: "overloaded", type: "server_error" }, "stream_error", "API error in stream: overloaded", true],
    [{ message: "too long", type: "invalid_request_error" }, "stream_error", "API error in stream: too long", false],
    [{ message: "upstream", code: 502 }, "502", "API error in stream: upstream", true],
    [{ message: "bad", code: 400 }, "400", "API error in stream: bad", false],
    [{ message: "busy", code: "" }, "stream_error", "API error in stream: busy", true],
    ["out of memory", "stream_error", "API error in stream: out of memory", true],
  ])("with the error object %j is a failure", async (error, code, message, retryable) => {
    const parts = await respondAndCollect((wire) => {
      wire.text("half");
      wire.frame({ error });
      wire.done();
    });
    expect(parts).toEqual([
      { type: "text", text: "half" },
      expect.objectContaining({ type: "failure", code, message, retryable, retryAfterMs: undefined }),
    ]);
  });

  test("whose error is next to choices is a failure, and so is finish reason error", async () => {
    const beside = await respondAndCollect((wire) =>
      wire.frame({ error: { message: "late" }, choices: [{ delta: { content: "" }, finish_reason: "error" }] }),
    );
    const reason = await respondAndCollect((wire) => wire.finish("error"));
    expect(beside).toEqual([expect.objectContaining({ type: "failure", message: "API error in stream: late" })]);
    expect(reason).toEqual([expect.objectContaining({ type: "failure", retryable: true })]);
  });
});

describe("a refused request", () => {
  test("has the response body in its message", async () => {
    const parts = await respondAndCollect(fail(404, '{"error":{"message":"no"}}\n'));
    expect(parts).toEqual([
      expect.objectContaining({
        type: "failure",
        cause: "not_found",
        code: "404",
        message: 'API error (status 404): {"error":{"message":"no"}}',
        retryable: false,
        retryAfterMs: undefined,
      }),
    ]);
  });

  test("with a redirect is not followed", async () => {
    const parts = await respondAndCollect(fail(302, "moved", { location: `${fake.baseUrl}/chat/completions` }));
    expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "302", retryable: false })]);
    expect(fake.requests).toHaveLength(1);
  });

  test("shows at most 2000 characters of the body", async () => {
    const [part] = await respondAndCollect(fail(500, "€".repeat(5000)));
    expect(part).toMatchObject({ message: `API error (status 500): ${"€".repeat(2000)}` });
  });

  test.each([
    ["7", 7000],
    ["0.5", 500],
    ["Thu, 01 Jan 2026 00:01:30 GMT", 90_000],
    ["Wed, 31 Dec 2025 23:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["9".repeat(400), 604_800_000],
    ["Fri, 01 Jan 9999 00:00:00 GMT", 604_800_000],
  ])("reads Retry-After %j as %s ms", async (value, retryAfterMs) => {
    const [part] = await respondAndCollect(fail(429, "slow down", { "retry-after": value }));
    expect(part).toMatchObject({ type: "failure", retryable: true, retryAfterMs });
  });

  test.each([
    [{ "retry-after": "1", "retry-after-ms": "250" }, 250],
    [{ "retry-after": "1", "retry-after-ms": "soon" }, 1_000],
  ])("reads the finer of two waits, %j, as %s ms", async (headers, retryAfterMs) => {
    const [part] = await respondAndCollect(fail(429, "slow down", headers));
    expect(part).toMatchObject({ type: "failure", retryAfterMs });
  });

  test("has no timeout on the stream itself after the headers have arrived", async () => {
    const gate = Promise.withResolvers<void>();
    fake.respond(async (wire) => {
      wire.text("first");
      await gate.promise;
      wire.finish("stop");
    });
    const parts = open();
    await parts.next();
    clock.advance(headersLimitMs * 10);
    gate.resolve();
    expect((await parts.next()).value).toMatchObject({ type: "finish" });
  });
});

describe("a caller that takes parts without a pull", () => {
  /** Enough for what was written to arrive. */
  async function nextTurns(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Sends the pieces one by one, each after the caller has the piece before it. */
  function sayInSteps(pieces: readonly string[], arrived: () => string): Script {
    return async (wire) => {
      let sent = "";
      for (const piece of pieces) {
        wire.text(piece);
        sent += piece;
        await until(`${sent} to arrive`, () => arrived() === sent);
      }
      wire.finish("stop");
      wire.usage({ prompt_tokens: 1, completion_tokens: 2 });
      wire.done();
    };
  }

  test.each([
    ["every part", () => true, { pulled: "a", taken: "bcdef" }],
    ["no part", () => false, { pulled: "abcdef", taken: "" }],
    ["every other part", (text: string) => text < "c" || text > "d", { pulled: "acd", taken: "bef" }],
  ])("gets all parts once and in order when it takes %s", async (_, takes, expected) => {
    let arrived = "";
    const shares = { pulled: "", taken: "" };
    fake.respond(sayInSteps([..."abcdef"], () => arrived));
    const takePart = (part: ModelPart): boolean => {
      const isTaken = part.type === "text" && takes(part.text);
      if (isTaken) {
        shares.taken += part.text;
        arrived += part.text;
      }
      return isTaken;
    };
    let last: ModelPart | undefined;
    for await (const part of { [Symbol.asyncIterator]: () => open({ takePart }) }) {
      const text = textOf([part]);
      shares.pulled += text;
      arrived += text;
      last = part;
    }
    expect(arrived).toBe("abcdef");
    expect(shares).toEqual(expected);
    expect(last).toMatchObject({ type: "finish", usage: { completionTokens: 2 } });
  });

  test("pulls the first text, also when it waited for it", async () => {
    const asked = Promise.withResolvers<void>();
    fake.respond(async (wire) => {
      wire.raw(": the headers\n\n");
      await asked.promise;
      await nextTurns();
      wire.text("a");
      wire.finish("stop");
    });
    const parts = open({ takePart: () => true });
    const first = parts.next();
    asked.resolve();
    expect(await first).toMatchObject({ value: { type: "text", text: "a" } });
    expect(await parts.next()).toMatchObject({ value: { type: "finish" } });
  });

  test("gets nothing while it holds a part, and everything after it", async () => {
    const [hasFirst, hasSecond, isWritten] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    fake.respond(async (wire) => {
      wire.text("a");
      await hasFirst?.promise;
      wire.text("b");
      await hasSecond?.promise;
      wire.text("c");
      wire.done("stop");
      // The end of the response comes alone, and nothing is read then.
      await nextTurns();
      wire.end();
      isWritten?.resolve();
    });
    const taken: string[] = [];
    const parts = open({
      takePart: (part) => {
        const text = textOf([part]);
        return text !== "b" && taken.push(text) > 0;
      },
    });
    await parts.next();
    hasFirst?.resolve();
    expect(await parts.next()).toMatchObject({ value: { type: "text", text: "b" } });
    hasSecond?.resolve();
    await isWritten?.promise;
    // Everything arrives meanwhile.
    await nextTurns();
    expect(taken).toEqual([]);
    expect(await parts.next()).toMatchObject({ value: { type: "text", text: "c" } });
    // The clock of this test stands still: the end of the response is noticed without a time limit.
    expect(await parts.next()).toMatchObject({ value: { type: "finish" } });
  });

  test("pulls the failure when the connection breaks", async () => {
    let arrived = "";
    fake.respond(async (wire, received) => {
      const open = { ...wire, finish: () => {}, usage: () => {}, done: () => {} };
      await sayInSteps(["a", "b"], () => arrived)(open, received);
      await wire.cut();
    });
    const takePart = (part: ModelPart): boolean => {
      arrived += textOf([part]);
      return true;
    };
    const pulled: ModelPart[] = [];
    for await (const part of { [Symbol.asyncIterator]: () => open({ takePart }) }) {
      arrived += textOf([part]);
      pulled.push(part);
    }
    expect(arrived).toBe("ab");
    expect(pulled).toMatchObject([
      { type: "text", text: "a" },
      { type: "failure", code: "cut", retryable: true },
    ]);
  });
});

describe("an abort", () => {
  test("before the start sends nothing", async () => {
    expect(await open({}, AbortSignal.abort()).next()).toEqual({ done: true, value: undefined });
    expect(fake.connections).toBe(0);
  });

  test("holds back the parts that had already arrived", async () => {
    fake.respond((wire) => {
      wire.text("one");
      wire.text("two");
      wire.finish("stop");
    });
    const abort = new AbortController();
    const parts = open({}, abort.signal);
    await parts.next();
    abort.abort();
    expect((await parts.next()).done).toBe(true);
  });
});

test("closing the provider ends a response under way as a failure", async () => {
  fake.respond(hangAfter("first"));
  const parts = open();
  await parts.next();
  const next = parts.next();
  provider.close();
  expect((await next).value).toMatchObject({ type: "failure", retryable: true });
});

test.each(["", "api.openai.com/v1", "ftp://example.com"])("the base URL %j is refused with a suggestion", (baseUrl) => {
  expect(() => createOpenAiCompatible({ name: "openai", baseUrl, apiKey, clock })).toThrow(
    expect.objectContaining({
      reason: "CONFIG_INVALID",
      message: expect.stringContaining("give an http or https URL"),
    }),
  );
});
