// The acceptance list of OpenAI's Responses API, by the official Node client.

import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { Approval_Decision } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { callTools, hangAfter, stopAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { lastResponse, openAiClient, setOpenAiStage, speak, textOfEvents } from "./stage.ts";

const weather: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "Tells the weather",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
};

test("models.list; plain create: the text is the run's output, and the usage adds up", async () => {
  const { client, provider } = await setOpenAiStage();
  expect((await client.models.list()).data[0]).toMatchObject({
    id: "gpt-4o-mini",
    object: "model",
    owned_by: "openai",
  });
  expect(await client.models.retrieve("gpt-4o-mini")).toMatchObject({ id: "gpt-4o-mini" });
  expect(await client.models.retrieve("openai:org/own")).toMatchObject({ id: "openai:org/own", owned_by: "openai" });
  await expect(client.models.retrieve("llama-9")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  provider.respond(speak("Hello, ", "you"));
  const response = await client.responses.create({
    model: "gpt-4o",
    input: "Hi",
    instructions: "Be brief.",
    temperature: 0.5,
    max_output_tokens: 99,
    metadata: { ticket: "7" },
  });
  expect(response).toMatchObject({
    object: "response",
    status: "completed",
    output_text: "Hello, you",
    model: "gpt-4o",
    instructions: "Be brief.",
    temperature: 0.5,
    max_output_tokens: 99,
    metadata: { ticket: "7" },
    error: null,
    usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
  });
  const { body } = await provider.request(0);
  expect(body).toMatchObject({ model: "gpt-4o", temperature: 0.5, max_tokens: 99 });
  expect(body.messages).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
  ]);
  expect(await client.responses.retrieve(response.id)).toEqual(response);
});

test("raw stream: numbers without gaps, one terminal event, deltas joined are the text", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(async (wire) => {
    wire.reasoning("Let me ");
    wire.reasoning("think");
    await speak("One ", "two ", "three")(wire, undefined as never);
  });
  const events = await Array.fromAsync(await client.responses.create({ model: "gpt-4o", input: "Hi", stream: true }));
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.reasoning_summary_part.added",
    ...events.flatMap(({ type }) => (type === "response.reasoning_summary_text.delta" ? [type] : [])),
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.content_part.added",
    ...events.flatMap(({ type }) => (type === "response.output_text.delta" ? [type] : [])),
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(textOfEvents(events)).toBe("One two three");
  const final = lastResponse(events);
  expect(final.output).toMatchObject([
    { type: "reasoning", summary: [{ type: "summary_text", text: "Let me think" }] },
    { type: "message", status: "completed", content: [{ type: "output_text", text: "One two three" }] },
  ]);
  expect(await client.responses.retrieve(final.id)).toMatchObject(JSON.parse(JSON.stringify(final)));
});

test("the helper's final response is what retrieve gives", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("a ", "b ", "c"));
  const final = await client.responses.stream({ model: "gpt-4o", input: "Hi" }).finalResponse();
  expect(final.output_text).toBe("a b c");
  expect(await client.responses.retrieve(final.id)).toMatchObject({ output: [{ content: [{ text: "a b c" }] }] });
});

test("background: queued at once, polled to completed", async () => {
  const { client, provider } = await setOpenAiStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    await gate.promise;
    wire.text("late");
    wire.done("stop");
  });
  const { id, status } = await client.responses.create({ model: "gpt-4o", input: "Hi", background: true });
  expect(status).toBe("queued");
  await until("the run to begin", async () => (await client.responses.retrieve(id)).status === "in_progress");
  gate.resolve();
  await until("the end", async () => (await client.responses.retrieve(id)).status === "completed");
  expect((await client.responses.retrieve(id)).output_text).toBe("late");
});

