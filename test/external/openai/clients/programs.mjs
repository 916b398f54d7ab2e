// Node programs for OpenAI's API against Runnel: each feature of each client.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Instructor from "@instructor-ai/instructor";
import { ContextOverflowError } from "@langchain/core/errors";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import {
  Agent,
  applyPatchTool,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  shellTool,
  tool as agentTool,
} from "@openai/agents";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { z as old } from "zod/v3";
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
  image,
  key,
  leave,
  model,
  readAll,
  runCases,
  same,
  saw,
  slowModel,
  weatherSchema,
} from "./checks.mjs";

const classes = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  404: OpenAI.NotFoundError,
  429: OpenAI.RateLimitError,
};

function openAiOf(apiKey = key) {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

function addOpenAi() {
  const client = openAiOf();
  const user = [{ role: "user", content: "Hi" }];
  const weather = { type: "function", function: { name: "get_weather", parameters: weatherSchema } };
  const time = { type: "function", function: { name: "get_time", parameters: emptySchema } };
  const ask = async (more) => (await client.chat.completions.create({ model, messages: user, ...more })).choices[0];
  add("openai (Node) chat", {
    errors: errors((name, own) => openAiOf(own).chat.completions.create({ model: name, messages: user }), classes),
    text: async () => same((await ask()).message.content, greeting),
    stream: async () => {
      const chunks = await readAll(await client.chat.completions.create({ model, messages: user, stream: true }));
      same(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), greeting);
      const stream = client.chat.completions.stream({ model, messages: user });
      same(await stream.finalContent(), greeting);
    },
    usage: async () => {
      same((await client.chat.completions.create({ model, messages: user })).usage.total_tokens, 16);
      const options = { stream: true, stream_options: { include_usage: true } };
      const chunks = await readAll(await client.chat.completions.create({ model, messages: user, ...options }));
      same(chunks.at(-1).usage.total_tokens, 16);
    },
    "tool loop": async () => {
      const run = (parse) => ({
        ...{ model, messages: user },
        tools: [{ type: "function", function: { ...weather.function, function: getWeather, parse } }],
      });
      same(await client.chat.completions.runTools(run(JSON.parse)).finalContent(), "The tool said Rome is sunny.");
      const streamed = client.chat.completions.runTools({ ...run(JSON.parse), stream: true });
      same(await streamed.finalContent(), "The tool said Rome is sunny.");
    },
    "tool without arguments": async () => {
      const run = { model, messages: user, tools: [{ type: "function", function: { ...time.function, function: getTime } }] };
      same(await client.chat.completions.runTools(run).finalContent(), "The tool said noon.");
    },
    "forced tool": async () => {
      const choice = { type: "function", function: { name: "get_time" } };
      const { message } = await ask({ tools: [weather, time], tool_choice: choice });
      same(message.tool_calls[0].function, { name: "get_time", arguments: "{}" });
    },
    "structured output": async () => {
      const format = { response_format: zodResponseFormat(City, "city") };
      const parsed = await client.chat.completions.parse({ model, messages: user, ...format });
      same(parsed.choices[0].message.parsed, city);
    },
    image: async () => {
      const content = [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: image } },
      ];
      same((await ask({ messages: [{ role: "user", content }] })).message.content, saw);
    },
    cancel: async () => {
      const slow = { model: slowModel("openai (Node) chat"), messages: user, stream: true };
      await leave(await client.chat.completions.create(slow));
    },
  });

  const make = (more) => client.responses.create({ model, input: "Hi", ...more });
  const [weatherTool, timeTool] = [weather, time].map(({ type, function: own }) => ({ type, ...own, strict: true }));
  add("openai (Node) responses", {
    errors: errors((name, own) => openAiOf(own).responses.create({ model: name, input: "Hi" }), classes),
    text: async () => same((await make()).output_text, greeting),
    stream: async () => {
      const events = await readAll(await make({ stream: true }));
      same(events.map(({ type, delta }) => (type === "response.output_text.delta" ? delta : "")).join(""), greeting);
      same((await client.responses.stream({ model, input: "Hi" }).finalResponse()).output_text, greeting);
    },
    usage: async () => same((await make()).usage.total_tokens, 16),
    "tool loop": async () => {
      const first = await make({ tools: [weatherTool] });
      const call = first.output.find(({ type }) => type === "function_call");
      same(JSON.parse(call.arguments), { city: "Rome" });
      const output = { type: "function_call_output", call_id: call.call_id, output: "sunny" };
      const input = [{ role: "user", content: "Hi" }, ...first.output, output];
      same((await make({ input, tools: [weatherTool] })).output_text, "The tool said sunny.");
      const next = await make({ input: [output], previous_response_id: first.id, tools: [weatherTool] });
      same(next.output_text, "The tool said sunny.");
    },
    "tool without arguments": async () => same((await make({ tools: [timeTool] })).output[0].arguments, "{}"),
    "forced tool": async () => {
      const choice = { type: "function", name: "get_time" };
      same((await make({ tools: [weatherTool, timeTool], tool_choice: choice })).output[0].name, "get_time");
    },
    "structured output": async () => {
      const format = { text: { format: zodTextFormat(City, "city") } };
      same((await client.responses.parse({ model, input: "Hi", ...format })).output_parsed, city);
    },
    image: async () => {
      const content = [
        { type: "input_text", text: "What is it?" },
        { type: "input_image", image_url: image, detail: "auto" },
      ];
      same((await make({ input: [{ role: "user", content }] })).output_text, saw);
    },
    cancel: async () => {
      const slow = await make({ model: slowModel("openai (Node) responses"), stream: true });
      let id = "";
      for await (const { type, response } of slow) {
        id = response?.id ?? id;
        if (type === "response.output_text.delta") {
          break;
        }
      }
      same((await client.responses.cancel(id)).status, "cancelled");
    },
  });
}

