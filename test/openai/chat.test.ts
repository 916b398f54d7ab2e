// Chat Completions by the official Node client.

import OpenAI from "openai";
import { expect, test } from "vitest";
import { callTools, hangAfter, holdAfter } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { setOpenAiStage, speak } from "./stage.ts";

const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "I am Ada" },
  { role: "assistant", content: "Hi" },
  { role: "user", content: [{ type: "text", text: "Who?" }] },
];

test("a whole completion, with the given history", async () => {
  const { client, provider, service } = await setOpenAiStage();
  provider.respond(speak("A", "da"));
  const completion = await client.chat.completions.create({ model: "gpt-4o", messages, max_completion_tokens: 9 });
  expect(completion).toMatchObject({
    object: "chat.completion",
    model: "gpt-4o",
    choices: [{ index: 0, message: { role: "assistant", content: "Ada", refusal: null }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
  });
  const { body } = await provider.request(0);
  expect(body).toMatchObject({ model: "gpt-4o", max_tokens: 9 });
  expect(body.messages.map(({ role, content }) => [role, content])).toEqual([
    ["system", "Be brief."],
    ["user", "I am Ada"],
    ["assistant", "Hi"],
    ["user", "Who?"],
  ]);
  const sessions = () => query(service.databaseUrl, "select from session where delete_time is null");
  await until("the session to be deleted", async () => (await sessions()).length === 0);
});

test("a stream ends with its usage, and its pieces are the text", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("One ", "two"));
  const stream = await client.chat.completions.create({
    model: "gpt-4o",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? "").join("")).toBe("One two");
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 9 } });
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
});

test("a caller's function, its output and the answer, by the helper too", async () => {
  const { client, provider } = await setOpenAiStage();
  const call = callTools({ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' });
  provider.respond(call, speak("Sunny"), call, speak("Still sunny"));
  const tool: OpenAI.Chat.ChatCompletionTool = {
    type: "function",
    function: { name: "get_weather", parameters: { type: "object" } },
  };
  const asked = await client.chat.completions.create({ model: "gpt-4o", messages, tools: [tool] });
  const [choice] = asked.choices;
  expect(choice).toMatchObject({
    finish_reason: "tool_calls",
    message: { content: null, tool_calls: [{ id: "call_1" }] },
  });
  const next = [...messages, choice?.message, { role: "tool", tool_call_id: "call_1", content: "25" }];
  const answered = await client.chat.completions.create({
    model: "gpt-4o",
    messages: next as OpenAI.Chat.ChatCompletionMessageParam[],
    tools: [tool],
  });
  expect(answered.choices[0]?.message.content).toBe("Sunny");
  const runner = client.chat.completions.runTools({
    model: "gpt-4o",
    messages: [{ role: "user", content: "Weather?" }],
    stream: true,
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          parameters: { type: "object" },
          parse: JSON.parse,
          function: () => "26",
          description: "x",
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe("Still sunny");
});

test("tools of the service stay unseen", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(callTools({ id: "c", name: "list_dir", arguments: "{}" }), speak("done"));
  const tools = [
    { type: "mcp", server_label: "runnel", allowed_tools: ["list_dir"] },
  ] as unknown as OpenAI.Chat.ChatCompletionTool[];
  const { choices } = await client.chat.completions.create({ model: "gpt-4o", messages, tools });
  expect(choices[0]?.message).toMatchObject({ content: "done" });
  expect(choices[0]?.message.tool_calls).toBeUndefined();
});

test("a failure raises, whole and streamed", async () => {
  const { client, provider } = await setOpenAiStage();
  const refusing = (wire: { reply: (status: number, body: string) => void }) =>
    wire.reply(401, '{"error":{"message":"no"}}');
  provider.respond(refusing, refusing);
  for (const stream of [false, true]) {
    const asked = client.chat.completions.create({ model: "gpt-4o", messages, stream });
    await expect(asked).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  }
});

test("a stream that fails after its first words raises while it is read", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond((wire) => {
    wire.text("half");
    wire.frame({ error: { message: "engine fell over" } });
  });
  const stream = await client.chat.completions.create({ model: "gpt-4o", messages, stream: true });
  await expect(Array.fromAsync(stream)).rejects.toBeInstanceOf(OpenAI.APIError);
});

test("a caller that leaves cancels its run", async () => {
  await leave(await setOpenAiStage());
});

/** Leaves a completion in its middle, and waits for the cancel of its run. */
async function leave({ client, provider, service }: Awaited<ReturnType<typeof setOpenAiStage>>): Promise<void> {
  provider.respond(hangAfter("half"));
  const leaving = new AbortController();
  const stream = await client.chat.completions.create(
    { model: "gpt-4o", messages, stream: true },
    { signal: leaving.signal },
  );
  for await (const { choices } of stream) {
    if (choices[0]?.delta.content === "half") {
      leaving.abort();
    }
  }
  const cancelled = "select from run where status = 'cancelled'";
  await until("the cancel", async () => (await query(service.databaseUrl, cancelled)).length === 1);
}

test("a refused request leaves its Idempotency-Key free for the next attempt", async () => {
  const { client, provider } = await setOpenAiStage({ sessionsMaxConcurrent: 1 });
  provider.respond(hangAfter("busy"), speak("x"));
  const first = await client.responses.create({ model: "gpt-4o", input: "Hi", background: true });
  await provider.request(0);
  const ask = (key: string, temperature: number) =>
    client.chat.completions.create({ model: "gpt-4o", messages, temperature }, { headers: { "Idempotency-Key": key } });
  await expect(ask("key-1", 9)).rejects.toMatchObject({ status: 400 });
  await expect(ask("key-1", 1)).rejects.toMatchObject({ status: 429 });
  await client.responses.cancel(first.id);
  const { id, choices } = await ask("key-1", 1);
  expect(choices[0]?.message.content).toBe("x");
  expect((await ask("key-1", 1)).id).toBe(id);
});

test("a caller with an Idempotency-Key that loses its connection gets the answer by the same request", async () => {
  const stage = await setOpenAiStage();
  const { client, provider, service } = stage;
  const rest = Promise.withResolvers<void>();
  provider.respond(holdAfter("half", rest.promise, " and half"));
  const headers = { "Idempotency-Key": "key-1" };
  const leaving = new AbortController();
  const ask = { model: "gpt-4o", messages };
  const lost = client.chat.completions.create(ask, { headers, signal: leaving.signal });
  await provider.request(0);
  leaving.abort();
  await expect(lost).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
  // The service, which notices that this later caller has left, knows it of the first one too.
  await leave(stage);
  const again = client.chat.completions.create(ask, { headers });
  rest.resolve();
  expect((await again).choices[0]?.message.content).toBe("half and half");
  expect(await query(service.databaseUrl, "select from run")).toHaveLength(2);
});

test.each<[object, string]>([
  [{ n: 2 }, "n"],
  [{ min_p: 0.1 }, "min_p"],
  [{ response_format: { type: "grammar" } }, "response_format.type"],
  [{ tool_choice: { type: "web_search" } }, "tool_choice.type"],
  [{ audio: { voice: "x" } }, "audio"],
  [{ messages: [{ role: "user", content: [{ type: "video_url" }] }] }, "messages[0].content[0].type"],
  [
    { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
    "messages[0].content[0].file.file_id",
  ],
])("%j is refused by its name", async (body, param) => {
  const { client } = await setOpenAiStage();
  const asking = client.chat.completions.create({
    model: "gpt-4o",
    messages,
    ...body,
  } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming);
  await expect(asking).rejects.toMatchObject({ status: 400, code: "unsupported_parameter", param });
});
