// Models as runners use them through their host, with a provider and a reranker that speak their real protocols.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { test as base, describe, expect } from "vitest";
import {
  CountTokensRequestSchema,
  InvokeModelRequestSchema,
  InvokeModelStreamRequestSchema,
  type InvokeModelStreamResponse,
  RerankRequestSchema,
} from "#gen/runnel/host/v1/host_model_service_pb.js";
import { readUsageOfToday } from "../../src/agent/budget/storage/client-usage.ts";
import { answer, callTools, hangAfter, stopAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { until } from "../harness/wait.ts";
import { ask, client, contextOf, openThinking, type ThinkingOptions } from "./thinking-stage.ts";

const test = base.extend("stage", () => openStage());

const modelId = "gpt-4o";
const hello = [JSON.stringify({ role: "user", content: "hello" })];
const all = { [modelId]: ["invoke", "stream", "count_tokens"], "rerank:small": ["rerank"] };

async function openStage({ flags, grant = { models: all }, ...rest }: ThinkingOptions = {}) {
  const stage = await openThinking({ ...(flags && { flags }), grant, ...rest });
  const { thinking, runId } = stage;
  const invoke = (request: MessageInitShape<typeof InvokeModelRequestSchema> = {}, context = stage.context) =>
    ask(thinking.invokeModel, InvokeModelRequestSchema, { runId, modelId, messages: hello, ...request }, context);
  const stream = (request: MessageInitShape<typeof InvokeModelStreamRequestSchema> = {}, context = stage.context) =>
    thinking.invokeModelStream(
      create(InvokeModelStreamRequestSchema, { runId, modelId, messages: hello, ...request }),
      context as HandlerContext,
    ) as AsyncGenerator<Partial<InvokeModelStreamResponse>>;
  const rerank = (request: MessageInitShape<typeof RerankRequestSchema> = {}) =>
    ask(
      thinking.rerank,
      RerankRequestSchema,
      { runId, modelId: "rerank:small", query: "red fox", ...request },
      stage.context,
    );
  const count = (request: MessageInitShape<typeof CountTokensRequestSchema> = {}) =>
    ask(thinking.countTokens, CountTokensRequestSchema, { runId, modelId, messages: hello, ...request }, stage.context);
  return { ...stage, invoke, stream, rerank, count };
}

describe("a whole answer", () => {
  test("is a message of the protocol, and the provider gets the runner's messages", async () => {
    const { invoke, provider } = await openStage();
    provider.respond((wire) => {
      wire.text("Good ");
      wire.text("day");
      wire.finish("stop");
      wire.usage({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
      wire.done();
    });
    const messages = [
      { role: "system", content: "Be brief.", name: null, tool_calls: null },
      {
        role: "user",
        content: [
          { type: "text", text: "What " },
          { type: "text", text: "time?" },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: '{"zone": "UTC"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "noon" },
    ].map((message) => JSON.stringify(message));
    const functions = [
      '{"name":"now","description":"Tells the time.","parameters":{"type":"object","properties":{"zone":{"type":"string"}}}}',
    ];
    const response = await invoke({ messages, functions, extraArgs: '{"temperature":0.5,"max_tokens":77,"top_p":1}' });
    expect(JSON.parse(response.message ?? "")).toEqual({ role: "assistant", content: "Good day" });
    expect(response.usage).toEqual({ promptTokens: 7n, completionTokens: 2n, totalTokens: 9n });
    expect(provider.requests[0]?.body).toMatchObject({
      model: "gpt-4o",
      temperature: 0.5,
      max_tokens: 77,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "What time?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: '{"zone": "UTC"}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "noon" },
      ],
      tools: [{ type: "function", function: { name: "now", description: "Tells the time." } }],
    });
    expect(provider.requests[0]?.body).not.toHaveProperty("top_p");
  });

  test("follows the schema that the runner gives in the form of OpenAI's clients", async () => {
    const { invoke, stream, provider } = await openStage();
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", json_schema: { name: "reply", schema, strict: true } };
    const extraArgs = JSON.stringify({ response_format: format });
    provider.respond(answer('{"a":"b"}'), answer('{"a":"b"}'), answer("{}"), answer("x"), answer("x"));
    const { message = "" } = await invoke({ extraArgs });
    expect(JSON.parse(message)).toEqual({ role: "assistant", content: '{"a":"b"}' });
    const chunks = (await Array.fromAsync(stream({ extraArgs }))).flatMap(({ chunk }) =>
      chunk ? [JSON.parse(chunk)] : [],
    );
    expect(chunks.map(({ content }) => content).join("")).toBe('{"a":"b"}');
    await invoke({ extraArgs: '{"response_format":{"type":"json_object"}}' });
    await invoke({ extraArgs: '{"response_format":{"type":"text"}}' });
    await invoke({ extraArgs: '{"response_format":null}' });
    expect(provider.requests.map(({ body }) => body.response_format)).toEqual([
      format,
      format,
      { type: "json_object" },
      undefined,
      undefined,
    ]);
  });

  test("comes as text when the provider refuses the schema", async ({ stage: { invoke, provider } }) => {
    provider.respond(fail(400, '{"error":{"message":"unknown field"}}'), answer("It is b."));
    const format = { type: "json_schema", json_schema: { name: "reply", schema: { type: "object" } } };
    const { message = "" } = await invoke({ extraArgs: JSON.stringify({ response_format: format }) });
    expect(JSON.parse(message).content).toBe("It is b.");
    expect(provider.requests.map(({ body }) => "response_format" in body)).toEqual([true, false]);
  });

  test("has tool calls with the model's exact arguments, and null as its text", async () => {
    const { invoke, provider } = await openStage();
    provider.respond(callTools({ id: "c9", name: "now", arguments: '{"n": 9007199254740993, }' }));
    const { message = "", usage } = await invoke();
    expect(JSON.parse(message)).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c9", type: "function", function: { name: "now", arguments: '{"n": 9007199254740993, }' } }],
    });
    expect(usage).toEqual({});
  });

  test("carries the provider's own fields, which go back to the provider unchanged", async () => {
    const { invoke, provider } = await openStage();
    provider.respond((wire) => {
      wire.reasoning("hm, the time");
      wire.toolCalls({ index: 0, id: "c1", name: "now", arguments: "{}" });
      wire.done("tool_calls");
    }, answer("noon"));
    const { message = "" } = await invoke();
    expect(JSON.parse(message)).toHaveProperty("provider_specific_fields");
    expect(message).not.toContain('"content":"hm');
    await invoke({ messages: [...hello, message, '{"role":"tool","tool_call_id":"c1","content":"12"}'] });
    expect(provider.requests[1]?.body.messages[1]).toMatchObject({ reasoning_content: "hm, the time" });
  });
});

describe("a streamed answer", () => {
  test("comes in pieces as the model writes, with whole characters and calls, and usage in the last message", async () => {
    const { stream, provider } = await openStage();
    provider.respond((wire) => {
      wire.text("One \ud83e");
      wire.text("\udd8a");
      wire.toolCalls({ index: 0, id: "c1", name: "now", arguments: '{"a"' });
      wire.toolCalls({ index: 0, arguments: ":1}" });
      wire.finish("tool_calls");
      wire.usage({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
      wire.done();
    });
    const responses = await Array.fromAsync(stream());
    const last = responses.pop();
    expect(last).toEqual({ usage: { promptTokens: 3n, completionTokens: 4n, totalTokens: 7n } });
    const chunks = responses.map(({ chunk = "" }) => JSON.parse(chunk));
    expect(chunks.map(({ content }) => content).join("")).toBe("One 🦊");
    expect(chunks.every(({ content }) => content.isWellFormed())).toBe(true);
    expect(chunks.flatMap(({ tool_calls: calls = [] }) => calls)).toEqual([
      { id: "c1", type: "function", function: { name: "now", arguments: '{"a":1}' } },
    ]);
    expect(chunks.map(({ is_final: isFinal }) => isFinal)).toEqual([...chunks.slice(1).map(() => false), true]);
  });

  test("is forwarded before the model has ended", async ({ stage: { stream, provider } }) => {
    const goOn = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      wire.text("first");
      await goOn.promise;
      wire.done("stop");
    });
    const responses = stream();
    const first = await responses.next();
    expect(first.value?.chunk).toContain("first");
    goOn.resolve();
    expect((await Array.fromAsync(responses)).at(-1)).toHaveProperty("usage");
  });

  test("stops the provider when its caller leaves", async ({ stage: { stream, provider, runId } }) => {
    provider.respond(hangAfter("first"));
    const leave = new AbortController();
    const responses = stream({}, contextOf(runId, leave.signal));
    await responses.next();
    leave.abort(new Error("the caller left"));
    await expect(responses.next()).rejects.toThrow("the caller left");
    expect(await provider.requests[0]?.closed).toBe(false);
  });

  test("is a grant of its own: streaming does not include whole answers, nor the reverse", async () => {
    const streams = await openStage({ grant: { models: { [modelId]: ["stream"] } } });
    await expect(streams.invoke()).rejects.toMatchObject({ reason: "GRANT_REFUSED" });
    streams.provider.respond(answer("yes"));
    expect(await Array.fromAsync(streams.stream())).toHaveLength(3);
    const invokes = await openStage({ grant: { models: { [modelId]: ["invoke"] } } });
    await expect(Array.fromAsync(invokes.stream())).rejects.toMatchObject({ reason: "GRANT_REFUSED" });
    expect(invokes.provider.requests).toHaveLength(0);
    const audit = await streams.db
      .selectFrom("audit_entry")
      .select(["action", "resource", "result"])
      .orderBy("id")
      .execute();
    expect(audit).toEqual([
      { action: "invoke_llm", resource: modelId, result: "deny" },
      { action: "invoke_llm_stream", resource: modelId, result: "allow" },
    ]);
  });
});

describe("messages", () => {
  const tool = '{"role":"tool","tool_call_id":"c1","content":"x"}';
  const asks = (id: string, more = "") =>
    `{"role":"assistant","tool_calls":[{"id":"${id}","type":"function","function":{"name":"f","arguments":"{}"}}]${more}}`;

  test.each([
    ["no message at all", [], "messages", /give at least one/],
    ["only a system message", ['{"role":"system","content":"x"}'], "messages", /give at least one/],
    ["no JSON", [...hello, "{"], "messages[1]", /must be a JSON object: unexpected EOF/],
    ["a list", ["[]"], "messages[0]", /must be a JSON object, not an array/],
    ["no role", ['{"content":"x"}'], "messages[0].role", /is missing/],
    ["a role that is not a string", ['{"role":1}'], "messages[0].role", /must be a string, not a number/],
    [
      "an unknown role",
      [...hello, ...hello, ...hello, '{"role":"robot"}'],
      "messages[3].role",
      /use system, user, assistant or tool/,
    ],
    ["content of another kind", ['{"role":"user","content":1}'], "messages[0].content", /a string or a list of parts/],
    [
      "a part that is not an object",
      ['{"role":"user","content":["x"]}'],
      "messages[0].content[0]",
      /must be a JSON object/,
    ],
    [
      "a part without a type",
      ['{"role":"user","content":[{"text":"x"}]}'],
      "messages[0].content[0].type",
      /is missing/,
    ],
    [
      "an invalid image",
      ['{"role":"user","content":[{"type":"image_base64","image_base64":"?"}]}'],
      "messages[0].content[0].image_base64",
      /neither base64/,
    ],
    ["an answer to no call", [...hello, tool], "messages[1].tool_call_id", /matches no open call/],
    ["an answer without its call's id", [...hello, '{"role":"tool"}'], "messages[1].tool_call_id", /is missing/],
    ["a call that nobody answers", [...hello, asks("c1")], "messages[1].tool_calls[0]", /is not answered/],
    ["a call that is answered too late", [asks("c1"), ...hello, tool], "messages[0].tool_calls[0]", /is not answered/],
    [
      "a call without a name",
      ['{"role":"assistant","tool_calls":[{"id":"a","function":{}}]}'],
      "messages[0].tool_calls[0].function.name",
      /is missing/,
    ],
    ["calls that are no list", ['{"role":"assistant","tool_calls":{}}'], "messages[0].tool_calls", /must be a list/],
    ["too deep", [`{"role":"user","x":${"[".repeat(200)}${"]".repeat(200)}}`], "messages[0]", /nested deeper/],
  ])("with %s are refused, and the path is named", async (_, messages, field, words) => {
    const { invoke, provider, db } = await openStage();
    await expect(invoke({ messages })).rejects.toMatchObject({
      reason: "INVALID_ARGUMENT",
      violations: [{ field, description: expect.stringMatching(words) }],
    });
    expect(provider.requests).toHaveLength(0);
    // The refused request does not count as a call.
    expect(await db.selectFrom("remote_run").select("model_calls").execute()).toEqual([{ model_calls: 0 }]);
  });

  test.for<[string, object, string]>([
    ["functions", { functions: ['{"description":"x"}'] }, "functions[0].name"],
    ["functions", { functions: ['{"name":"a b"}'] }, "functions[0].name"],
    ["functions", { functions: ['{"name":"a"}', '{"name":"a"}'] }, "functions[1].name"],
    ["functions", { functions: ['{"name":"a","parameters":[]}'] }, "functions[0].parameters"],
    ["extra_args", { extraArgs: "[]" }, "extra_args"],
    ["extra_args", { extraArgs: '{"temperature":2.1}' }, "extra_args.temperature"],
    ["extra_args", { extraArgs: '{"temperature":"1"}' }, "extra_args.temperature"],
    ["extra_args", { extraArgs: '{"max_tokens":0}' }, "extra_args.max_tokens"],
    ["extra_args", { extraArgs: '{"max_tokens":1.5}' }, "extra_args.max_tokens"],
    ["extra_args", { extraArgs: '{"response_format":"json"}' }, "extra_args.response_format"],
    ["extra_args", { extraArgs: '{"response_format":{}}' }, "extra_args.response_format.type"],
    ["extra_args", { extraArgs: '{"response_format":{"type":"xml"}}' }, "extra_args.response_format.type"],
    [
      "extra_args",
      { extraArgs: '{"response_format":{"type":"json_schema"}}' },
      "extra_args.response_format.json_schema",
    ],
  ])("with bad %s are refused: %j", async ([_, request, field], { stage: { invoke } }) => {
    await expect(invoke(request)).rejects.toMatchObject({ reason: "INVALID_ARGUMENT", violations: [{ field }] });
  });

  test.each([
    ["no name", "name", { schema: {} }],
    ["a bad name", "name", { name: "a b", schema: {} }],
    ["no schema", "schema", { name: "a" }],
    ["a list", "schema", { name: "a", schema: [] }],
    ["a choice of nothing", "schema", { name: "a", schema: { anyOf: [null] } }],
    ["an unknown type", "schema", { name: "a", schema: { type: "int" } }],
    ["a schema that is too long", "schema", { name: "a", schema: { description: "x".repeat(65_536) } }],
    ["a word for strict", "strict", { name: "a", schema: {}, strict: "yes" }],
    ["a number as description", "description", { name: "a", schema: {}, description: 1 }],
  ])("with %s in their response format are refused", async (_, field, given) => {
    const { invoke, provider } = await openStage();
    const extraArgs = JSON.stringify({ response_format: { type: "json_schema", json_schema: given } });
    const violations = [{ field: `extra_args.response_format.json_schema.${field}` }];
    await expect(invoke({ extraArgs })).rejects.toMatchObject({ reason: "INVALID_ARGUMENT", violations });
    expect(provider.requests).toHaveLength(0);
  });
});

describe("a provider that fails", () => {
  test("opens the circuit of the run's client alone", async () => {
    const { invoke, provider, models } = await openStage({ flags: { circuitMaxFailures: 1 } });
    provider.respond(fail(503, "down"));
    await expect(invoke()).rejects.toMatchObject({ metadata: { code: "circuit_open" } });
    const request = { system: "", messages: [], tools: [], maxTokens: 1, temperature: undefined };
    const endFor = async (asking: string) => {
      const { signal } = new AbortController();
      return (await Array.fromAsync(models.resolve(modelId).stream({ ...request, client: asking }, signal))).at(-1);
    };
    expect(await endFor(client)).toMatchObject({ type: "failure", code: "circuit_open" });
    expect(await endFor("another")).toMatchObject({ type: "finish" });
  });

  test("gives our error message: transient failures are retryable, permanent ones are not", async () => {
    const { invoke, provider } = await openStage();
    provider.respond(fail(401, '{"error":{"message":"the key sk-of-the-operator of org-7 is wrong"}}'));
    await expect(invoke()).rejects.toMatchObject({
      reason: "HOST_CALL_FAILED",
      message: "model gpt-4o failed: its provider answered with status 401",
      metadata: { code: "401" },
    });
    // The number of tries is that of any run.
    provider.respond(...Array.from({ length: 4 }, () => fail(503, "internal host db-3 is down")));
    await expect(invoke()).rejects.toMatchObject({
      reason: "HOST_CALL_UNAVAILABLE",
      message: "model gpt-4o failed: its provider answered with status 503",
    });
    expect(provider.requests).toHaveLength(5);
  });

  test("in mid-stream ends the stream with the failure, after the text so far", async () => {
    const { stream, provider } = await openStage();
    provider.respond(async (wire) => {
      wire.text("half");
      await wire.cut();
    });
    const responses = stream();
    expect((await responses.next()).value?.chunk).toContain("half");
    await expect(responses.next()).rejects.toMatchObject({
      reason: "HOST_CALL_UNAVAILABLE",
      message: "model gpt-4o failed: its answer was cut off",
    });
  });

  test("by withholding its answer fails the call too", async ({ stage: { invoke, provider } }) => {
    provider.respond(stopAfter("I", "content_filter"));
    await expect(invoke()).rejects.toMatchObject({ reason: "HOST_CALL_FAILED", metadata: { code: "content_filter" } });
  });

  test("a model that is no longer configured is not found, and does not count", async () => {
    const llm = ["invoke", "stream", "count_tokens"];
    const { invoke, stream, rerank, count, db } = await openStage({
      flags: { rerankBaseUrl: "" },
      grant: { models: { "gemini-pro": llm, "rerank:small": ["rerank"] } },
    });
    const modelId = "gemini-pro";
    const calls = [
      () => invoke({ modelId }),
      () => Array.fromAsync(stream({ modelId })),
      () => count({ modelId }),
      () => rerank({ documents: ["a"] }),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    }
    expect(await db.selectFrom("remote_run").select("model_calls").execute()).toEqual([{ model_calls: 0 }]);
  });
});

describe("the quota of a run", () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 };
  const costly = (wire: Parameters<ReturnType<typeof answer>>[0]) => {
    wire.text("dear");
    wire.finish("stop");
    wire.usage(usage);
    wire.done();
  };

  test("is a number of calls, successful or not", async () => {
    const { invoke, stream, rerank, provider, db } = await openStage({ flags: { hostModelCalls: 3 } });
    provider.respond(answer("one"), fail(400, "{}"));
    await invoke();
    await expect(Array.fromAsync(stream())).rejects.toMatchObject({ reason: "HOST_CALL_FAILED" });
    await rerank({ documents: ["a"] });
    for (const over of [() => invoke(), () => Array.fromAsync(stream()), () => rerank({ documents: ["a"] })]) {
      await expect(over()).rejects.toMatchObject({
        reason: "QUOTA_EXHAUSTED",
        message: "the run has reached its maximum of model calls (3)",
        retryAfterMs: undefined,
      });
    }
    expect(provider.requests).toHaveLength(2);
    expect(await db.selectFrom("remote_run").select("model_calls").execute()).toEqual([{ model_calls: 3 }]);
  });

  test("counts each of many concurrent calls once", async () => {
    const { invoke, provider } = await openStage({ flags: { hostModelCalls: 5 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => invoke()));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    expect(provider.requests).toHaveLength(5);
  });

  test("is recorded for the run and for its client's day", async () => {
    const { invoke, provider, db, runId } = await openStage({ flags: { budgetClientDayTokens: 1_000_000 } });
    provider.respond(costly);
    await invoke();
    const [row] = await db
      .selectFrom("remote_run")
      .select(["used_tokens", "used_cost_micro_usd"])
      .where("run_id", "=", runId)
      .execute();
    expect(row).toEqual({ used_tokens: 1_200, used_cost_micro_usd: 1_000 * 2.5 + 200 * 10 });
    expect(await readUsageOfToday(db, client)).toMatchObject({ tokens: 1_200 });
  });

  test("ends with the budget of the run, over all its calls", async () => {
    const { invoke, provider } = await openStage({ flags: { budgetRunTokens: 1_201 } });
    provider.respond(costly);
    await invoke();
    await expect(invoke()).rejects.toMatchObject({
      reason: "QUOTA_EXHAUSTED",
      metadata: { budget: "run tokens" },
    });
    expect(provider.requests).toHaveLength(1);
  });

  test("ends with the budget of the day, even during an answer, and the reserve is returned", async () => {
    const { stream, provider, db } = await openStage({ flags: { budgetClientDayTokens: 50 } });
    provider.respond(async (wire) => {
      for (let piece = 0; piece < 100; piece++) {
        wire.text("some words to read ");
      }
      await wire.hang();
    });
    await expect(Array.fromAsync(stream())).rejects.toMatchObject({
      reason: "QUOTA_EXHAUSTED",
      metadata: { budget: "day tokens" },
    });
    expect(await provider.requests[0]?.closed).toBe(false);
    // The usage is settled after the answer.
    const { tokens } = await until("the day is settled", async () => {
      const today = await readUsageOfToday(db, client);
      return today.tokens >= 50 && today;
    });
    expect(tokens).toBeLessThan(70);
  });

  test("allows no call when money is limited and the model has no price", async () => {
    const { invoke, rerank } = await openStage({
      flags: { budgetRunUsd: 1 },
      grant: { models: { ...all, "openai:homemade": ["invoke"] } },
    });
    await expect(invoke({ modelId: "openai:homemade" })).rejects.toMatchObject({ reason: "MODEL_UNSUPPORTED" });
    await expect(rerank({ documents: ["a"] })).rejects.toMatchObject({ reason: "MODEL_UNSUPPORTED" });
  });
});

describe("documents", () => {
  test("are ranked by relevance, all of them or the best", async ({ stage: { rerank, reranker } }) => {
    const documents = ["a blue cat", "a red fox", "a red cat"];
    const order = async (topK?: number) =>
      (await rerank({ documents, ...(topK !== undefined && { topK }) })).results?.map(({ index }) => index);
    expect(await order()).toEqual([1, 2, 0]);
    expect(await order(2)).toEqual([1, 2]);
    expect(await order(500)).toEqual([1, 2, 0]);
    expect(reranker.requests[2]?.body).toMatchObject({ model: "small", top_n: 3 });
    expect((await rerank({ documents: [] })).results).toEqual([]);
    expect(reranker.requests).toHaveLength(3);
  });

  test("count towards the day with the tokens that the server counted", async () => {
    const { rerank, db } = await openStage({ flags: { budgetClientDayTokens: 1_000_000 } });
    await rerank({ documents: ["a red fox"] });
    expect(await readUsageOfToday(db, client)).toMatchObject({ tokens: 4 });
  });

  test.for<[string, object, string]>([
    ["more than 64 documents", { documents: Array.from({ length: 65 }, () => "a") }, "documents"],
    ["an empty query", { query: " ", documents: ["a"] }, "query"],
    ["a negative number of results", { documents: ["a"], topK: -1 }, "top_k"],
  ])("with %s are refused", async ([_, request, field], { stage: { rerank, reranker } }) => {
    await expect(rerank(request)).rejects.toMatchObject({ reason: "INVALID_ARGUMENT", violations: [{ field }] });
    expect(reranker.requests).toHaveLength(0);
  });

  test("are ranked, up to 64", async ({ stage: { rerank } }) => {
    expect((await rerank({ documents: Array.from({ length: 64 }, (_, n) => `red ${n}`) })).results).toHaveLength(64);
  });

  test("whose server fails give our error message", async ({ stage: { rerank, reranker } }) => {
    reranker.respond(fail(500, "secret stack trace"));
    await expect(rerank({ documents: ["a"] })).rejects.toMatchObject({
      reason: "HOST_CALL_UNAVAILABLE",
      message: "model rerank:small failed: its provider answered with status 500",
    });
  });
});

describe("tokens", () => {
  test("are a quarter of the characters, in any script, and counting them is free", async () => {
    const { count, provider, db } = await openStage();
    const messages = ["hello, world", "你好世界", "🦊🦊🦊🦊"].map((content) =>
      JSON.stringify({ role: "user", content }),
    );
    expect(await count({ messages })).toEqual({ tokens: 5n });
    const functions = ['{"name":"abcd","description":"12345678","parameters":{}}'];
    expect(await count({ messages, functions })).toEqual({ tokens: 9n });
    expect(provider.requests).toHaveLength(0);
    expect(await db.selectFrom("remote_run").select("model_calls").execute()).toEqual([{ model_calls: 0 }]);
  });

  test("are counted for any messages, even if they are not a conversation", async ({ stage: { count } }) => {
    const system = JSON.stringify({ role: "system", content: "12345678" });
    const call = { id: "c", type: "function", function: { name: "abcd", arguments: "{  }" } };
    const asked = JSON.stringify({ role: "assistant", content: null, tool_calls: [call] });
    const told = JSON.stringify({ role: "tool", tool_call_id: "of another part", content: "1234" });
    expect(await count({ messages: [] })).toEqual({ tokens: 0n });
    expect(await count({ messages: [system] })).toEqual({ tokens: 2n });
    expect(await count({ messages: [told, asked] })).toEqual({ tokens: 3n });
    const image = '{"role":"user","content":[{"type":"image_url","image_url":"https://files.example/a.png"}]}';
    expect(await count({ messages: [system, image] })).toEqual({ tokens: 1_502n });
  });

  test("of invalid messages are refused with their path", async ({ stage: { count } }) => {
    await expect(count({ messages: ["1"] })).rejects.toMatchObject({ violations: [{ field: "messages[0]" }] });
  });
});