function addLangchain(name, own) {
  const make = (more) => new ChatOpenAI({ model, apiKey: key, maxRetries: 0, configuration: { baseURL }, ...own, ...more });
  const weather = langchainTool(getWeather, { name: "get_weather", description: "The weather", schema: weatherSchema });
  const time = langchainTool(getTime, { name: "get_time", description: "The time", schema: z.object({}) });
  add(name, {
    errors: errors((id, apiKey) => make({ model: id, apiKey }).invoke("Hi"), Error, (error) =>
      ContextOverflowError.isInstance(error) ? 400 : error.status,
    ),
    text: async () => same((await make().invoke("Hi")).text, greeting),
    stream: async () => same((await readAll(await make().stream("Hi"))).map(({ text }) => text).join(""), greeting),
    usage: async () => {
      same((await make().invoke("Hi")).usage_metadata.total_tokens, 16);
      const whole = (await readAll(await make().stream("Hi"))).reduce((one, next) => one.concat(next));
      same(whole.usage_metadata.total_tokens, 16);
    },
    "tool loop": async () => {
      const bound = make().bindTools([weather]);
      const first = await bound.invoke("Hi");
      const [call] = first.tool_calls;
      same(call.args, { city: "Rome" });
      const answer = new ToolMessage({ content: "sunny", tool_call_id: call.id });
      same((await bound.invoke([new HumanMessage("Hi"), first, answer])).text, "The tool said sunny.");
    },
    "tool without arguments": async () => same((await make().bindTools([time]).invoke("Hi")).tool_calls[0].args, {}),
    "forced tool": async () => {
      const bound = make().bindTools([weather, time], { tool_choice: "get_time" });
      same((await bound.invoke("Hi")).tool_calls[0].name, "get_time");
    },
    "structured output": async () => {
      for (const method of ["jsonSchema", "functionCalling", "jsonMode"]) {
        same(await make().withStructuredOutput(City, { method }).invoke("Give JSON"), city);
      }
    },
    image: async () => {
      const content = [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: image } },
      ];
      same((await make().invoke([new HumanMessage({ content })])).text, saw);
    },
    ...(own.useResponsesApi ? {} : { cancel: async () => leave(await make({ model: slowModel(name) }).stream("Hi")) }),
  });
}

