// The Messages API by the official Node client, over a model of another maker.

import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { answer, onMessages } from "../fakes/anthropic-provider.ts";
import { pngBase64 } from "../fakes/png.ts";
import { callTools, hangAfter, holdAfter, type Script, stopAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { anthropicClient, hello, readEvents, setAnthropicStage, speak, weather } from "./stage.ts";

const conversation: Anthropic.MessageParam[] = [
  { role: "user", content: "I am Ada" },
  { role: "assistant", content: "Hi" },
  {
    role: "user",
    content: [
      { type: "text", text: "Who?", cache_control: { type: "ephemeral" } },
      { type: "text", text: "Say it." },
    ],
  },
];

test("a whole message, with the given history", async () => {
  const { client, provider, service } = await setAnthropicStage();
  provider.respond(speak("A", "da"));
  const { data: message, response } = await client.messages
    .create({
      ...hello,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: conversation,
      stop_sequences: ["END"],
      ...{ temperature: 0, top_k: 0 },
    })
    .withResponse();
  expect(message).toMatchObject({
    id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
    type: "message",
    role: "assistant",
    model: "gpt-4o",
    content: [{ type: "text", text: "Ada" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 2 },
  });
  expect(message).toMatchObject({ _request_id: response.headers.get("request-id") });
  expect(response.headers.get("request-id")).toMatch(/./);
  const { body } = await provider.request(0);
  expect(body).toMatchObject({ model: "gpt-4o", max_tokens: 100, stop: ["END"], temperature: 0 });
  expect(body.messages.map(({ role, content }) => [role, content])).toEqual([
    ["system", "Be brief."],
    ["user", "I am Ada"],
    ["assistant", "Hi"],
    ["user", "Who?\nSay it."],
  ]);
  const sessions = () => query(service.databaseUrl, "select from session where delete_time is null");
  await until("the session to be deleted", async () => (await sessions()).length === 0);
});

test("a stream has the events of the API, and the helper joins them", async () => {
  const { client, provider, post } = await setAnthropicStage();
  provider.respond(speak("One ", "two"), speak("One ", "two"));
  const events = await readEvents(await post({ ...hello, stream: true }));
  expect(events.map(({ type }) => type)).toEqual([
    "message_start",
    "ping",
    "content_block_start",
    "content_block_delta",
    ...(events.length === 9 ? ["content_block_delta"] : []),
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect(events[0]).toMatchObject({ message: { role: "assistant", content: [], stop_reason: null } });
  expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } });
  const stream = client.messages.stream(hello);
  expect(await stream.finalText()).toBe("One two");
  expect((await stream.finalMessage()).usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
});

test("messages of the system in the middle join the system prompt, also between a call and its result", async () => {
  const { post, provider } = await setAnthropicStage();
  provider.respond(speak("ok"));
  const messages = [
    { role: "user", content: "Weather?" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "get_weather", input: {} }] },
    { role: "system", content: [{ type: "text", text: "Hurry." }] },
    {
      role: "user",
      content: [
        { type: "text", text: "There." },
        { type: "tool_result", tool_use_id: "toolu_1", content: "25", is_error: false },
      ],
    },
    { role: "system", content: "Now." },
  ];
  const answer = await post({ ...hello, system: "Be kind.", tools: [weather], messages }, { "anthropic-beta": "x-1" });
  expect(answer.status).toBe(200);
  expect((await provider.request(0)).body.messages).toMatchObject([
    { role: "system", content: "Be kind.\n\nHurry.\n\nNow." },
    { role: "user", content: "Weather?" },
    { role: "assistant", tool_calls: [{ id: "toolu_1" }] },
    { role: "tool", tool_call_id: "toolu_1", content: "25" },
    { role: "user", content: "There." },
  ]);
});

