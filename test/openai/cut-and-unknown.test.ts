// Calls that must not run: of a response that its token limit has cut, and of unknown tools.

import type OpenAI from "openai";
import { expect, test } from "vitest";
import type { Script } from "../fakes/provider.ts";
import { setOpenAiStage } from "./stage.ts";

const tools: OpenAI.Chat.ChatCompletionTool[] = [
  { type: "function", function: { name: "pay", parameters: { type: "object", properties: {} } } },
];
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "pay" }];

const cut: Script = (wire) => {
  wire.toolCalls({ index: 0, id: "call_1", name: "pay", arguments: '{"amount": 10' });
  wire.finish("length");
};
const unknown: Script = (wire) => {
  wire.toolCalls({ index: 0, id: "call_1", name: "fly", arguments: "" });
  wire.finish("tool_calls");
};

test("a cut response is incomplete, has no call, and is asked for once", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(cut);
  const whole = await client.chat.completions.create({ model: "gpt-4o", messages, tools });
  expect(whole.choices[0]).toMatchObject({ finish_reason: "length" });
  expect(whole.choices[0]?.message.tool_calls ?? []).toEqual([]);
  provider.respond(cut);
  const stream = await client.chat.completions.create({ model: "gpt-4o", messages, tools, stream: true });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))).toEqual([]);
  expect(chunks.flatMap(({ choices }) => choices.flatMap((each) => each.finish_reason ?? []))).toEqual(["length"]);
  provider.respond(cut);
  const response = await client.responses.create({
    model: "gpt-4o",
    input: "pay",
    tools: [{ type: "function", name: "pay", parameters: { type: "object", properties: {} }, strict: false }],
  });
  expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  expect(response.output.filter(({ type }) => type === "function_call")).toEqual([]);
  expect(provider.requests).toHaveLength(3);
});

test("a call of a tool that was not offered goes to the caller, after one response", async () => {
  const { client, provider } = await setOpenAiStage();
  for (const offered of [tools, undefined]) {
    provider.respond(unknown);
    const completion = await client.chat.completions.create({
      model: "gpt-4o",
      messages,
      ...(offered && { tools: offered }),
    });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: [{ id: "call_1", type: "function", function: { name: "fly", arguments: "{}" } }] },
    });
  }
  provider.respond(unknown);
  const response = await client.responses.create({ model: "gpt-4o", input: "fly" });
  expect(response.output).toMatchObject([{ type: "function_call", call_id: "call_1", name: "fly", arguments: "{}" }]);
  expect(provider.requests).toHaveLength(3);
});