function addAgents(name, Model) {
  setTracingDisabled(true);
  const runner = new Runner({ tracingDisabled: true });
  const make = ({ id = model, own, ...more } = {}) =>
    new Agent({ name: "a", instructions: "Be brief.", model: new Model(openAiOf(own), id), ...more });
  const run = async (options) => (await runner.run(make(options), "Hi")).finalOutput;
  const describe = (tool, parameters, execute) => agentTool({ name: tool, description: tool, parameters, execute });
  const weather = describe("get_weather", z.object({ city: z.string() }), getWeather);
  const time = describe("get_time", z.object({}), getTime);
  add(name, {
    errors: errors((id, own) => run({ id, own }), classes),
    text: async () => same(await run(), greeting),
    stream: async () => {
      const result = await runner.run(make(), "Hi", { stream: true });
      same((await readAll(result.toTextStream())).join(""), greeting);
      await result.completed;
      same(result.finalOutput, greeting);
    },
    usage: async () => same((await runner.run(make(), "Hi")).state.usage.totalTokens, 16),
    "tool loop": async () => same(await run({ tools: [weather] }), "The tool said Rome is sunny."),
    "tool without arguments": async () => same(await run({ tools: [time] }), "The tool said noon."),
    "forced tool": async () => {
      same(await run({ tools: [weather, time], modelSettings: { toolChoice: "get_time" } }), "The tool said noon.");
    },
    "structured output": async () => same(await run({ outputType: City }), city),
    image: async () => {
      const content = [
        { type: "input_text", text: "What is it?" },
        { type: "input_image", image },
      ];
      same((await runner.run(make(), [{ role: "user", content }])).finalOutput, saw);
    },
    ...(Model === OpenAIResponsesModel && {
      "local tools": async () => {
        const seen = [];
        const execute = async ({ commands }) => {
          seen.push(commands);
          return { output: [{ stdout: "sunny", stderr: "", outcome: { type: "exit", exitCode: 0 } }] };
        };
        const edit = async ({ type, path, diff }) => {
          seen.push({ type, path, diff });
          return { status: "completed", output: "written" };
        };
        const editor = { createFile: edit, updateFile: edit, deleteFile: edit };
        same(await run({ tools: [shellTool({ shell: { run: execute } })] }), "The tool said sunny\n[exit code 0].");
        same(await run({ tools: [applyPatchTool({ editor })] }), "The tool said written.");
        same(seen, [["Rome"], { type: "create_file", path: "Rome", diff: "Rome" }]);
      },
    }),
    ...(Model === OpenAIChatCompletionsModel && {
      cancel: async () => {
        const abort = new AbortController();
        const slow = await runner.run(make({ id: slowModel(name) }), "Hi", { stream: true, signal: abort.signal });
        await leave(slow);
        abort.abort();
      },
    }),
  });
}

function addInstructor() {
  const messages = [{ role: "user", content: "Hi" }];
  const of = (mode, own) => Instructor({ client: openAiOf(own), mode });
  // It knows the schemas of zod 3 alone.
  const schema = old.object({ city: old.string(), degrees: old.number() });
  const wanted = { name: "City", schema };
  const ask = (mode, more, own) =>
    of(mode, own).chat.completions.create({ model, messages, response_model: wanted, max_retries: 0, ...more });
  add("instructor (Node)", {
    errors: errors((id, own) => ask("TOOLS", { model: id }, own), classes),
    "structured output": async () => {
      for (const mode of ["TOOLS", "JSON", "JSON_SCHEMA"]) {
        const { _meta, ...found } = await ask(mode, {});
        same([mode, found], [mode, city]);
      }
    },
    stream: async () => {
      const { _meta, ...last } = (await readAll(await ask("TOOLS", { stream: true }))).at(-1);
      same(last, city);
    },
    image: async () => {
      const content = [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: image } },
      ];
      same((await ask("TOOLS", { messages: [{ role: "user", content }] })).city, "Rome");
    },
  });
}

addOpenAi();
addAiSdk("ai @ai-sdk/openai responses", (apiKey) => createOpenAI({ baseURL, apiKey }));
addAiSdk("ai @ai-sdk/openai chat", (apiKey) => createOpenAI({ baseURL, apiKey }).chat, {
  cancel: () => abortAi(createOpenAI({ baseURL, apiKey: key }).chat(slowModel("ai @ai-sdk/openai chat"))),
});
const compatible = (apiKey) =>
  createOpenAICompatible({ name: "runnel", baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true });
addAiSdk("ai @ai-sdk/openai-compatible", compatible, {
  cancel: () => abortAi(compatible(key)(slowModel("ai @ai-sdk/openai-compatible"))),
});
addLangchain("langchain (Node) chat", {});
addLangchain("langchain (Node) responses", { useResponsesApi: true });
addAgents("openai-agents (Node) responses", OpenAIResponsesModel);
addAgents("openai-agents (Node) chat", OpenAIChatCompletionsModel);
addInstructor();
await runCases();