test("a tool loop: whole, streamed, and without arguments", async () => {
  const { client, provider } = await setAnthropicStage();
  const call = callTools(
    { id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
    { id: "call_2", name: "get_weather", arguments: "" },
  );
  provider.respond(call, speak("Sunny"), call);
  const request = { ...hello, tools: [weather] };
  const asked = await client.messages.create(request);
  expect(asked.stop_reason).toBe("tool_use");
  const calls = [
    { type: "tool_use", id: "call_1", name: "get_weather", input: { city: "Rome" } },
    { type: "tool_use", id: "call_2", name: "get_weather", input: {} },
  ];
  expect(asked.content).toEqual(calls);
  const results: Anthropic.ToolResultBlockParam[] = [
    { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "25" }] },
    { type: "tool_result", tool_use_id: "call_2", content: "no city", is_error: true },
  ];
  const messages: Anthropic.MessageParam[] = [
    ...hello.messages,
    { role: "assistant", content: asked.content },
    { role: "user", content: results },
  ];
  const answered = await client.messages.create({ ...request, messages });
  expect(answered.content).toEqual([{ type: "text", text: "Sunny" }]);
  expect((await provider.request(1)).body.messages.slice(1)).toMatchObject([
    { role: "assistant", tool_calls: [{ id: "call_1", function: { arguments: '{"city":"Rome"}' } }, { id: "call_2" }] },
    { role: "tool", tool_call_id: "call_1", content: "25" },
    { role: "tool", tool_call_id: "call_2" },
  ]);
  const streamed = await client.messages.stream(request).finalMessage();
  expect(streamed.content).toEqual(calls);
  expect(streamed.stop_reason).toBe("tool_use");
});

test("a thread of the client is a session: each request has the new messages alone", async () => {
  const { client, provider, service } = await setAnthropicStage();
  provider.respond(speak("Hi Ada"), speak("Ada"), speak("Still Ada"));
  const thread = client.beta.messages.thread({ ...hello, messages: [], system: "Be brief.", tools: [weather] });
  await thread.send({ role: "user", content: "I am Ada" });
  const before = thread.previousMessageId;
  expect((await thread.send({ role: "user", content: "Who?" })).content).toMatchObject([{ text: "Ada" }]);
  const { body } = await provider.request(1);
  expect(body.messages.map(({ content }) => content)).toEqual(["Be brief.", "I am Ada", "Hi Ada", "Who?"]);
  expect(body.tools).toHaveLength(1);
  expect(await query(service.databaseUrl, "select from session where delete_time is null")).toHaveLength(1);
  const more: Anthropic.MessageParam[] = [{ role: "user", content: "Again?" }];
  const continued = (id: string | null) =>
    client.beta.messages.create({
      ...hello,
      messages: more,
      thread: { type: "continue", previous_message_id: id ?? "" },
    });
  await expect(continued(before)).rejects.toThrow(/thread_already_continued/);
  await expect(continued("msg_none")).rejects.toThrow(/thread_not_found/);
});

test("the tool runner of the client ends", async () => {
  const { client, provider } = await setAnthropicStage();
  provider.respond(callTools({ id: "c1", name: "get_weather", arguments: '{"city":"Rome"}' }), speak("Sunny"));
  const runner = client.beta.messages.toolRunner({
    ...hello,
    tools: [{ ...weather, type: "custom" as const, run: () => "25", parse: (input: unknown) => input as object }],
  });
  const last = await runner;
  expect(last.content).toMatchObject([{ type: "text", text: "Sunny" }]);
});

test.each([
  [{ type: "any" }, "required"],
  [{ type: "none" }, "none"],
  [
    { type: "tool", name: "get_weather", disable_parallel_tool_use: true },
    { type: "function", function: { name: "get_weather" } },
  ],
])("tool_choice %j reaches the model", async (choice, expected) => {
  const { client, provider } = await setAnthropicStage();
  provider.respond(speak("x"));
  await client.messages.create({ ...hello, tools: [weather], tool_choice: choice as Anthropic.ToolChoice });
  const { body } = await provider.request(0);
  expect(body.tool_choice).toEqual(expected);
  expect(body.parallel_tool_calls).toBe("name" in choice ? false : undefined);
});

test("digits of long numbers stay, in schemas, calls and histories", async () => {
  const { post, provider } = await setAnthropicStage();
  const long = "2512292042121000001";
  provider.respond(callTools({ id: "c", name: "get_weather", arguments: `{"id":${long}}` }));
  const body = `{"model":"gpt-4o","max_tokens":9,"tools":[{"name":"get_weather","input_schema":{"type":"object","maximum":${long}}}],
    "messages":[{"role":"user","content":"a"},
      {"role":"assistant","content":[{"type":"tool_use","id":"b","name":"get_weather","input":{"id":${long}}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"c"}]}]}`;
  expect(await (await post(body)).text()).toContain(`"input":{"id":${long}}`);
  const { text } = await provider.request(0);
  expect(text).toContain(`"maximum":${long}`);
  expect(text).toContain(`{\\"id\\":${long}}`);
});

