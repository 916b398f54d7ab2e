// The log probabilities of a text, from the wire of each provider to the official Node client.

import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { type LikelyText, likelyText, likelyTexts, likelyTokens } from "../fakes/log-probabilities.ts";
import { callTools } from "../fakes/provider.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { openAiClient, setOpenAiStage, speak } from "./stage.ts";

const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "Hi" }];

async function setStage({ flags }: LikelyText) {
  const server = await openWireServer();
  const service = await startService(flags(server.origin));
  return { server, client: openAiClient(service.url) };
}

/** Returns the tokens as a caller gets them; `noBytes` stands where the provider has sent none. */
function tokensOf({ hasBytes }: LikelyText, noBytes: null | []): object[] {
  return likelyTokens.map((each) => ({
    ...each,
    bytes: hasBytes ? each.bytes : noBytes,
    top_logprobs: each.top_logprobs.map((other) => ({ ...other, bytes: hasBytes ? other.bytes : noBytes })),
  }));
}

describe.each(likelyTexts)("of $name", (provider) => {
  const { model, say, asks } = provider;

  test("are in a chat completion, whole and in the chunks of a stream", async () => {
    const { server, client } = await setStage(provider);
    server.respond(say, say);
    const asked = { model, messages, logprobs: true, top_logprobs: 2 };
    const expected = tokensOf(provider, null);
    const { choices } = await client.chat.completions.create(asked);
    expect(choices).toMatchObject([
      { message: { content: likelyText }, logprobs: { content: expected, refusal: null }, finish_reason: "stop" },
    ]);
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    const pieces = (await Array.fromAsync(stream)).flatMap((chunk) => chunk.choices);
    expect(pieces.map(({ delta }) => delta.content ?? "").join("")).toBe(likelyText);
    expect(pieces.flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(expected);
    expect([pieces[0]?.logprobs, pieces.at(-1)?.logprobs]).toEqual([null, null]);
    expect((await server.request(1)).body).toMatchObject(asks);
  });

  test("are in a response, its events and the response that is read later", async () => {
    const { server, client } = await setStage(provider);
    server.respond(say, say);
    const expected = tokensOf(provider, []);
    const asked = {
      ...{ model, input: "Hi", top_logprobs: 2 },
      include: ["message.output_text.logprobs" as const],
    };
    const { id, output, ...response } = await client.responses.create(asked);
    const content = [{ type: "output_text", text: likelyText, annotations: [], logprobs: expected }];
    expect(output).toMatchObject([{ type: "message", content }]);
    expect(response).toMatchObject({ top_logprobs: 2 });
    expect(await client.responses.retrieve(id)).toMatchObject({ top_logprobs: 2, output: [{ content }] });
    const events = await Array.fromAsync(await client.responses.create({ ...asked, stream: true }));
    const deltas = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event] : []));
    expect(deltas.map(({ delta }) => delta).join("")).toBe(likelyText);
    expect(deltas.flatMap(({ logprobs }) => logprobs)).toEqual(expected);
    for (const end of [
      { type: "response.output_text.done", text: likelyText, logprobs: expected },
      { type: "response.content_part.done", part: content[0] },
      { type: "response.output_item.done", item: expect.objectContaining({ content }) },
    ]) {
      expect(events).toContainEqual(expect.objectContaining(end));
    }
    expect((await server.request(1)).body).toMatchObject(asks);
  });
});

test("of a text before a call are in the choice with the call", async () => {
  const { client, provider } = await setOpenAiStage();
  const call = callTools({ id: "call_1", name: "get_weather", arguments: "{}" });
  const [token] = likelyTokens;
  provider.respond((wire, request) => {
    wire.frame({ choices: [{ index: 0, delta: { content: "Hi" }, logprobs: { content: [token] } }] });
    return call(wire, request);
  });
  const tools = [{ type: "function" as const, function: { name: "get_weather" } }];
  const { choices } = await client.chat.completions.create({ model: "gpt-4o", messages, tools, logprobs: true });
  expect(choices).toMatchObject([{ finish_reason: "tool_calls", logprobs: { content: [token] } }]);
});

test.each<[string, object, object]>([
  ["no number is 0", { logprobs: true }, { logprobs: true, top_logprobs: 0 }],
  ["a number of 0 stays", { logprobs: true, top_logprobs: 0 }, { logprobs: true, top_logprobs: 0 }],
])("in the request of a chat completion: %s", async (_, params, sent) => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("ok"));
  const { choices } = await client.chat.completions.create({ model: "gpt-4o", messages, ...params });
  expect((await provider.request(0)).body).toMatchObject(sent);
  // This provider has sent none.
  expect(choices[0]?.logprobs).toBeNull();
});

test.each<[object, object | undefined]>([
  [{ include: ["message.output_text.logprobs"] }, { logprobs: true, top_logprobs: 0 }],
  [{ top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }],
  [{ top_logprobs: 0, include: [] }, undefined],
])("in the request of a response: %j", async (params, sent) => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("ok"));
  const { output } = await client.responses.create({ model: "gpt-4o", input: "Hi", ...params });
  const { body } = await provider.request(0);
  expect({ logprobs: body.logprobs, top_logprobs: body.top_logprobs }).toEqual(
    sent ?? { logprobs: undefined, top_logprobs: undefined },
  );
  expect(output).toMatchObject([{ content: [{ logprobs: [] }] }]);
});

const asChat = { messages };
const asResponse = { input: "Hi" };

test.each<[object, string, string]>([
  [{ ...asChat, top_logprobs: 2 }, "top_logprobs", "set logprobs to true, too"],
  [{ ...asChat, logprobs: false, top_logprobs: 2 }, "top_logprobs", "set logprobs to true, too"],
  [{ ...asChat, logprobs: true, top_logprobs: 21 }, "top_logprobs", "less than or equal to 20"],
  [{ ...asChat, logprobs: true, top_logprobs: 0.5 }, "top_logprobs", "a whole number from 0 on"],
  [{ ...asChat, logprobs: 2 }, "logprobs", "must be true or false"],
  [{ ...asResponse, top_logprobs: 21 }, "top_logprobs", "less than or equal to 20"],
  [{ ...asResponse, top_logprobs: -1 }, "top_logprobs", "a whole number from 0 on"],
  [{ ...asResponse, include: ["message.output_text.logprobs", "x"] }, "include[1]", "must be one of"],
])("%j is refused: the answer names the field and the fix", async (body, param, problem) => {
  const { client } = await setOpenAiStage();
  const path = "input" in body ? "/responses" : "/chat/completions";
  const error = await client.post(path, { body: { model: "gpt-4o", ...body } }).catch((each: unknown) => each);
  expect(error).toMatchObject({ status: 400, param });
  expect(String(error)).toContain(problem);
});

test("a provider without them refuses to be asked, with the names of those that have them", async () => {
  const { client } = await setOpenAiStage({ anthropicKey: "a-key" });
  const asking = client.chat.completions.create({ model: "anthropic:claude-sonnet-4-5", messages, logprobs: true });
  await expect(asking).rejects.toMatchObject({ status: 400, param: "top_logprobs" });
  await expect(asking).rejects.toThrow("use a model of openai, openai with Responses, gemini, compatible");
});