test("a run that waits for a person is in progress until it is approved", async () => {
  const { client, provider, service } = await setOpenAiStage();
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), speak("done"));
  const grpc = new GrpcClient(service.target);
  const agent = { name: "careful", tools: { builtin: ["list_dir"], approve: ["list_dir"] } };
  const { sessionId } = await grpc.call(SessionService.method.createSession, { agent });
  const conversation = `conv_${sessionId}`;
  const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi", conversation, background: true });
  const { approvalId, digest } = await until("the question", async () => {
    const { approvals } = await grpc.call(ApprovalService.method.listApprovals, {});
    return approvals[0];
  });
  expect((await client.responses.retrieve(id)).status).toBe("in_progress");
  const decision = Approval_Decision.APPROVE;
  await grpc.call(ApprovalService.method.decideApproval, { approvalId, digest, decision });
  await until("the end", async () => (await client.responses.retrieve(id)).status === "completed");
});

test("a cut after event 10 and a resume give what an uninterrupted reading gives; a late reader gets the same", async () => {
  const { client, provider } = await setOpenAiStage();
  const cut = Promise.withResolvers<void>();
  let heard = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    for (let word = 0; word < 30; word++) {
      wire.text(`word${word} `);
      // Words that arrive together may become one event.
      await Promise.race([heard.promise, cut.promise]);
      heard = Promise.withResolvers();
    }
    await speak("end")(wire, undefined as never);
  });
  const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of await client.responses.create({
    model: "gpt-4o",
    input: "Hi",
    stream: true,
    background: true,
  })) {
    seen.push(event);
    if (event.sequence_number === 10) {
      break;
    }
    if (event.type === "response.output_text.delta") {
      heard.resolve();
    }
  }
  cut.resolve();
  const [created] = seen;
  const id = created?.type === "response.created" ? created.response.id : "";
  expect(seen[1]?.type).toBe("response.queued");
  const rest = await Array.fromAsync(await client.responses.retrieve(id, { stream: true, starting_after: 10 }));
  expect(rest[0]?.sequence_number).toBe(11);
  const whole = await Array.fromAsync(await client.responses.retrieve(id, { stream: true }));
  expect([...seen, ...rest]).toEqual(whole);
  expect(textOfEvents(whole).endsWith("word29 end")).toBe(true);
  const helped = client.responses.stream({ response_id: id, starting_after: 10 });
  expect((await helped.finalResponse()).output_text).toBe(textOfEvents(whole));
});

test("the tools of the service are mcp calls, one of them failing", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(
    callTools(
      { id: "call_1", name: "list_dir", arguments: '{"path":"."}' },
      { id: "call_2", name: "read_file", arguments: '{"file_path":"missing.txt"}' },
    ),
    speak("done"),
  );
  const tools: OpenAI.Responses.Tool[] = [
    {
      type: "mcp",
      server_label: "runnel",
      server_url: "https://runnel.invalid",
      allowed_tools: ["list_dir", "read_file"],
      require_approval: "never",
    },
  ];
  const final = await client.responses.stream({ model: "gpt-4o", input: "Look", tools }).finalResponse();
  expect(final.output).toMatchObject([
    { type: "mcp_call", name: "list_dir", server_label: "runnel", status: "completed", output: expect.any(String) },
    { type: "mcp_call", name: "read_file", status: "failed", error: { type: "mcp_tool_execution_error" } },
    { type: "message", content: [{ text: "done" }] },
  ]);
  const next = await client.responses.create({
    model: "gpt-4o",
    input: [...final.output, { role: "user", content: "x" }] as OpenAI.Responses.ResponseInput,
  });
  expect(next.status).toBe("completed");
});