test("images of users and of results reach the model, as far as it takes them", async () => {
  const { client, provider, claude } = await setAnthropicStage();
  provider.respond(speak("a dot"));
  claude.respond(onMessages(answer("a dot")));
  const image: Anthropic.ImageBlockParam = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: pngBase64 },
  };
  const messages: Anthropic.MessageParam[] = [
    { role: "user", content: [image, { type: "text", text: "What?" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "b", name: "get_weather", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "b", content: [image] }] },
  ];
  for (const model of [hello.model, "claude-opus-5"]) {
    await client.messages.create({ ...hello, model, tools: [weather], messages });
  }
  expect((await claude.request(0)).text.split(pngBase64)).toHaveLength(3);
  // Chat Completions has no images in results.
  expect((await provider.request(0)).text.split(pngBase64)).toHaveLength(2);
});

test("a document and a search result are text or files for the model", async () => {
  const { client, claude } = await setAnthropicStage();
  claude.respond(onMessages(answer("ok")));
  await client.messages.create({
    ...hello,
    model: "claude-opus-5",
    messages: [
      {
        role: "user",
        content: [
          { type: "document", source: { type: "text", media_type: "text/plain", data: "Dear all" }, title: "Letter" },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK" },
            title: "P",
          },
          { type: "search_result", source: "s", title: "t", content: [{ type: "text", text: "found" }] },
        ],
      },
    ],
  });
  expect((await claude.request(0)).body.messages[0]?.content).toMatchObject([
    { type: "text", text: "Letter\nDear all" },
    { type: "document", source: { type: "base64", data: "JVBERi0xLjQK" }, title: "P" },
    { type: "text", text: "t\ns" },
    { type: "text", text: "found" },
  ]);
});

test("the form of the answer and the effort reach the model", async () => {
  const { client, provider } = await setAnthropicStage();
  provider.respond(speak('{"a":1}'));
  const schema = {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
  };
  const message = await client.messages.create({
    ...hello,
    model: "gpt-5",
    output_config: { effort: "high", format: { type: "json_schema", schema } },
  });
  expect(message.content).toEqual([{ type: "text", text: '{"a":1}' }]);
  expect((await provider.request(0)).body).toMatchObject({
    reasoning_effort: "high",
    response_format: { type: "json_schema", json_schema: { strict: true, schema } },
  });
});

test("a cut answer, and a text of the assistant to continue", async () => {
  const { client, provider } = await setAnthropicStage();
  provider.respond(stopAfter("1, 2", "length"));
  const messages: Anthropic.MessageParam[] = [...hello.messages, { role: "assistant", content: "Count: " }];
  const message = await client.messages.stream({ ...hello, messages, max_tokens: 128_000 }).finalMessage();
  expect(message).toMatchObject({ stop_reason: "max_tokens", content: [{ text: "1, 2" }] });
  const { body } = await provider.request(0);
  expect(body.messages.at(-1)).toEqual({ role: "assistant", content: "Count: " });
  // More than other makers' models write.
  expect(body.max_tokens).toBe(16_384);
});

test.each([
  ["blocks", (line: string) => [line, "Be kind."].map((text) => ({ type: "text" as const, text }))],
  ["a text", (line: string) => `${line}\nBe kind.`],
])(
  "the line of Claude Code for Anthropic's bills is not in the prompt, which would miss each cache: %s",
  async (_, of) => {
    const { client, provider } = await setAnthropicStage();
    for (const [index, hash] of ["36ee5", "0aaa9"].entries()) {
      provider.respond(speak("ok"));
      const system = of(`x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=${hash};`);
      await client.messages.create({ ...hello, system });
      expect((await provider.request(index)).body.messages[0]).toEqual({ role: "system", content: "Be kind." });
    }
  },
);

test("an empty answer at the end is the one that the model writes", async () => {
  const { client, provider } = await setAnthropicStage();
  provider.respond(speak("ok"));
  await client.messages.create({ ...hello, messages: [...hello.messages, { role: "assistant", content: "" }] });
  expect((await provider.request(0)).body.messages).toEqual(hello.messages);
});

