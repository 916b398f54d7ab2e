// Conversations that programs fill themselves, by the official Node client.

import type OpenAI from "openai";
import { expect, test } from "vitest";
import { until } from "../harness/wait.ts";
import { setOpenAiStage, speak } from "./stage.ts";

const items: OpenAI.Responses.ResponseInputItem[] = [
  { role: "user", content: "Weather?" },
  { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
];
const rest: OpenAI.Responses.ResponseInputItem[] = [
  { type: "function_call_output", call_id: "call_1", output: "25" },
  { role: "assistant", content: "It is sunny.", type: "message" },
];

test("items at the beginning and later are what the model sees", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("Yes."));
  const { id } = await client.conversations.create({ metadata: { topic: "weather" }, items });
  const added = await client.conversations.items.create(id, { items: rest });
  expect(added).toMatchObject({
    object: "list",
    data: [{ type: "function_call_output" }, { type: "message", role: "assistant" }],
    has_more: false,
  });
  const { data } = await client.conversations.items.list(id, { order: "asc" });
  expect(data.slice(2)).toEqual(added.data);
  for (const item of data) {
    expect(await client.conversations.items.retrieve(item.id ?? "", { conversation_id: id })).toEqual(item);
  }
  const unknown = client.conversations.items.retrieve("msg_none", { conversation_id: id });
  await expect(unknown).rejects.toMatchObject({ status: 404, message: expect.stringContaining("msg_none") });
  const response = await client.responses.create({ model: "gpt-4o", input: "Sure?", conversation: id });
  expect(response.output_text).toBe("Yes.");
  expect((await provider.request(0)).body.messages).toMatchObject([
    { role: "user", content: "Weather?" },
    { role: "assistant", tool_calls: [{ id: "call_1" }] },
    { role: "tool", content: "25" },
    { role: "assistant", content: "It is sunny." },
    { role: "user", content: "Sure?" },
  ]);
});

test("the metadata of a conversation is replaced", async () => {
  const { client } = await setOpenAiStage();
  const { id } = await client.conversations.create({ metadata: { topic: "weather" } });
  const changed = { id, object: "conversation", metadata: { topic: "time" } };
  expect(await client.conversations.update(id, { metadata: { topic: "time" } })).toMatchObject(changed);
  expect(await client.conversations.retrieve(id)).toMatchObject(changed);
  for (const call of [
    () => client.conversations.update("conv_none", { metadata: {} }),
    () => client.conversations.items.create("conv_none", { items }),
  ]) {
    await expect(call()).rejects.toMatchObject({ status: 404, code: "not_found" });
  }
});

test("an item can be deleted, and a call goes with its answer", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("Yes."));
  const { id } = await client.conversations.create({ items });
  await client.conversations.items.create(id, { items: rest });
  const list = async () => (await client.conversations.items.list(id, { order: "asc" })).data;
  const [, call] = await list();
  expect(await client.conversations.items.delete(call?.id ?? "", { conversation_id: id })).toMatchObject({ id });
  expect((await list()).map(({ type }) => type)).toEqual(["message", "message"]);
  const gone = client.conversations.items.delete(call?.id ?? "", { conversation_id: id });
  await expect(gone).rejects.toMatchObject({ status: 404 });
  const response = await client.responses.create({ model: "gpt-4o", input: "Sure?", conversation: id });
  const next = await client.responses.create({ model: "gpt-4o", input: "x", previous_response_id: response.id });
  expect(next.conversation).toEqual({ id });
  expect((await provider.request(0)).body.messages.map(({ content }) => content)).toEqual([
    "Weather?",
    "It is sunny.",
    "Sure?",
  ]);
});

test("a conversation takes no items while a response works in it, nor an answer to no call", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(async (wire) => {
    await wire.hang();
  });
  const { id: conversation } = await client.conversations.create({});
  await expect(client.conversations.items.create(conversation, { items: rest })).rejects.toMatchObject({ status: 400 });
  const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi", conversation, background: true });
  await until("the request", () => provider.requests.length === 1);
  const adding = client.conversations.items.create(conversation, { items });
  await expect(adding).rejects.toMatchObject({ status: 400, code: "conversation_locked" });
  await client.responses.cancel(id);
});

test("the same Idempotency-Key adds items once", async () => {
  const { client } = await setOpenAiStage();
  const { id } = await client.conversations.create({});
  const headers = { "Idempotency-Key": "key-1" };
  for (let attempt = 0; attempt < 2; attempt++) {
    await client.conversations.items.create(id, { items: [{ role: "user", content: "1" }] }, { headers });
  }
  expect((await client.conversations.items.list(id)).data).toHaveLength(1);
});

test("pages go on after an item that was deleted meanwhile, and an id of another list is refused", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("x"));
  const numbers = ["1", "2", "3", "4"];
  const { id } = await client.conversations.create({ items: numbers.map((content) => ({ role: "user", content })) });
  for (const order of ["desc", "asc"] as const) {
    const page = await client.conversations.items.list(id, { limit: 2, order });
    const after = page.data[1]?.id ?? "";
    await client.conversations.items.delete(after, { conversation_id: id });
    const next = await client.conversations.items.list(id, { limit: 2, order, after });
    const known = page.data.map((item) => item.id);
    expect(next.data.filter((item) => known.includes(item.id))).toEqual([]);
    expect(next.data.length).toBeGreaterThan(0);
  }
  const refused = { status: 400, param: "after" };
  await expect(client.conversations.items.list(id, { after: "msg_other_1" })).rejects.toMatchObject(refused);
  const { id: response } = await client.responses.create({ model: "gpt-4o", input: "Hi" });
  await expect(client.responses.inputItems.list(response, { after: "msg_other_1" })).rejects.toMatchObject(refused);
});

test("a conversation whose items are refused, and a fork whose message is refused, are not made", async () => {
  const { client, provider, service } = await setOpenAiStage();
  const asked = client.conversations.create({
    items: [{ type: "function_call_output", call_id: "none", output: "x" }],
  });
  await expect(asked).rejects.toMatchObject({ status: 400 });
  const list = () => fetch(`${service.url}/v1/sessions`, { headers: { authorization: `Bearer ${client.apiKey}` } });
  expect(await (await list()).json()).not.toHaveProperty("sessions.0");
  provider.respond(speak("1"), speak("2"));
  const { id } = await client.responses.create({ model: "gpt-4o", input: "one" });
  const next = { model: "gpt-4o", input: "two", previous_response_id: id };
  await client.responses.create(next);
  await expect(client.responses.create({ ...next, temperature: 9 })).rejects.toMatchObject({ param: "temperature" });
  expect(await (await list()).json()).not.toHaveProperty("sessions.1");
});
