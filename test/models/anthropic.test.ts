// Behaviour of Anthropic Messages alone, over a real socket.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAnthropic } from "../../src/agent/models/anthropic/provider.ts";
import type { ModelMessage, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import type { ModelProvider } from "../../src/agent/models/route.ts";
import { lineBytesMax } from "../../src/agent/models/wire/bounds.ts";
import { answer, onMessages, type Script, startUsage } from "../fakes/anthropic-provider.ts";
import { splitBytes, startWireServer, type WireServer } from "../fakes/wire-server.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { request } from "./request.ts";

const apiKey = "sk-ant-test-5f1c";
const cached = { cache_control: { type: "ephemeral" } };

let server: WireServer;
let provider: ModelProvider;

beforeEach(async () => {
  server = await startWireServer(() => onMessages(answer("ok")));
  provider = connect(`${server.origin}/v1`);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  provider.close();
  await server.close();
});

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

/** The body of a request with these properties. */
async function send(overrides: Partial<ModelRequest>, model?: string): Promise<Record<string, unknown>> {
  await Array.fromAsync(stream(overrides, model));
  return (await server.request(server.requests.length - 1)).body;
}

function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
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

  test.each(["/v1/", "/proxy/anthropic/v1", "/proxy/anthropic/v1//"])(
    "resolves its path from base URL …%s",
    async (path) => {
      const elsewhere = connect(`${server.origin}${path}`);
      await Array.fromAsync(elsewhere.model("claude-x").stream(request, new AbortController().signal));
      elsewhere.close();
      expect((await server.request(0)).path).toBe(`${path.replace(/\/+$/, "")}/messages`);
    },
  );

  test("carries no key when none is set, with any environment", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-ant-of-another-program");
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "token-of-another-program");
    const keyless = connect(`${server.origin}/v1`, "");
    await Array.fromAsync(keyless.model("claude-x").stream(request, new AbortController().signal));
    keyless.close();
    const { headers } = await server.request(0);
    expect(headers).not.toHaveProperty("x-api-key");
    expect(headers).not.toHaveProperty("authorization");
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
    expect(usages).toEqual([
      { ...given, promptTokens: 11, completionTokens: 1, cachedTokens: 5 },
      { ...given, promptTokens: 11, completionTokens: 40, cachedTokens: 5, reasoningTokens: 30 },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", usage: usages[1] });
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
      wire.stop(word);
      wire.done();
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
    const parts = await collect((wire) => {
      wire.start();
      wire.text("first");
      wire.toolUse("toolu_b", "beta", '{"x"', ": 1", "}");
      wire.toolUse("toolu_a", "alpha");
      wire.stop("tool_use");
      wire.done();
    });
    expect(parts.filter(({ type }) => ["text", "tool-call", "finish"].includes(type))).toEqual([
      { type: "text", text: "first" },
      { type: "tool-call", call: { id: "toolu_b", name: "beta", argumentsJson: '{"x": 1}' } },
      { type: "tool-call", call: { id: "toolu_a", name: "alpha", argumentsJson: "{}" } },
      expect.objectContaining({ type: "finish", reason: "tool-calls", state: undefined }),
    ]);
  });

  test("is the same when every byte arrives separately, also within a character", async () => {
    const frames = [
      {
        type: "message_start",
        message: { id: "m", type: "message", role: "assistant", content: [], usage: startUsage },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "für 日本 🚀" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ];
    const bytes = frames.map((frame) => `event: ${frame.type}\r\ndata: ${JSON.stringify(frame)}\r\n\r\n`).join("");
    const parts = await collect((wire) => wire.raw(...splitBytes(`: hello\r\n\r\n${bytes}`)));
    expect(textOf(parts)).toBe("für 日本 🚀");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
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
      wire.stop("end_turn");
      wire.done();
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
    const parts = await collect((wire) => {
      wire.start();
      wire.open({ type: "text", text: "" });
      wire.delta(delta);
      wire.close();
      wire.stop("end_turn");
      wire.done();
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

describe("thoughts", () => {
  const think: Script = (wire) => {
    wire.start();
    wire.thinking("c2lnbmVk/+==", "I should ", "search.");
    wire.redactedThinking("b3BhcXVl");
    wire.thinking("b21pdHRlZA==");
    wire.text("\n\n");
    wire.text("Let me look.");
    wire.toolUse("toolu_a", "search", '{"q": "x"}');
    wire.stop("tool_use");
    wire.done();
  };
  const calls = [{ id: "toolu_a", name: "search", argumentsJson: '{"q": "x"}' }];
  const result = { role: "tool", toolCallId: "toolu_a", toolName: "search", text: "found" } as const;

  async function assistantAfter(state: string | undefined, rest: readonly ModelMessage[] = [result]): Promise<unknown> {
    const said = { role: "assistant", text: "\n\nLet me look.", toolCalls: calls, state } as const;
    const { messages } = await send({ messages: [...request.messages, said, ...rest] });
    return (messages as { role: string; content: unknown }[])[1]?.content;
  }

  function stateOf(parts: readonly ModelPart[]): string | undefined {
    const last = parts.at(-1);
    return last?.type === "finish" ? last.state : undefined;
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
  ])("of %s are not sent", async (_, state) => {
    expect(await assistantAfter(state)).toMatchObject([{ type: "text" }, { type: "tool_use", id: "toolu_a" }]);
  });

  test("of a cut response are sent without the calls that its message lacks", async () => {
    const state = stateOf(
      await collect((wire) => {
        wire.start();
        wire.thinking("c2ln", "so");
        wire.text("Let me look.");
        wire.toolUse("toolu_a", "search", '{"q": ');
        wire.stop("max_tokens");
        wire.done();
      }),
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
    const parts = await collect((wire) => {
      wire.start();
      wire.thinking("c2ln", "so");
      wire.toolUse("toolu_a", "search", '{"q": 1}');
      wire.stop("max_tokens");
      wire.done();
    });
    expect(parts.at(-2)).toEqual({ type: "cut-call", id: "toolu_a", name: "search" });
    expect(await assistantAfter(stateOf(parts))).toEqual([
      { type: "thinking", thinking: "so", signature: "c2ln" },
      { type: "tool_use", id: "toolu_a", name: "search", input: {}, caller: { type: "direct" } },
    ]);
  });

  test("without an answer are not sent, since a message may not end in one", async () => {
    const state = stateOf(
      await collect((wire) => {
        wire.start();
        wire.thinking("c2ln", "so long that");
        wire.stop("max_tokens");
        wire.done();
      }),
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
    ["nothing was said", (wire) => wire.raw(": hello\n\n")],
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

  test("that closes the socket before the first event is a cut", async () => {
    const parts = await collect(async (wire) => {
      wire.raw(": hello\n\n");
      await wire.cut();
    });
    expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "cut", retryable: true })]);
  });

  test("of a line that is too long fails the response without retry", async () => {
    const parts = await collect((wire) => {
      wire.start();
      wire.raw("x".repeat(lineBytesMax + 1));
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "unreadable", retryable: false });
  });

  test("in the first line alone does not matter", async () => {
    const parts = await collect((wire, received) => {
      wire.raw("data: {broken\n\n");
      return answer("fine")(wire, received);
    });
    expect(textOf(parts)).toBe("fine");
    expect(parts.at(-1)).toMatchObject({ type: "finish" });
  });

  test("of two responses in one stream never counts as success", async () => {
    const parts = await collect((wire) => {
      wire.start();
      wire.text("a");
      wire.frame({ type: "message_start", message: { id: "another", usage: startUsage } }, "message_start");
      wire.text("b");
      wire.stop("end_turn");
      wire.done();
    });
    expect(parts.at(-1)).toMatchObject({ type: "failure" });
  });
});

describe("an abort", () => {
  test("before the first event ends the stream at once and closes the socket", async () => {
    const stop = new AbortController();
    server.respond(async (wire) => {
      wire.raw(": hello\n\n");
      await wire.hang();
    });
    const parts = Array.fromAsync(stream({}, undefined, stop.signal));
    const received = await server.request(0);
    stop.abort();
    expect(await parts).toEqual([]);
    expect(await received.closed).toBe(false);
  });

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

  test("is not needed to close the socket: leaving the stream closes it too", async () => {
    respond((wire) => {
      wire.start();
      return wire.hang();
    });
    const parts = stream()[Symbol.asyncIterator]();
    await parts.next();
    await parts.return?.();
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