test("thoughts of other models come back to them", async () => {
  const { client, provider } = await setAnthropicStage();
  const details = [{ type: "reasoning.encrypted", data: "c2VjcmV0", index: 0 }];
  provider.respond((wire) => {
    wire.delta({ reasoning_details: details, reasoning: "Hm. " });
    wire.delta({ reasoning_content: "Hm. " });
    wire.toolCalls({ index: 0, id: "c1", name: "get_weather", arguments: "{}" });
    wire.done("tool_calls");
  }, speak("Sunny"));
  const thinking: Anthropic.ThinkingConfigParam = { type: "adaptive" };
  const request = { ...hello, tools: [weather], thinking };
  const asked = await client.messages.stream(request).finalMessage();
  expect(asked.content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
  await client.messages.create({
    ...request,
    messages: [
      ...hello.messages,
      { role: "assistant", content: asked.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "25" }] },
    ],
  });
  const [, answer] = (await provider.request(1)).body.messages;
  expect(answer).toMatchObject({ role: "assistant", reasoning_details: details, tool_calls: [{ id: "c1" }] });
});

test("a caller that leaves cancels its run", async () => {
  await leave(await setAnthropicStage());
});

/** Leaves a message in its middle, and waits for the cancel of its run. */
async function leave({ client, provider, service }: Awaited<ReturnType<typeof setAnthropicStage>>): Promise<void> {
  provider.respond(hangAfter("Never "));
  const stream = client.messages.stream(hello);
  const aborted = expect(stream.done()).rejects.toThrow(Anthropic.APIUserAbortError);
  stream.on("text", () => stream.abort());
  await aborted;
  const cancelled = "select from run where status = 'cancelled'";
  await until("the run to be cancelled", async () => (await query(service.databaseUrl, cancelled)).length === 1);
}

test.each([
  ["a session of its own", {}],
  ["a named session", { "runnel-session": "work" }],
])(
  "a caller with an Idempotency-Key in %s is refused, leaves, and gets the answer by the same request",
  async (_, named) => {
    const stage = await setAnthropicStage();
    const { client, provider, service } = stage;
    const rest = Promise.withResolvers<void>();
    provider.respond(holdAfter("half", rest.promise, " and half"));
    const headers = { "Idempotency-Key": "key-1", ...named };
    const refused = client.messages.create({ ...hello, tool_choice: { type: "tool", name: "absent" } }, { headers });
    await expect(refused).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    const lost = client.messages.stream(hello, { headers });
    const aborted = expect(lost.done()).rejects.toThrow(Anthropic.APIUserAbortError);
    lost.on("text", () => lost.abort());
    await aborted;
    // The service, which notices that this later caller has left, knows it of the first one too.
    await leave(stage);
    const again = client.messages.create(hello, { headers });
    rest.resolve();
    expect((await again).content).toEqual([{ type: "text", text: "half and half" }]);
    expect(await query(service.databaseUrl, "select from run")).toHaveLength(2);
  },
);

test.each([
  [429, '{"error":{"message":"slow down","type":"rate_limit"}}', Anthropic.RateLimitError, 429, "rate_limit_error"],
  [
    400,
    '{"error":{"message":"too long","code":"context_length_exceeded"}}',
    Anthropic.BadRequestError,
    400,
    "invalid_request_error",
  ],
  [401, '{"error":{"message":"bad key"}}', Anthropic.AuthenticationError, 401, "authentication_error"],
  [404, '{"error":{"message":"no model"}}', Anthropic.NotFoundError, 404, "not_found_error"],
  [429, '{"error":{"message":"no money","code":"insufficient_quota"}}', Anthropic.APIError, 402, "billing_error"],
] as const)(
  "a provider's %i raises its class: %s",
  async (status, body, kind, expected, type) => {
    const { client, provider } = await setAnthropicStage();
    for (const stream of [false, true]) {
      provider.respond(...Array.from({ length: 4 }, () => fail(status, body)));
      const error = await Promise.resolve(client.messages.create({ ...hello, stream })).then(
        () => expect.unreachable("the call should have failed"),
        (failure: unknown) => failure,
      );
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({
        status: expected,
        error: { type: "error", error: { type, message: expect.any(String) }, request_id: expect.any(String) },
      });
      if (expected === 400) {
        expect(String(error)).toContain("prompt is too long");
      }
    }
  },
  30_000,
);

