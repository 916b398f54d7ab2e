// Runs that callers shape: settings of one run, given histories, functions that the caller runs, forks; and what can be read of
// them afterwards.

import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { describe, expect } from "vitest";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools } from "../fakes/provider.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { expectRefused, readSession, runNotFound, setStage, test } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";
import { connectHttp2Transport } from "./transports.ts";

const kinds = ["gRPC", "REST", "Connect, HTTP/1.1, JSON"].map(findSurface);

function text(role: string, value: string) {
  return { role, content: { case: "text" as const, value } };
}

const weather = { name: "get_weather", description: "Tells the weather", parameters: '{"type":"object"}' };

async function endOf(api: Surface, runId: string) {
  return (await Array.fromAsync(api.followRun(runId))).at(-1);
}

describe.each(kinds)("over $name", (kind) => {
  test.override("kind", kind);

  test("a run has settings of its own, which the next run does not have", async ({ provider, api }) => {
    provider.respond(answer("one"), answer("two"));
    const { session_id: sessionId } = await api.createSession({
      agent: { name: "tester", systemPrompt: "Be kind.", maxTokens: 50 },
    });
    const { run_id: runId } = await api.sendMessage({
      sessionId,
      message: "hello",
      agent: { model: "gpt-4o", systemPrompt: "Be brief.", temperature: 0 },
    });
    await readSession(api, sessionId);
    const { run_id: nextId } = await api.sendMessage({ sessionId, message: "again" });
    await readSession(api, sessionId);
    const [shaped, plain] = provider.requests.map(({ body }) => body);
    expect(shaped).toMatchObject({ model: "gpt-4o", temperature: 0, max_tokens: 50 });
    expect(shaped?.messages[0]).toMatchObject({ content: "Be brief." });
    expect(plain).toMatchObject({ model: "gpt-4o-mini", max_tokens: 50 });
    expect(plain).not.toHaveProperty("temperature");
    expect(plain?.messages[0]).toMatchObject({ content: "Be kind." });
    expect((await api.getRunInput(runId)).agent).toMatchObject({ name: "tester", model: "gpt-4o", max_tokens: 50 });
    expect((await api.getRunInput(nextId)).agent).toMatchObject({ model: "gpt-4o-mini", system_prompt: "Be kind." });
    expect(await api.getRun(runId)).toMatchObject({ model: "gpt-4o" });
  });

  test("a run can begin with a given history", async ({ provider, api }) => {
    provider.respond(answer("Ada"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", systemPrompt: "First." } });
    const messages = [
      text("system", "Second."),
      text("user", "I am Ada"),
      text("assistant", "Hi"),
      text("user", "Who?"),
    ];
    const { run_id: runId } = await api.sendMessage({ sessionId, messages });
    expect((await endOf(api, runId))?.payload).toMatchObject({ finish_reason: "stop" });
    expect((await provider.request(0)).body.messages.map(({ role, content }) => [role, content])).toEqual([
      ["system", "First.\n\nSecond."],
      ["user", "I am Ada"],
      ["assistant", "Hi"],
      ["user", "Who?"],
    ]);
    const { messages: read } = await api.getRunInput(runId);
    expect(read.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    const first = await api.listMessages({ sessionId, pageSize: 3 });
    expect(first.messages.map(({ number, message }) => [number, message.role])).toEqual([
      [1, "system"],
      [2, "user"],
      [3, "assistant"],
    ]);
    const rest = await api.listMessages({ sessionId, pageSize: 3, pageToken: first.next_page_token ?? "" });
    expect(rest.messages.map(({ number, run_id, message }) => [number, run_id, message.text])).toEqual([
      [4, runId, "Who?"],
      [5, runId, "Ada"],
    ]);
    expect(rest).not.toHaveProperty("next_page_token", expect.stringMatching(/./));
  });

  test("a given history is not cut by the limit of earlier messages", async () => {
    const { provider, api } = await setStage(kind, { sessionsHistoryMessages: 2 });
    provider.respond(answer("x"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const messages = Array.from({ length: 9 }, (_, index) =>
      text(index % 2 === 0 ? "user" : "assistant", String(index)),
    );
    const { run_id: runId } = await api.sendMessage({ sessionId, messages });
    await endOf(api, runId);
    expect((await provider.request(0)).body.messages.map(({ content }) => content)).toEqual([..."012345678"]);
  });

  test("a fork continues from its place, and leaves its origin as it is", async ({ provider, api }) => {
    provider.respond(answer("one"), answer("two"), answer("other two"));
    const { session_id: origin } = await api.createSession({ agent: { name: "tester", systemPrompt: "Be kind." } });
    const { run_id: first } = await api.sendMessage({ sessionId: origin, message: "1" });
    await endOf(api, first);
    const { run_id: second } = await api.sendMessage({ sessionId: origin, message: "2" });
    await endOf(api, second);
    const { session_id: forked } = await api.createSession({ fork: { sessionId: origin, runId: first } });
    const { run_id: third } = await api.sendMessage({ sessionId: forked, message: "2, but better" });
    await endOf(api, third);
    expect((await provider.request(2)).body.messages.map(({ content }) => content)).toEqual([
      "Be kind.",
      "1",
      "one",
      "2, but better",
    ]);
    expect(await api.getSession(forked)).toMatchObject({ fork: { session_id: origin, run_id: first } });
    const told = async (sessionId: string) =>
      (await api.listMessages({ sessionId })).messages.map(({ message }) => message.text);
    expect(await told(origin)).toEqual(["1", "one", "2", "two"]);
    expect(await told(forked)).toEqual(["1", "one", "2, but better", "other two"]);
    const { session_id: earlier } = await api.createSession({ fork: { sessionId: origin, messageCount: 3 } });
    expect(await told(earlier)).toEqual(["1", "one", "2"]);
    await expectRefused(api.createSession({ fork: { sessionId: origin, messageCount: 5 } }), {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "INVALID_ARGUMENT",
      text: "invalid fork.message_count: the session has 4 messages",
    });
    await expectRefused(api.createSession({ fork: { sessionId: forked, runId: second } }), {
      grpcCode: "NOT_FOUND",
      httpStatus: 404,
      reason: "RUN_NOT_FOUND",
      text: /has no messages of run/,
    });
  });

  test("messages replace those of the session, whose runs and logs stay", async ({ provider, api, service }) => {
    provider.respond(answer("one"), answer("two"), answer("three"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const { run_id: first } = await api.sendMessage({ sessionId, messages: [text("user", "old"), text("user", "a")] });
    await endOf(api, first);
    const messages = [text("user", "a"), text("assistant", "uno"), text("user", "b")];
    const { run_id: second } = await api.sendMessage({ sessionId, messages, replaceHistory: true });
    await endOf(api, second);
    expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual(["a", "uno", "b"]);
    const { run_id: third } = await api.sendMessage({ sessionId, message: "c", replaceHistory: true });
    await endOf(api, third);
    expect((await provider.request(2)).body.messages.map(({ content }) => content)).toEqual(["c"]);
    const { messages: left } = await api.listMessages({ sessionId });
    expect(left.map(({ run_id: runId, message }) => [runId, message.text])).toEqual([
      [third, "c"],
      [third, "three"],
    ]);
    // The earlier runs keep their last message, their logs and their ends.
    expect((await api.getRunInput(first)).messages.map((message) => message.text)).toEqual(["a"]);
    expect((await endOf(api, second))?.payload).toMatchObject({ message: { text: "two" } });
    await expectInvariants(service.databaseUrl);
  });

  test("another client forks nothing", async ({ service, api }) => {
    const { session_id: origin } = await api.createSession({ agent: { name: "tester" } });
    const stranger = kind.connect(service, "stranger");
    await expectRefused(stranger.createSession({ fork: { sessionId: origin } }), {
      grpcCode: "NOT_FOUND",
      httpStatus: 404,
      reason: "SESSION_NOT_FOUND",
      text: "session not found",
    });
    await expectRefused(stranger.listMessages({ sessionId: origin }), {
      grpcCode: "NOT_FOUND",
      httpStatus: 404,
      reason: "SESSION_NOT_FOUND",
      text: "session not found",
    });
  });

  test.for([
    [[text("user", "")], "invalid messages[0].content: is missing: give text or parts"],
    [[text("alien", "x")], /^invalid messages\[0\].role: must be one of/],
    [[text("assistant", "x")], /^invalid messages\[0\].role: must be user or tool/],
    [[{ ...text("tool", "x"), toolCallId: "c1" }], /answers no open call; open calls: none/],
  ] as const)("bad messages are refused by name: %j", async ([messages, problem], { api, service }) => {
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    await expectRefused(api.sendMessage({ sessionId, messages: [...messages] }), {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "INVALID_ARGUMENT",
      text: problem,
    });
    expect(await query(service.databaseUrl, "select from transcript")).toEqual([]);
  });
});

describe("functions that the caller runs", () => {
  const kind = findSurface("gRPC");

  test("end the run, and their results continue the conversation", async () => {
    const { provider, api } = await setStage(kind);
    provider.respond(callTools({ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }), answer("Sunny"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const tools = { functions: [weather] };
    const sent = await api.sendMessage({ sessionId, message: "Weather?", agent: { tools } });
    expect(sent.tools_registered).toEqual(["get_weather"]);
    const results = await Array.fromAsync(api.followRun(sent.run_id));
    expect(results.map(({ type }) => type)).toEqual(["turn.started", "message.completed", "run.completed"]);
    expect(results.at(-1)?.payload).toMatchObject({
      finish_reason: "tool-calls",
      pending_tool_calls: [{ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }],
    });
    const result = { ...text("tool", "25 degrees"), toolCallId: "call_1" };
    const { run_id: nextId } = await api.sendMessage({ sessionId, messages: [result], agent: { tools } });
    expect((await endOf(api, nextId))?.payload).toMatchObject({ finish_reason: "stop", message: { text: "Sunny" } });
    const { body } = await provider.request(1);
    expect(body.messages.slice(1)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: "call_1" }] },
      { role: "tool", tool_call_id: "call_1", content: "25 degrees" },
    ]);
  });

  test("run beside tools of the service, whose results come first", async () => {
    const { provider, api } = await setStage(kind);
    provider.respond(
      callTools(
        { id: "call_1", name: "get_weather", arguments: "{}" },
        { id: "call_2", name: "list_dir", arguments: "{}" },
        { id: "call_3", name: "get_weather", arguments: "{}" },
      ),
      answer("done"),
    );
    const { session_id: sessionId } = await api.createSession({
      agent: { name: "tester", tools: { builtin: ["list_dir"], functions: [weather] } },
    });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "Weather?" });
    const results = await Array.fromAsync(api.followRun(runId));
    expect(results.map(({ type }) => type)).toEqual([
      "turn.started",
      "message.completed",
      "tool.call.started",
      "tool.call.completed",
      "run.completed",
    ]);
    expect(results.at(-1)?.payload).toMatchObject({ pending_tool_calls: [{ id: "call_1" }, { id: "call_3" }] });
    const resultOf = (toolCallId: string) => ({ ...text("tool", "25"), toolCallId });
    await expectRefused(api.sendMessage({ sessionId, messages: [resultOf("call_1"), text("user", "so?")] }), {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "INVALID_ARGUMENT",
      text: 'invalid messages[1]: answer all open calls or none: "call_3" has no result',
    });
    const messages = [resultOf("call_3"), resultOf("call_1"), text("user", "so?")];
    const { run_id: nextId } = await api.sendMessage({ sessionId, messages });
    expect((await endOf(api, nextId))?.payload).toMatchObject({ message: { text: "done" } });
    const { body } = await provider.request(1);
    expect(body.messages.map(({ role, tool_call_id }) => tool_call_id ?? role)).toEqual([
      "user",
      "assistant",
      "call_2",
      "call_3",
      "call_1",
      "user",
    ]);
  });

  test("may be left without a result", async () => {
    const { provider, api } = await setStage(kind);
    provider.respond(callTools({ id: "call_1", name: "get_weather", arguments: "{}" }), answer("never mind"));
    const { session_id: sessionId } = await api.createSession({
      agent: { name: "tester", tools: { functions: [weather] } },
    });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "Weather?" });
    await endOf(api, runId);
    const { run_id: nextId } = await api.sendMessage({ sessionId, message: "forget it" });
    await endOf(api, nextId);
    expect((await provider.request(1)).body.messages.at(2)).toMatchObject({
      role: "tool",
      content: "Error: interrupted: the run ended before the call did",
    });
  });
});

describe("a run that begins later", () => {
  const inSeconds = (seconds: number) => timestampFromMs(Date.now() + seconds * 1_000);

  test("is queued until its time, and then runs", async ({ provider, api }) => {
    provider.respond(answer("late"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const startTime = inSeconds(2);
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi", startTime });
    expect(await api.getRun(runId)).toMatchObject({ state: "queued", due_time: expect.any(String) });
    expect(provider.requests).toEqual([]);
    expect((await endOf(api, runId))?.payload).toMatchObject({ finish_reason: "stop" });
    const run = await api.getRun(runId);
    expect(run).not.toHaveProperty("due_time");
    expect(Date.parse(String(run.start_time))).toBeGreaterThanOrEqual(timestampMs(startTime));
  });

  test("can be cancelled before its time, and has its timeout after it", async () => {
    const { provider, api } = await setStage(findSurface("REST"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi", startTime: inSeconds(3_600) });
    const { deadline_time: deadline, due_time: due } = await api.getRun(runId);
    expect(Date.parse(String(deadline))).toBeGreaterThan(Date.parse(String(due)));
    await api.cancelRun(runId);
    expect(await api.getRun(runId)).toMatchObject({ state: "cancelled" });
    expect(provider.requests).toEqual([]);
  });

  test("is refused more than 30 days ahead", async ({ api }) => {
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    await expectRefused(api.sendMessage({ sessionId, message: "Hi", startTime: inSeconds(31 * 86_400) }), {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "INVALID_ARGUMENT",
      text: "invalid start_time: must be at most 30 days ahead",
    });
  });
});

test("a text of the assistant at the end is for the model to continue", async ({ provider, api }) => {
  provider.respond(answer("2, 3"));
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const messages = [text("user", "Count to 3"), text("assistant", "1, ")];
  const { run_id: runId } = await api.sendMessage({ sessionId, messages });
  expect((await endOf(api, runId))?.payload).toMatchObject({ message: { text: "2, 3" } });
  expect((await provider.request(0)).body.messages.at(-1)).toEqual({ role: "assistant", content: "1, " });
});

test("tokens are counted without a request", async ({ provider, service }) => {
  const client = createClient(ProviderService, connectHttp2Transport(service.url));
  const count = async (agent: object, ...texts: readonly string[]) => {
    const messages = texts.map((each) => ({ role: "user", content: { case: "text" as const, value: each } }));
    return Number((await client.countTokens({ agent, messages }, { headers: credentialsOf() })).inputTokens);
  };
  const short = await count({}, "four words of text");
  expect(short).toBeGreaterThan(2);
  expect(await count({}, "four words of text", "four words of text")).toBe(2 * short);
  expect(await count({ tools: { functions: [weather] }, systemPrompt: "Be kind." }, "Hi")).toBeGreaterThan(8);
  await expect(count({ model: "unknown" }, "Hi")).rejects.toThrow(/unsupported model/);
  expect(provider.requests).toEqual([]);
});

test("the model gets images, a schema and an effort", async ({ provider, api }) => {
  provider.respond(answer("{}"));
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", model: "gpt-5" } });
  const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const elements = [
    { type: "text", text: "What is this?" },
    { type: "image_base64", imageBase64: image },
  ];
  const { run_id: runId } = await api.sendMessage({
    sessionId,
    messages: [{ role: "user", content: { case: "parts", value: { elements } } }],
    agent: {
      reasoningEffort: 2,
      responseFormat: {
        name: "thing",
        schema: '{"type":"object","properties":{},"additionalProperties":false}',
        strict: true,
      },
    },
    annotations: '{"ticket":7}',
  });
  await endOf(api, runId);
  const { body } = await provider.request(0);
  expect(body).toMatchObject({
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: { name: "thing", strict: true } },
  });
  expect(JSON.stringify(body.messages)).toContain(`data:image/png;base64,${image}`);
  expect((await api.getRunInput(runId)).annotations).toEqual({ ticket: 7 });
});

describe("runs and sessions of programs", () => {
  const openApi = async () => {
    const stage = await setStage(findSurface("gRPC"));
    const transport = connectHttp2Transport(stage.service.url);
    const headers = credentialsOf();
    return {
      ...stage,
      headers,
      runs: createClient(RunService, transport),
      providers: createClient(ProviderService, transport),
      sessions: createClient(SessionService, transport),
    };
  };

  test("messages are added and deleted without a run, and a fork after them has the rest", async () => {
    const { provider, api, service, sessions, headers } = await openApi();
    provider.respond(answer("one"), answer("two"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const messages = ["a", "b", "c"].map((value) => ({ role: "user", content: { case: "text" as const, value } }));
    expect(await sessions.addMessages({ sessionId, messages }, { headers })).toMatchObject({ firstNumber: 1 });
    await sessions.deleteMessage({ sessionId, number: 2 }, { headers });
    await expect(sessions.deleteMessage({ sessionId, number: 2 }, { headers })).rejects.toThrow("no message 2");
    const list = async (id: string) => (await sessions.listMessages({ sessionId: id }, { headers })).messages;
    expect(await list(sessionId)).toMatchObject([
      { number: 1, runId: "", message: { content: { value: "a" } } },
      { number: 3, runId: "", message: { content: { value: "c" } } },
    ]);
    const fork = { sessionId, messageCount: 3 };
    const { sessionId: forked } = await sessions.createSession({ fork }, { headers });
    expect(await list(forked)).toHaveLength(2);
    await expect(sessions.createSession({ fork: { sessionId, messageCount: 4 } }, { headers })).rejects.toThrow(
      "message_count",
    );
    const { run_id: runId } = await api.sendMessage({ sessionId: forked, message: "d" });
    await Array.fromAsync(api.followRun(runId));
    expect((await provider.request(0)).body.messages.map(({ content }) => content)).toEqual(["a", "c", "d"]);
    const annotations = '{"topic":"x"}';
    const { session } = await sessions.updateSession({ sessionId, annotations }, { headers });
    expect(session).toMatchObject({ sessionId, annotations });
    await expectInvariants(service.databaseUrl);
  });

  test("a message can name the run that it follows", async ({ provider, api }) => {
    provider.respond(answer("one"), answer("two"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" }, annotations: '{"page":3}' });
    const { run_id: first } = await api.sendMessage({ sessionId, message: "1" });
    await endOf(api, first);
    const { run_id: second } = await api.sendMessage({ sessionId, message: "2", afterRunId: first });
    await endOf(api, second);
    await expectRefused(api.sendMessage({ sessionId, message: "3", afterRunId: first }), {
      grpcCode: "FAILED_PRECONDITION",
      httpStatus: 409,
      reason: "SESSION_MOVED",
      text: `the latest run of session "${sessionId}" is ${second}, not ${first}`,
    });
    expect(await api.getSession(sessionId)).toMatchObject({ latest_run_id: second, annotations: { page: 3 } });
  });

  test("a deleted run is cancelled, and gone for every call", async () => {
    const { provider, api, service, runs, headers } = await openApi();
    provider.respond((wire) => wire.hang());
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "1" });
    await provider.request(0);
    const following = Array.fromAsync(api.followRun(runId));
    await runs.deleteRun({ runId }, { headers });
    expect((await following).at(-1)).toMatchObject({ type: "run.failed", payload: { code: "cancelled" } });
    await expectRefused(api.getRun(runId), runNotFound);
    await expectRefused(api.getRunInput(runId), runNotFound);
    await expectRefused(Array.fromAsync(api.followRun(runId)), runNotFound);
    expect(await api.listRuns({ sessionId })).toEqual({ runs: [] });
    await expect(runs.deleteRun({ runId }, { headers })).rejects.toMatchObject({ rawMessage: "run not found" });
    await expectInvariants(service.databaseUrl);
  });

  test("the known models are those of configured providers, the default first", async () => {
    const { providers, headers } = await openApi();
    const { models } = await providers.listModels({}, { headers });
    expect(models[0]).toMatchObject({ name: "gpt-4o-mini", provider: "openai", contextTokens: 128_000 });
    expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(["openai", "demo"]));
  });

  test("a model is found by any name that is routed", async () => {
    const { providers, headers } = await openApi();
    const { model } = await providers.getModel({ name: "openai:own/model" }, { headers });
    expect(model).toMatchObject({ name: "openai:own/model", provider: "openai" });
    for (const name of ["claude-opus-5", "none"]) {
      await expect(providers.getModel({ name }, { headers })).rejects.toThrow("failed to create client");
    }
  });
});

test("a schema of answers has at most as many levels as a request", async ({ api }) => {
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const schema = `${'{"items":'.repeat(5_000)}{}${"}".repeat(5_000)}`;
  await expectRefused(api.sendMessage({ sessionId, message: "Hi", agent: { responseFormat: { schema } } }), {
    grpcCode: "INVALID_ARGUMENT",
    httpStatus: 400,
    reason: "INVALID_ARGUMENT",
    text: "invalid agent.response_format.schema: must be a JSON object of at most 100 levels",
  });
});

describe("options of providers", () => {
  test("go to their provider alone, and change nothing that the service sets", async ({ provider, api }) => {
    provider.respond(answer("x"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const providerOptions = '{"openai":{"seed":7,"model":"other"},"anthropic":{"x":1}}';
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi", agent: { providerOptions } });
    await endOf(api, runId);
    const { body } = await provider.request(0);
    expect(body).toMatchObject({ seed: 7, model: "gpt-4o-mini" });
    expect(body).not.toHaveProperty("x");
  });

  test.for(["[]", "{", '{"unknown":{}}', '{"openai":1}', `{"openai":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`])(
    "%s is refused by its name",
    async (providerOptions, { api }) => {
      const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
      await expectRefused(api.sendMessage({ sessionId, message: "Hi", agent: { providerOptions } }), {
        grpcCode: "INVALID_ARGUMENT",
        httpStatus: 400,
        reason: "INVALID_ARGUMENT",
        text: /^invalid agent\.provider_options: must be a JSON object of objects/,
      });
    },
  );
});
