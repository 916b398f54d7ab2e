// The AI SDK, whose programs are the same for each of its providers.

import {
  APICallError,
  tool as describe,
  generateObject,
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
} from "ai";
import { z } from "zod";
import {
  add,
  City,
  city,
  errors,
  getTime,
  getWeather,
  greeting,
  key,
  leave,
  model,
  png,
  readAll,
  same,
  saw,
  weatherSchema,
} from "./checks.mjs";

/** Adds the cases of a provider. `open` takes a key and returns the function that makes a model; `tooMany` is the failure with 429. */
export function addAiSdk(name, open, { tooMany, ...more } = {}) {
  const of = (id = model, own = key) => open(own)(id);
  const weather = describe({ description: "The weather", inputSchema: jsonSchema(weatherSchema), execute: getWeather });
  const time = describe({ description: "The time", inputSchema: z.object({}), execute: getTime });
  const ask = (options) => generateText({ model: of(), prompt: "Hi", stopWhen: isStepCount(3), ...options });
  const loop = async (tools) => {
    const streamed = streamText({ model: of(), prompt: "Hi", stopWhen: isStepCount(3), tools });
    return [(await ask({ tools })).text, await streamed.text];
  };
  add(name, {
    errors: errors(
      (id, own) => generateText({ model: of(id, own), prompt: "Hi", maxRetries: 0 }),
      APICallError,
      ({ statusCode }) => statusCode,
      tooMany,
    ),
    text: async () => same((await ask()).text, greeting),
    stream: async () => same((await readAll(streamText({ model: of(), prompt: "Hi" }).textStream)).join(""), greeting),
    usage: async () => {
      same((await ask()).usage.totalTokens, 16);
      same((await streamText({ model: of(), prompt: "Hi" }).usage).totalTokens, 16);
    },
    "tool loop": async () => {
      same(await loop({ get_weather: weather }), Array(2).fill("The tool said Rome is sunny."));
    },
    "tool without arguments": async () => same(await loop({ get_time: time }), Array(2).fill("The tool said noon.")),
    "forced tool": async () => {
      const tools = { get_weather: weather, get_time: time };
      const choice = { type: "tool", toolName: "get_time" };
      const { toolCalls } = await ask({ tools, toolChoice: choice, stopWhen: isStepCount(1) });
      same(toolCalls.map(({ toolName, input }) => [toolName, input]), [["get_time", {}]]);
    },
    "structured output": async () => {
      same((await generateObject({ model: of(), prompt: "Give JSON", schema: City })).object, city);
    },
    image: async () => {
      const content = [
        { type: "text", text: "What is it?" },
        { type: "file", mediaType: "image/png", data: Buffer.from(png, "base64") },
      ];
      same((await ask({ prompt: [{ role: "user", content }] })).text, saw);
    },
    ...more,
  });
}

/** Reads the first text of the AI SDK's stream, and aborts. */
export async function abortAi(slow) {
  const abort = new AbortController();
  const { textStream } = streamText({ model: slow, prompt: "Hi", abortSignal: abort.signal, onError: () => {} });
  await leave(textStream);
  abort.abort();
}