test("an overloaded provider is 529, and a withheld answer is a refusal", async () => {
  const { client, claude, provider } = await setAnthropicStage();
  const overloaded = fail(529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
  claude.respond(overloaded, overloaded, overloaded, overloaded);
  await expect(client.messages.create({ ...hello, model: "claude-opus-5" })).rejects.toMatchObject({ status: 529 });
  provider.respond(stopAfter("I ", "content_filter"));
  const refused = await client.messages.create(hello);
  expect(refused).toMatchObject({ stop_reason: "refusal" });
}, 30_000);

test("wrong requests are named, keys are asked for, and other routes say what there is", async () => {
  const { client, service, post } = await setAnthropicStage();
  const messageOf = async (body: unknown) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe("invalid_request_error");
    return error.message;
  };
  expect(await messageOf({ ...hello, max_tokens: undefined })).toBe("max_tokens: is missing");
  expect(await messageOf({ ...hello, messages: [] })).toBe("messages: give at least one message");
  expect(await messageOf("{")).toMatch(/not JSON/);
  const file = { type: "image", source: { type: "file", file_id: "f" } };
  expect(await messageOf({ ...hello, messages: [{ role: "user", content: [file] }] })).toMatch(/keeps no files/);
  const unknown = { type: "tool_result", tool_use_id: "none", content: "x" };
  expect(await messageOf({ ...hello, messages: [{ role: "user", content: [unknown] }] })).toMatch(/no open call/);
  await expect(client.messages.create({ ...hello, model: "unknown" })).rejects.toThrow(Anthropic.NotFoundError);
  await expect(client.messages.batches.list()).rejects.toThrow(
    /there is no GET \/v1\/messages\/batches; .*count_tokens/,
  );
  const misled = new Anthropic({ baseURL: `${service.url}/v1`, apiKey: client.apiKey, maxRetries: 0 });
  await expect(misled.messages.create(hello)).rejects.toThrow(
    "there is no POST /v1/v1/messages; this service has POST",
  );
  const stranger = new Anthropic({ baseURL: service.url, apiKey: "wrong", maxRetries: 0 });
  await expect(stranger.messages.create(hello)).rejects.toThrow(Anthropic.AuthenticationError);
  const bearer = new Anthropic({ baseURL: service.url, authToken: client.apiKey ?? "", apiKey: null, maxRetries: 0 });
  expect((await bearer.models.list()).data.length).toBeGreaterThan(0);
});

test("models are in the form that the request's headers ask for", async () => {
  const { client, service } = await setAnthropicStage();
  const all = await Array.fromAsync(client.models.list({ limit: 2 }));
  expect(all.map(({ id }) => id)).toContain("gpt-4o-mini");
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(await client.models.retrieve("openai:any-name")).toMatchObject({ type: "model", id: "openai:any-name" });
  await expect(client.models.retrieve("unknown")).rejects.toThrow(Anthropic.NotFoundError);
  await expect(client.models.list({ after_id: "unknown" })).rejects.toThrow("after_id: must be the id of a model");
  const headers = { authorization: `Bearer ${client.apiKey}` };
  const plain = await fetch(`${service.url}/v1/models`, { headers });
  expect(await plain.json()).toMatchObject({ object: "list" });
});

test("tokens are counted", async () => {
  const { client, provider } = await setAnthropicStage();
  const { messages, model } = hello;
  const short = await client.messages.countTokens({ model, messages });
  const long = await client.messages.countTokens({ model, messages, tools: [weather], system: "Be kind." });
  expect(short.input_tokens).toBeGreaterThan(0);
  expect(long.input_tokens).toBeGreaterThan(short.input_tokens);
  expect(provider.requests).toEqual([]);
});

test("tokens for Claude are counted by Anthropic, and estimated when it does not", async () => {
  const { client, claude } = await setAnthropicStage();
  claude.respond(fail(200, '{"input_tokens":4711}'), fail(404, "no such route"));
  const { messages } = hello;
  const counted = { model: "claude-opus-4-8", messages, tools: [weather], thinking: { type: "adaptive" as const } };
  expect(await client.beta.messages.countTokens({ ...counted, betas: ["a-beta"] })).toEqual({ input_tokens: 4711 });
  const { path, headers, body } = await claude.request(0);
  expect(path).toBe("/v1/messages/count_tokens");
  expect(headers).toMatchObject({ "x-api-key": "test-key", "anthropic-beta": expect.stringContaining("a-beta") });
  expect(body).toMatchObject({ model: counted.model, thinking: counted.thinking, tools: [weather] });
  const { input_tokens: estimate } = await client.messages.countTokens(counted);
  expect(estimate).toBeLessThan(4711);
  expect(estimate).toBeGreaterThan(0);
});

