// Node programs for Anthropic's API against Runnel, over a model of another maker: each feature of each client.

import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import { abortAi, addAiSdk } from "./ai-sdk.mjs";
import {
  add,
  baseURL,
  City,
  city,
  emptySchema,
  errors,
  getTime,
  getWeather,
  greeting,
  key,
  leave,
  model,
  png,
  readAll,
  runCases,
  same,
  saw,
  slowModel,
  weatherSchema,
} from "./checks.mjs";

const classes = {
  400: Anthropic.BadRequestError,
  401: Anthropic.AuthenticationError,
  404: Anthropic.NotFoundError,
  429: Anthropic.RateLimitError,
};

function clientOf(apiKey = key) {
  return new Anthropic({ baseURL, apiKey, maxRetries: 0 });
}

const user = [{ role: "user", content: "Hi" }];
const hello = { model, max_tokens: 100, messages: user };
const client = clientOf();
const weather = { name: "get_weather", description: "The weather", input_schema: weatherSchema };
const time = { name: "get_time", description: "The time", input_schema: emptySchema };
const ask = (more) => client.messages.create({ ...hello, ...more });
const usageOf = ({ usage }) => usage.input_tokens + usage.output_tokens;
const name = "@anthropic-ai/sdk";
/** A quota that is used up has a status of its own here. */
const tooMany = "rate";

add(name, {
  errors: errors((id, own) => clientOf(own).messages.create({ ...hello, model: id }), classes, undefined, tooMany),
  text: async () => same((await ask()).content[0].text, greeting),
  stream: async () => {
    const events = await readAll(await ask({ stream: true }));
    same(events.map(({ delta }) => delta?.text ?? "").join(""), greeting);
    same(await client.messages.stream(hello).finalText(), greeting);
  },
  usage: async () => {
    same(usageOf(await ask()), 16);
    same(usageOf(await client.messages.stream(hello).finalMessage()), 16);
  },
  "tool loop": async () => {
    const first = await ask({ tools: [weather] });
    const call = first.content.find(({ type }) => type === "tool_use");
    same([first.stop_reason, call.input], ["tool_use", { city: "Rome" }]);
    const result = { type: "tool_result", tool_use_id: call.id, content: "sunny" };
    const messages = [...user, { role: "assistant", content: first.content }, { role: "user", content: [result] }];
    same((await ask({ messages, tools: [weather] })).content[0].text, "The tool said sunny.");
    const tool = { name: "get_weather", description: "The weather", inputSchema: z.object({ city: z.string() }), run: getWeather };
    const done = await client.beta.messages.toolRunner({ ...hello, tools: [betaZodTool(tool)] });
    same(done.content[0].text, "The tool said Rome is sunny.");
  },
  "tool without arguments": async () => {
    same((await ask({ tools: [time] })).content[0].input, {});
    same((await client.messages.stream({ ...hello, tools: [time] }).finalMessage()).content[0].input, {});
    const tool = { name: "get_time", description: "The time", inputSchema: z.object({}), run: getTime };
    const done = await client.beta.messages.toolRunner({ ...hello, tools: [betaZodTool(tool)], stream: true });
    same(done.content[0].text, "The tool said noon.");
  },
  "forced tool": async () => {
    const { content } = await ask({ tools: [weather, time], tool_choice: { type: "tool", name: "get_time" } });
    same(content[0].name, "get_time");
  },
  "structured output": async () => {
    const format = zodOutputFormat(City);
    same((await client.messages.parse({ ...hello, output_config: { format } })).parsed_output, city);
  },
  image: async () => {
    const source = { type: "base64", media_type: "image/png", data: png };
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image", source },
    ];
    same((await ask({ messages: [{ role: "user", content }] })).content[0].text, saw);
  },
  cancel: async () => {
    const stream = client.messages.stream({ ...hello, model: slowModel(name) });
    stream.on("error", () => {});
    await leave(stream);
    stream.abort();
  },
  count_tokens: async () => {
    same((await client.messages.countTokens({ model, messages: user })).input_tokens > 0, true);
  },
});
const open = (apiKey) => createAnthropic({ baseURL: `${baseURL}/v1`, apiKey });
addAiSdk("ai @ai-sdk/anthropic", open, { tooMany, cancel: () => abortAi(open(key)(slowModel("ai @ai-sdk/anthropic"))) });
await runCases();
