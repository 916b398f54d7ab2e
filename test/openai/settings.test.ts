// The settings of the model that callers of OpenAI's API send, on their way to a provider.

import OpenAI from "openai";
import { expect, test } from "vitest";
import { callTools } from "../fakes/provider.ts";
import { setOpenAiStage, speak } from "./stage.ts";

const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "Hi" }];
const parameters = { type: "object", properties: { city: { type: "string" } } };
const weather: OpenAI.Chat.ChatCompletionTool = { type: "function", function: { name: "get_weather", parameters } };

type ChatParams = Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming>;

/** Asks for one completion and returns the body that the provider got. */
async function bodyOf(params: ChatParams) {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("ok"));
  await client.chat.completions.create({ model: "gpt-4o", messages, ...params });
  return (await provider.request(0)).body;
}

test.each<[ChatParams]>([
  [{ temperature: 0.5, top_p: 0.25, seed: 7, stop: ["END", "\n\n"] }],
  [{ temperature: 0, top_p: 0 }],
  [{ frequency_penalty: 0.5, presence_penalty: -1.5, verbosity: "low", service_tier: "flex" }],
  [{ tools: [weather], tool_choice: "none" }],
  [{ tools: [weather], tool_choice: "required", parallel_tool_calls: false }],
  [{ tools: [weather], tool_choice: { type: "function", function: { name: "get_weather" } } }],
  [{ response_format: { type: "json_object" } }],
  [{ response_format: { type: "json_schema", json_schema: { name: "city", schema: parameters, strict: false } } }],
])("%j reaches the provider as it is", async (params) => {
  const { tools: _tools, ...settings } = params;
  expect(await bodyOf(params)).toMatchObject(settings);
});

test("one stop text is a list of one", async () => {
  expect(await bodyOf({ stop: "END" })).toMatchObject({ stop: ["END"] });
});

test("values that change nothing are not sent", async () => {
  const body = await bodyOf({
    ...{
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      stop: [],
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
    },
    ...{ tools: [weather], tool_choice: "auto", parallel_tool_calls: true, service_tier: "auto", seed: null },
    ...{ response_format: { type: "text" }, modalities: ["text"] },
  });
  expect(Object.keys(body).sort()).toEqual(
    ["max_tokens", "messages", "model", "stream", "stream_options", "tools"].sort(),
  );
});

test("a forced choice holds for the first response, so that the run can end", async () => {
  const { client, provider } = await setOpenAiStage();
  const call = callTools({ id: "call_1", name: "list_dir", arguments: "{}" });
  provider.respond(call, speak("done"));
  const mcp = { type: "mcp", server_label: "runnel", allowed_tools: ["list_dir"], require_approval: "never" } as const;
  const response = await client.responses.create({
    ...{ model: "gpt-4o", input: "Look", tools: [mcp as unknown as OpenAI.Responses.Tool] },
    ...{ tool_choice: "required", top_p: 0.5 },
  });
  expect(response).toMatchObject({ status: "completed", output_text: "done", tool_choice: "required", top_p: 0.5 });
  expect((await provider.request(0)).body).toMatchObject({ tool_choice: "required", top_p: 0.5 });
  const second = (await provider.request(1)).body;
  expect(second).toMatchObject({ top_p: 0.5 });
  expect(second).not.toHaveProperty("tool_choice");
});

test("a response repeats its settings, also when it is read later", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("{}"));
  const format = { type: "json_schema", name: "city", schema: parameters, strict: false } as const;
  const asked = { parallel_tool_calls: false, tool_choice: "auto", text: { format, verbosity: "high" } } as const;
  const tool = { type: "function", name: "get_weather", parameters, strict: false } as const;
  const { id } = await client.responses.create({ model: "gpt-4o", input: "Hi", tools: [tool], ...asked });
  expect(await client.responses.retrieve(id)).toMatchObject(asked);
  expect((await provider.request(0)).body).toMatchObject({
    response_format: { type: "json_schema", json_schema: { name: "city", schema: parameters, strict: false } },
    verbosity: "high",
    parallel_tool_calls: false,
  });
  provider.respond(speak("x"));
  const plain = await client.responses.create({ model: "gpt-4o", input: "Hi", text: { verbosity: "low" } });
  expect(plain.text).toEqual({ format: { type: "text" }, verbosity: "low" });
});

test.each<[object, string, string]>([
  [{ top_p: 1.5 }, "top_p", "must be greater than or equal to 0 and less than or equal to 1"],
  [{ presence_penalty: 3 }, "presence_penalty", "must be greater than or equal to -2"],
  [{ tool_choice: "sometimes" }, "tool_choice", "must be none, auto, required or a function"],
  [{ tool_choice: "required" }, "tool_choice", "the agent has no tool to call"],
  [{ tool_choice: { type: "function", name: "w" } }, "tool_choice", "the agent has no tool to call: give it some"],
  [
    { tools: [weather], tool_choice: { type: "function", function: { name: "get_time" } } },
    "tool_choice",
    'no tool "get_time": name one of get_weather',
  ],
  [{ seed: 0.5 }, "seed", "must be a whole number"],
  [{ stop: [1] }, "stop", "must be a string or a list of strings"],
  [{ verbosity: "loud" }, "verbosity", "must be low, medium or high"],
  [{ response_format: { type: "json_schema" } }, "response_format.json_schema", "is missing"],
])("%j is refused: the answer names the field and the fix", async (params, param, problem) => {
  const { client } = await setOpenAiStage();
  const asking = client.chat.completions.create({ model: "gpt-4o", messages, ...params } as never);
  const error = await asking.catch((each: unknown) => each);
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect(error).toMatchObject({ param });
  expect(String(error)).toContain(problem);
});

test("a setting that the provider does not have is refused with the providers that have it", async () => {
  const { client } = await setOpenAiStage();
  const asking = client.chat.completions.create({ model: "gpt-4o", messages, top_k: 5 } as never);
  await expect(asking).rejects.toMatchObject({ status: 400, param: "top_k" });
  await expect(asking).rejects.toThrow("openai has no such setting: leave it out, or use a model of ");
});