describe("a caller's function", () => {
  test("its call, its output, the answer", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(callTools({ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }), speak("Sunny"));
    const tools = [weather];
    const asked = await client.responses.stream({ model: "gpt-4o", input: "Weather?", tools }).finalResponse();
    expect(asked).toMatchObject({ status: "completed", tools: [{ name: "get_weather" }] });
    expect(asked.output).toMatchObject([
      { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
    ]);
    const input: OpenAI.Responses.ResponseInput = [{ type: "function_call_output", call_id: "call_1", output: "25" }];
    const answered = await client.responses.create({ model: "gpt-4o", previous_response_id: asked.id, input, tools });
    expect(answered.output_text).toBe("Sunny");
    expect((await provider.request(1)).body.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_1" }] },
      { role: "tool", tool_call_id: "call_1", content: "25" },
    ]);
    const items = await client.responses.inputItems.list(answered.id);
    expect(items.data).toMatchObject([{ type: "function_call_output", call_id: "call_1", output: "25" }]);
  });

  test("an output without a call is refused by its name", async () => {
    const { client } = await setOpenAiStage();
    const input: OpenAI.Responses.ResponseInput = [{ type: "function_call_output", call_id: "call_9", output: "25" }];
    await expect(client.responses.create({ model: "gpt-4o", input })).rejects.toMatchObject({
      status: 400,
      param: "input",
      message: expect.stringContaining("answers no open call"),
    });
  });
});

test("three turns by conversation; a message meanwhile is conversation_locked", async () => {
  const { client, provider } = await setOpenAiStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(speak("one"), speak("two"), async (wire) => {
    await gate.promise;
    await speak("three")(wire, undefined as never);
  });
  const { id: conversation } = await client.conversations.create({ metadata: { topic: "x" } });
  for (const input of ["1", "2"]) {
    await client.responses.create({ model: "gpt-4o", input, conversation });
  }
  const third = await client.responses.create({ model: "gpt-4o", input: "3", conversation, background: true });
  const meanwhile = client.responses.create({ model: "gpt-4o", input: "4", conversation });
  await expect(meanwhile).rejects.toMatchObject({ status: 400, code: "conversation_locked" });
  gate.resolve();
  await until("the end", async () => (await client.responses.retrieve(third.id)).status === "completed");
  expect((await provider.request(2)).body.messages.map(({ content }) => content)).toEqual([
    "1",
    "one",
    "2",
    "two",
    "3",
  ]);
  const items = await client.conversations.items.list(conversation, { order: "asc", limit: 100 });
  expect(items.data.map((item) => ("content" in item ? item.content : item))).toMatchObject(
    ["1", "one", "2", "two", "3", "three"].map((text) => [{ text }]),
  );
  expect(await client.conversations.retrieve(conversation)).toMatchObject({ metadata: { topic: "x" } });
  expect(await client.conversations.delete(conversation)).toMatchObject({ deleted: true });
  await expect(client.conversations.retrieve(conversation)).rejects.toMatchObject({ status: 404 });
});

test("two responses on one previous response, at once and later", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("root"));
  const root = await client.responses.create({ model: "gpt-4o", input: "1" });
  const ask = (input: string) => client.responses.create({ model: "gpt-4o", input, previous_response_id: root.id });
  const [left, right] = await Promise.all([ask("left"), ask("right")]);
  const third = await ask("third");
  expect(new Set([left, right, third].map(({ conversation }) => conversation?.id)).size).toBe(3);
  const asked = provider.requests.slice(1).map(({ body }) => body.messages.map(({ content }) => content));
  expect(asked.toSorted()).toEqual([
    ["1", "root", "left"],
    ["1", "root", "right"],
    ["1", "root", "third"],
  ]);
});

test("a cancel in mid-stream ends every reader", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(hangAfter("half of"));
  const stream = await client.responses.create({ model: "gpt-4o", input: "Hi", stream: true });
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === "response.output_text.delta") {
      const [created] = events;
      const id = created?.type === "response.created" ? created.response.id : "";
      expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
      expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
    }
  }
  expect(events.at(-1)?.type).toBe("response.incomplete");
  expect(lastResponse(events)).toMatchObject({ status: "cancelled", output: [{ status: "incomplete" }] });
});