test("a named session keeps its runs, and each request decides what the model sees", async () => {
  const { client, provider, service } = await setAnthropicStage();
  provider.respond(speak("one"), speak("two"), speak("side"));
  const named = { headers: { "x-claude-code-session-id": "5f1c-a" } };
  await client.messages.create(hello, named);
  await client.messages.create({ ...hello, messages: conversation, system: "Be brief." }, named);
  const other = { headers: { "runnel-session": "5f1c-a" } };
  await client.messages.create(hello, other);
  expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual([
    "Be brief.",
    "I am Ada",
    "Hi",
    "Who?\nSay it.",
  ]);
  const runs = await query<{ name: string }>(
    service.databaseUrl,
    "select session.name from run join session on session.id = run.session where session.delete_time is null",
  );
  expect(runs).toEqual([{ name: "5f1c-a" }, { name: "5f1c-a" }, { name: "5f1c-a" }]);
  const stranger = anthropicClient(service.url, "stranger");
  provider.respond(speak("alone"));
  await stranger.messages.create(hello, named);
  expect((await provider.request(3)).body.messages).toHaveLength(1);
});

test("a request that is refused makes no named session", async () => {
  const { client, service } = await setAnthropicStage();
  const absent = { ...hello, tool_choice: { type: "tool" as const, name: "absent" } };
  const refused = client.messages.create(absent, { headers: { "runnel-session": "work" } });
  await expect(refused).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  const kept = await fetch(`${service.url}/v1/sessions`, { headers: { authorization: `Bearer ${client.apiKey}` } });
  expect(await kept.json()).not.toHaveProperty("sessions.0");
});

test("two questions of a named session at once are both answered", async () => {
  const { client, provider } = await setAnthropicStage();
  const arrived = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    await arrived.promise;
    wire.text("one");
    wire.done("stop");
  }, speak("two"));
  const named = { headers: { "runnel-session": "busy" } };
  const first = client.messages.create(hello, named).then(({ content }) => content);
  await provider.request(0);
  expect((await client.messages.create(hello, named)).content).toEqual([{ type: "text", text: "two" }]);
  arrived.resolve();
  expect(await first).toEqual([{ type: "text", text: "one" }]);
});

test("a tool keeps a name that is too long for the model, in answers, in streams and in the history", async () => {
  const { client, provider } = await setAnthropicStage();
  const name = `mcp__server__${"x".repeat(80)}`;
  const tool = { ...weather, name };
  const short = expect.stringMatching(/^mcp__server__x{42}_[0-9a-f]{8}$/);
  let known = "";
  const callIt: Script = async (wire, request) => {
    known = (request.body.tools as { function: { name: string } }[])[0]?.function.name ?? "";
    await callTools({ id: "call_1", name: known, arguments: "{}" })(wire, request);
  };
  provider.respond(callIt, callIt, speak("done"));
  const asked = { ...hello, tools: [tool], tool_choice: { type: "tool" as const, name } };
  const { content } = await client.messages.create(asked);
  expect(content).toMatchObject([{ type: "tool_use", name }]);
  expect(known).toEqual(short);
  expect((await provider.request(0)).body.tool_choice).toEqual({ type: "function", function: { name: known } });
  expect((await client.messages.stream(asked).finalMessage()).content).toMatchObject([{ type: "tool_use", name }]);
  const result = { type: "tool_result" as const, tool_use_id: "call_1", content: "25" };
  const messages: Anthropic.MessageParam[] = [
    ...hello.messages,
    { role: "assistant", content },
    { role: "user", content: [result] },
  ];
  await client.messages.create({ ...hello, tools: [tool], messages });
  const { body } = await provider.request(2);
  expect(body.messages[1]).toMatchObject({ tool_calls: [{ function: { name: known } }] });
});

const toolsOf = (count: number) => Array.from({ length: count }, (_, place) => ({ ...weather, name: `tool_${place}` }));

test("a program may bring 1,024 tools", async () => {
  const { client, provider } = await setAnthropicStage();
  await client.messages.create({ ...hello, tools: toolsOf(1024) });
  const { body } = await provider.request(0);
  expect(body.tools).toHaveLength(1024);
});

test.each<[object, RegExp]>([
  [{ tools: toolsOf(1025) }, /"invalid tools: must contain no more than 1024/],
  [{ top_p: 7 }, /"invalid top_p: /],
  [{ stop_sequences: toolsOf(17).map(({ name }) => name) }, /"invalid stop_sequences: /],
])("a wrong field is refused by the program's own name (%#)", async (wrong, message) => {
  const { client } = await setAnthropicStage();
  await expect(client.messages.create({ ...hello, ...wrong })).rejects.toThrow(message);
});