test("a deleted response is gone, as for another key", async () => {
  const { client, service, provider } = await setOpenAiStage();
  provider.respond(speak("x"));
  const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi" });
  const stranger = openAiClient(service.url, "stranger");
  const gone = { status: 404, code: "not_found" };
  await expect(stranger.responses.retrieve(id)).rejects.toMatchObject(gone);
  await expect(stranger.responses.delete(id)).rejects.toMatchObject(gone);
  await client.responses.delete(id);
  await expect(client.responses.retrieve(id)).rejects.toMatchObject(gone);
  await expect(client.responses.delete(id)).rejects.toMatchObject(gone);
  await expect(client.responses.inputItems.list(id)).rejects.toMatchObject(gone);
  await expect(
    client.responses.create({ model: "gpt-4o", input: "x", previous_response_id: id }),
  ).rejects.toMatchObject({
    status: 400,
    code: "previous_response_not_found",
  });
});

test("a body beyond the limit is refused, and the connection is closed", async () => {
  const { service } = await setOpenAiStage({ serverMaxBodyBytes: 100_000 });
  const response = await fetch(`${service.url}/v1/responses`, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", input: "x".repeat(200_000) }),
  });
  expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
  expect(await response.json()).toMatchObject({ error: { code: "request_too_large" } });
});

test("a deleted conversation cannot be continued", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("x"));
  const { id: conversation } = await client.conversations.create({});
  const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi", conversation });
  await client.conversations.delete(conversation);
  const next = client.responses.create({ model: "gpt-4o", input: "x", previous_response_id: id });
  await expect(next).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
});

test("a response that is not stored cannot be retrieved", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("x"));
  const { id, output_text } = await client.responses.create({ model: "gpt-4o", input: "Hi", store: false });
  expect(output_text).toBe("x");
  await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: "not_found" });
});

test("the same Idempotency-Key twice is one run", async () => {
  const { client, provider, service } = await setOpenAiStage();
  provider.respond(speak("x"), speak("y"));
  const headers = { "Idempotency-Key": "key-1" };
  const ask = (input: string, previous_response_id?: string) =>
    client.responses.create(
      { model: "gpt-4o", input, ...(previous_response_id && { previous_response_id }) },
      { headers },
    );
  const [one, other] = await Promise.all([ask("Hi"), ask("Hi")]);
  expect(other).toEqual(one);
  expect(await query(service.databaseUrl, "select from run")).toHaveLength(1);
  await expect(ask("Hello")).rejects.toMatchObject({
    status: 409,
    headers: expect.toSatisfy((sent: Headers) => sent.get("x-should-retry") === "false"),
  });
  const next = { "Idempotency-Key": "key-2" };
  const follow = () =>
    client.responses.create({ model: "gpt-4o", input: "2", previous_response_id: one.id }, { headers: next });
  expect((await follow()).id).toBe((await follow()).id);
  expect(await query(service.databaseUrl, "select from run")).toHaveLength(2);
});

test("a run that failed in the background is a failed response, with Runnel's code", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond((wire) => wire.reply(404, '{"error":{"message":"no such model"}}'));
  const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi", background: true });
  const response = await until("the failure", async () => {
    const now = await client.responses.retrieve(id);
    return now.status === "failed" ? now : undefined;
  });
  expect(response).toMatchObject({ status: "failed", error: { code: "model_not_found", type: "runner.error" } });
});

test("an answer that reached its limit is incomplete", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(stopAfter("cut", "length"));
  expect(await client.responses.create({ model: "gpt-4o", input: "Hi" })).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output_text: "cut",
  });
});

describe("refusals", () => {
  test.each<[object, string]>([
    [{ input: [{ role: "user", content: [{ type: "input_video" }] }] }, "input[0].content[0].type"],
    [{ input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }, "input[0].content[0].file_id"],
    [{ text: { format: { type: "grammar" } } }, "text.format.type"],
    [{ tool_choice: { type: "file_search" } }, "tool_choice.type"],
    [{ prompt: { id: "x" } }, "prompt"],
    [{ nonsense: 1 }, "nonsense"],
  ])("%j is refused by its name, and starts nothing", async (body, param) => {
    const { client, service } = await setOpenAiStage();
    const asking = client.responses.create({
      model: "gpt-4o",
      input: "Hi",
      ...body,
    } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
    await expect(asking).rejects.toMatchObject({ status: 400, code: "unsupported_parameter", param });
    expect(await query(service.databaseUrl, "select from session")).toEqual([]);
  });

  test("wrong values, unknown models and routes, and a wrong key", async () => {
    const { client, service } = await setOpenAiStage();
    const ask = (body: object) =>
      client.responses.create({
        model: "gpt-4o",
        input: "Hi",
        ...body,
      } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
    await expect(ask({ temperature: 7 })).rejects.toMatchObject({ status: 400, param: "temperature" });
    await expect(ask({ temperature: "warm" })).rejects.toMatchObject({ status: 400, param: "temperature" });
    await expect(ask({ instructions: "x".repeat(1_048_577) })).rejects.toThrow("invalid instructions: ");
    await expect(ask({ model: "nope" })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      param: "model",
    });
    await expect(ask({ input: "" })).rejects.toMatchObject({ status: 400, param: "input" });
    await expect(ask({ conversation: "conv_x", previous_response_id: "resp_x" })).rejects.toMatchObject({
      status: 400,
    });
    await expect(ask({ conversation: "conv_unknown" })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("Conversation with id 'conv_unknown' not found."),
    });
    await expect(client.embeddings.create({ model: "x", input: "y" })).rejects.toMatchObject({
      status: 404,
      code: "unknown_url",
      message: expect.stringContaining("POST /v1/responses"),
    });
    for (const base of ["", "/v1/v1"]) {
      const misled = new OpenAI({ baseURL: `${service.url}${base}`, apiKey: client.apiKey, maxRetries: 0 });
      const asking = misled.responses.create({ model: "gpt-4o", input: "Hi" });
      await expect(asking).rejects.toThrow(`POST ${base}/responses. This service has: POST /v1/responses`);
    }
    const wrong = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: "wrong", maxRetries: 2 });
    await expect(wrong.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(wrong.models.list()).rejects.toMatchObject({ code: "invalid_api_key" });
  });

  test("too many runs are a rate limit", async () => {
    const { client, provider } = await setOpenAiStage({ sessionsMaxConcurrent: 1 });
    provider.respond((wire) => wire.hang());
    const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi", background: true });
    await expect(client.responses.create({ model: "gpt-4o", input: "Hi" })).rejects.toBeInstanceOf(
      OpenAI.RateLimitError,
    );
    await client.responses.cancel(id);
  });
});

test("where the service asks for no credentials, every key is taken", async () => {
  const { service, provider } = await setOpenAiStage({ authApiKeys: [] });
  provider.respond(speak("x"));
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: "anything", maxRetries: 0 });
  expect((await client.responses.create({ model: "gpt-4o", input: "Hi" })).output_text).toBe("x");
});

test("a service that stops ends a stream with the error resume, and a whole answer as it is", async () => {
  const { client, provider, service } = await setOpenAiStage({}, { own: true });
  provider.respond(hangAfter("half"), (wire) => wire.hang());
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  const reading = (async () => {
    for await (const event of await client.responses.create({ model: "gpt-4o", input: "Hi", stream: true })) {
      events.push(event);
    }
  })();
  const ended = expect(reading).rejects.toThrow(/starting_after/);
  await until("the text", () => events.some(({ type }) => type === "response.output_text.delta"));
  const asking = client.responses.create({ model: "gpt-4o", input: "Hi" });
  await provider.request(1);
  await service.close();
  await ended;
  expect(await asking).toMatchObject({ status: "in_progress" });
});
