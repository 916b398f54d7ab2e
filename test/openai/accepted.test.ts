// Requests as programs send them: all that OpenAI's API takes is taken, and reaches the model in the form that its provider knows.

import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { onMessages, answer as say } from "../fakes/anthropic-provider.ts";
import { pngBase64 } from "../fakes/png.ts";
import { callTools, type Script, type ToolCallPiece } from "../fakes/provider.ts";
import { onResponses } from "../fakes/responses-provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { lastResponse, openAiClient, setOpenAiStage, speak } from "./stage.ts";

const parameters = { type: "object", properties: { city: { type: "string" } } };
const weather: OpenAI.Responses.FunctionTool = { type: "function", name: "get_weather", parameters, strict: false };
const time: OpenAI.Responses.FunctionTool = { type: "function", name: "get_time", parameters: {}, strict: false };
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "Hi" }];

/** Any request: also with fields that the client's types do not have. */
const any = (body: object) => ({ model: "gpt-4o", ...body }) as OpenAI.Responses.ResponseCreateParamsNonStreaming;
const anyChat = (body: object) =>
  ({ model: "gpt-4o", messages, ...body }) as unknown as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** A model that thinks, says a text unless it is empty, and calls tools. */
const thinkAndCall =
  (text: string, call: ToolCallPiece): Script =>
  (wire, request) => {
    wire.reasoning("I should look.");
    if (text !== "") {
      wire.text(text);
    }
    return callTools(call)(wire, request);
  };

const weatherCall = { id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' };

describe("a caller that keeps its own history", () => {
  const output: OpenAI.Responses.ResponseInputItem = { type: "function_call_output", call_id: "call_1", output: "25" };

  test.each(["", "Let me look."])("sends a provider's state back with its items: %j", async (text) => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(thinkAndCall(text, weatherCall), speak("Sunny"));
    const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content", "web_search_call.results"];
    const asked = any({ input: [{ role: "user", content: "Weather?" }], tools: [weather], store: false, include });
    const first = await client.responses.stream(asked as never).finalResponse();
    const sealed = first.output.filter((item) => item.type === "reasoning" && item.encrypted_content);
    expect(sealed).toHaveLength(1);
    const input = [...(asked.input as OpenAI.Responses.ResponseInput), ...first.output, output];
    const second = await client.responses.create({ ...asked, input: input as OpenAI.Responses.ResponseInput });
    expect(second.output_text).toBe("Sunny");
    expect((await provider.request(1)).body.messages).toEqual([
      { role: "user", content: "Weather?" },
      expect.objectContaining({
        ...{ role: "assistant", content: text || null, reasoning_content: "I should look." },
        tool_calls: [expect.objectContaining({ id: "call_1" })],
      }),
      { role: "tool", tool_call_id: "call_1", content: "25" },
    ]);
  });

  test.each(["", "Let me look."])("refers to items of a response by their ids: %j", async (text) => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(thinkAndCall(text, weatherCall), speak("Sunny"));
    const user = { role: "user" as const, content: "Weather?" };
    const first = await client.responses.create(any({ input: [user], tools: [weather] }));
    expect(first.output.some((item) => "encrypted_content" in item)).toBe(false);
    const references = first.output.map(({ id = "" }) => ({ type: "item_reference" as const, id }));
    const input = [user, ...references, output] as OpenAI.Responses.ResponseInput;
    await client.responses.create(any({ input, tools: [weather] }));
    expect((await provider.request(1)).body.messages).toMatchObject([
      user,
      { role: "assistant", content: text || null, reasoning_content: "I should look.", tool_calls: [{ id: "call_1" }] },
      { role: "tool", content: "25" },
    ]);
  });

  test("gives results after more messages: they belong to their calls", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(callTools(weatherCall), speak("Sunny"), speak("Sunny"));
    const user = { role: "user" as const, content: "Weather?" };
    const first = await client.responses.create(any({ input: [user], tools: [weather] }));
    const asked = any({ input: [user, output], tools: [weather], previous_response_id: first.id });
    expect((await client.responses.create(asked)).output_text).toBe("Sunny");
    const input = [user, ...first.output, user, output] as OpenAI.Responses.ResponseInput;
    await client.responses.create(any({ input, tools: [weather] }));
    for (const request of [1, 2]) {
      expect((await provider.request(request)).body.messages).toMatchObject([
        user,
        { role: "assistant", tool_calls: [{ id: "call_1" }] },
        { role: "tool", content: "25" },
        user,
      ]);
    }
  });

  test("refers to items of an input and of a conversation; those of its own conversation are there already", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("one"), speak("two"), speak("three"));
    const { id: conversation } = await client.conversations.create({});
    const first = await client.responses.create(any({ input: "1", conversation }));
    const [said] = (await client.responses.inputItems.list(first.id)).data;
    const { data } = await client.conversations.items.list(conversation, { order: "asc" });
    const refer = (id = "") => ({ type: "item_reference" as const, id });
    const more = { role: "user" as const, content: "2" };
    await client.responses.create(any({ input: [refer(said?.id), refer(data[1]?.id), more] }));
    await client.responses.create(any({ input: [refer(data[0]?.id), refer(data[1]?.id), more], conversation }));
    for (const request of [1, 2]) {
      expect((await provider.request(request)).body.messages.map(({ content }) => content)).toEqual(["1", "one", "2"]);
    }
  });

  test("learns which item is not there", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("x"));
    const { output: items } = await client.responses.create(any({ input: "Hi", store: false }));
    for (const id of ["msg_none", items[0]?.id]) {
      const asking = client.responses.create(any({ input: [{ type: "item_reference", id }] }));
      await expect(asking).rejects.toMatchObject({ status: 404, param: "input[0].id", code: "not_found" });
      await expect(asking).rejects.toThrow(`'${id}'`);
    }
  });

  test("gets the thoughts of every provider back to it", async () => {
    const server = await openWireServer();
    const origin = `${server.origin}/v1`;
    const service = await startService({
      ...{ anthropicKey: "k", anthropicBaseUrl: origin, openaiKey: "k", openaiBaseUrl: origin, openaiApi: "responses" },
      ...{ circuitMaxFailures: 1_000, defaultModel: "demo" },
    });
    const client = openAiClient(service.url);
    const tools = [{ ...weather }];
    const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content"];
    server.respond(
      onMessages((wire) => {
        wire.start();
        wire.thinking("signed", "Look.");
        wire.toolUse("toolu_1", "get_weather", "{}");
        wire.done("tool_use");
      }),
      onMessages(say("Sunny")),
      onResponses((wire) => {
        wire.reasoning({ id: "rs_1", summary: ["Look."], encrypted: "sealed" });
        wire.call(weatherCall);
        wire.completed();
      }),
      onResponses((wire) => {
        wire.text("Sunny");
        wire.completed();
      }),
    );
    for (const [index, [model, sign]] of [
      ["claude-sonnet-4-5", '"signature":"signed"'],
      ["gpt-5", '"encrypted_content":"sealed"'],
    ].entries()) {
      const asked = { model, tools, include, store: false, input: [{ role: "user", content: "Weather?" }] };
      const first = await client.responses.create(any(asked));
      const call = first.output.find((item) => item.type === "function_call");
      const answer = { type: "function_call_output", call_id: call?.call_id, output: "25" };
      const second = await client.responses.create(any({ ...asked, input: [...asked.input, ...first.output, answer] }));
      expect(second.output_text).toBe("Sunny");
      expect((await server.request(index * 2 + 1)).text).toContain(sign);
    }
  });
});

describe("tools", () => {
  const namespace = { type: "namespace", name: "crm", description: "Customers", tools: [weather] };
  const patch = {
    ...{ type: "custom", name: "apply_patch", description: "Patches" },
    format: { type: "grammar", syntax: "lark", definition: 'start: "x"' },
  };

  test("of a namespace and custom tools are functions for the model, and the caller gets their own form", async () => {
    const { client, provider } = await setOpenAiStage();
    const call = { id: "call_2", name: "apply_patch", arguments: '{"input":"*** Begin\\n\\"x\\""}' };
    provider.respond(callTools({ ...weatherCall, name: "crm__get_weather" }, call), speak("done"));
    const tools = [
      namespace,
      patch,
      { type: "web_search" },
      { type: "mcp", server_label: "x", connector_id: "connector_dropbox" },
    ];
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = client.responses.stream(any({ input: "Go", tools }) as never);
    for await (const event of stream) {
      events.push(event);
    }
    const first = await stream.finalResponse();
    expect(first.output).toMatchObject([
      { type: "function_call", name: "get_weather", namespace: "crm", call_id: "call_1", arguments: '{"city":"Rome"}' },
      { type: "custom_tool_call", name: "apply_patch", call_id: "call_2", input: '*** Begin\n"x"' },
    ]);
    expect(events.map(({ type }) => type)).toContain("response.custom_tool_call_input.done");
    const { tools: offered } = (await provider.request(0)).body as { tools?: { function: { name: string } }[] };
    expect(offered?.map((each) => each.function)).toMatchObject([
      { name: "crm__get_weather" },
      { name: "apply_patch", description: expect.stringContaining('start: "x"'), parameters: { required: ["input"] } },
    ]);
    const answers = [
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "25" }] },
      { type: "custom_tool_call_output", call_id: "call_2", output: "patched" },
    ];
    const input = [{ role: "user", content: "Go" }, ...first.output, ...answers];
    await client.responses.create(any({ input, tools }));
    expect((await provider.request(1)).body.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        tool_calls: [{ function: { name: "crm__get_weather" } }, { function: { name: "apply_patch" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "25" },
      { role: "tool", tool_call_id: "call_2", content: "patched" },
    ]);
  });

  test("custom tools of a chat", async () => {
    const { client, provider } = await setOpenAiStage();
    const script = callTools({ id: "call_1", name: "run", arguments: '{"input":"ls"}' });
    provider.respond(script, script, speak("done"));
    const tools = [{ type: "custom", custom: { name: "run", description: "Runs" } }, { type: "web_search" }];
    const custom = { id: "call_1", type: "custom", custom: { name: "run", input: "ls" } };
    const { choices } = await client.chat.completions.create(anyChat({ tools }));
    expect(choices[0]?.message.tool_calls).toEqual([custom]);
    const chunks = await Array.fromAsync(client.chat.completions.stream(anyChat({ tools }) as never));
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])).toEqual([{ index: 0, ...custom }]);
    const history = [...messages, choices[0]?.message, { role: "tool", tool_call_id: "call_1", content: "a.txt" }];
    await client.chat.completions.create(anyChat({ messages: history, tools }));
    expect((await provider.request(2)).body.messages[1]).toMatchObject({
      tool_calls: [{ function: { name: "run", arguments: '{"input":"ls"}' } }],
    });
  });

  test("of items in the input join those of the request; the last one of a name counts", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(callTools({ id: "call_1", name: "crm__apply_patch", arguments: '{"input":"x"}' }));
    const offer = (...tools: object[]) => ({ type: "additional_tools", role: "developer", id: "at_1", tools });
    const input = [
      offer(weather, { type: "namespace", name: "crm", description: "", tools: [patch] }),
      { role: "user", content: "Go" },
      offer({ ...weather, description: "newer" }),
    ];
    const { output } = await client.responses.create(any({ input, tools: [time], parallel_tool_calls: false }));
    expect(output).toMatchObject([{ type: "custom_tool_call", name: "apply_patch", namespace: "crm", input: "x" }]);
    const { tools: offered, messages } = (await provider.request(0)).body as unknown as {
      tools: { function: { name: string; description: string } }[];
      messages: object[];
    };
    expect(offered.map((each) => each.function.name)).toEqual(["get_time", "get_weather", "crm__apply_patch"]);
    expect(offered[1]?.function.description).toBe("newer");
    expect(messages).toEqual([{ role: "user", content: "Go" }]);
    const wrong = client.responses.create(
      any({ input: [offer({ type: "function" }), { role: "user", content: "Go" }] }),
    );
    await expect(wrong).rejects.toMatchObject({ status: 400, param: "input[0].tools[0].name" });
  });

  test("that the caller searches itself are offered once it has found them", async () => {
    const { client, provider } = await setOpenAiStage();
    const search = { type: "tool_search", execution: "client", description: "Finds tools", parameters };
    const call = callTools({ id: "call_1", name: "tool_search", arguments: '{"city":"Rome"}' });
    provider.respond(call, callTools({ ...weatherCall, name: "crm__get_weather" }), speak("ok"));
    const events = await Array.fromAsync(client.responses.stream(any({ input: "Go", tools: [search] }) as never));
    const first = lastResponse(events);
    const called = { type: "tool_search_call", call_id: "call_1", execution: "client", arguments: { city: "Rome" } };
    expect(first.output).toMatchObject([called]);
    expect(events.filter(({ type }) => type.includes("arguments"))).toEqual([]);
    const found = { type: "tool_search_output", call_id: "call_1", execution: "client", status: "completed" };
    const input = [{ role: "user", content: "Go" }, ...first.output, { ...found, tools: [namespace] }];
    const second = await client.responses.create(any({ input, tools: [search] }));
    expect(second.output).toMatchObject([{ type: "function_call", name: "get_weather", namespace: "crm" }]);
    const { tools: offered, messages } = (await provider.request(1)).body as unknown as {
      tools: { function: { name: string } }[];
      messages: object[];
    };
    expect(offered.map((each) => each.function.name)).toEqual(["tool_search", "crm__get_weather"]);
    expect(messages.slice(1)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "tool_search" } }] },
      { role: "tool", tool_call_id: "call_1", content: "These tools are available now: crm__get_weather" },
    ]);
    const none = [...input.slice(0, -1), { ...found, tools: [] }];
    await client.responses.create(any({ input: none, tools: [search] }));
    expect((await provider.request(2)).body.messages.at(-1)).toMatchObject({ content: "No tool was found." });
  });

  test("some of them are allowed", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(callTools(weatherCall), callTools(weatherCall));
    const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "get_weather" }] };
    await client.responses.create(any({ input: "Hi", tools: [weather, time, namespace], tool_choice: allowed }));
    const inChat = [weather, time].map(({ name }) => ({ type: "function", function: { name, parameters } }));
    const choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [inChat[0]] } };
    await client.chat.completions.create(anyChat({ tools: inChat, tool_choice: choice }));
    for (const request of [0, 1]) {
      const { body } = await provider.request(request);
      expect(body).toMatchObject({ tool_choice: "required", tools: [{ function: { name: "get_weather" } }] });
      expect(body.tools).toHaveLength(1);
    }
  });

  test("give images, which a model that reads none from tools gets as a note", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("a cat"));
    const shown = { type: "input_image", image_url: `data:image/png;base64,${pngBase64}`, detail: "auto" };
    const input = [
      { role: "user", content: "Look" },
      { type: "function_call", call_id: "call_1", name: "view", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [shown] },
    ];
    const { id } = await client.responses.create(any({ input }));
    expect((await provider.request(0)).body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("image"),
    });
    const { data } = await client.responses.inputItems.list(id);
    expect(data[0]).toMatchObject({ type: "function_call_output", output: [shown] });
  });
});

describe("settings", () => {
  test("of an update in the input hold from there on", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("{}"), speak("ok"));
    const update = (fields: object) => ({ type: "configuration_update", ...fields });
    const format = { type: "json_schema", name: "city", schema: parameters, strict: false };
    const asked = { model: "gpt-5.1", reasoning: { effort: "low" }, text: { verbosity: "low" } };
    const changed = [update({ reasoning: { effort: "high" } }), update({ text: { format } })];
    await client.responses.create(any({ ...asked, input: [...messages, ...changed, ...messages] }));
    expect((await provider.request(0)).body).toMatchObject({
      ...{ messages: [...messages, ...messages], reasoning_effort: "high", verbosity: "low" },
      response_format: { type: "json_schema", json_schema: { name: "city" } },
    });
    const plain = update({ text: { format: { type: "text" } } });
    await client.responses.create(any({ ...asked, input: [...changed, plain, ...messages] }));
    const { body } = await provider.request(1);
    expect(body).toMatchObject({ reasoning_effort: "high" });
    expect(body).not.toHaveProperty("response_format");
    const wrong = client.responses.create(any({ input: [update({ text: { format: { type: "x" } } }), ...messages] }));
    await expect(wrong).rejects.toMatchObject({ status: 400, param: "input[0].text.format.type" });
  });

  test("logit_bias and prediction reach the provider", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("ok"));
    const asked = { logit_bias: { 50256: -100 }, prediction: { type: "content", content: "ok" }, verbosity: "low" };
    await client.chat.completions.create(anyChat(asked));
    expect((await provider.request(0)).body).toMatchObject(asked);
    const wrong = client.chat.completions.create(anyChat({ logit_bias: { 1: 101 } }));
    await expect(wrong).rejects.toMatchObject({ status: 400, param: "logit_bias" });
  });

  test("max_tool_calls is kept, and changes nothing without a tool that the provider runs", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("ok"));
    const response = await client.responses.create(
      any({ input: "Hi", max_tool_calls: 3, tools: [{ type: "web_search" }] }),
    );
    expect(response).toMatchObject({ status: "completed", max_tool_calls: 3 });
  });

  test("wishes that a provider does not know are dropped; a bias is refused by its name", async () => {
    const server = await openWireServer();
    const service = await startService({ anthropicKey: "k", anthropicBaseUrl: `${server.origin}/v1` });
    const client = openAiClient(service.url);
    server.respond(onMessages(say("ok")));
    const model = "claude-sonnet-4-5";
    const text = { verbosity: "low", format: { type: "text" } };
    expect((await client.responses.create(any({ model, input: "Hi", text }))).output_text).toBe("ok");
    expect((await server.request(0)).text).not.toContain("verbosity");
    const biased = client.chat.completions.create(anyChat({ model, logit_bias: { 1: 1 } }));
    await expect(biased).rejects.toMatchObject({ status: 400, param: "logit_bias" });
    await expect(biased).rejects.toThrow("use a model of openai");
  });

  test("fields of other servers reach compatible servers, in both APIs", async () => {
    const { client, provider } = await setOpenAiStage();
    const compatible = await setCompatible(provider.baseUrl);
    const extras = { min_p: 0.1, chat_template_kwargs: { enable_thinking: false }, repetition_penalty: 1.1 };
    provider.respond(speak("ok"), speak("ok"));
    await compatible.chat.completions.create(anyChat({ model: "compatible:llama", top_k: 5, ...extras }));
    await compatible.responses.create(any({ model: "compatible:llama", input: "Hi", top_k: 5, ...extras }));
    for (const request of [0, 1]) {
      expect((await provider.request(request)).body).toMatchObject({ model: "llama", top_k: 5, ...extras });
    }
    for (const [index, top_k] of [0, -1].entries()) {
      provider.respond(speak("ok"));
      await compatible.chat.completions.create(anyChat({ model: "compatible:llama", top_k }));
      expect((await provider.request(2 + index)).body).toMatchObject({ top_k });
    }
    const other = client.responses.create(any({ input: "Hi", min_p: 0.1 }));
    await expect(other).rejects.toMatchObject({ status: 400, param: "min_p", code: "unsupported_parameter" });
  });
});

async function setCompatible(baseUrl: string): Promise<OpenAI> {
  const service = await startService({ compatibleBaseUrl: baseUrl, defaultModel: "compatible:llama" });
  return openAiClient(service.url);
}

describe("roles", () => {
  test("an empty answer at the end is the one that the model writes", async () => {
    const { client, provider } = await setOpenAiStage();
    const empty: readonly unknown[] = ["", null, []];
    provider.respond(speak("ok"), ...empty.map(() => speak("ok")));
    for (const [index, content] of empty.entries()) {
      await client.chat.completions.create(anyChat({ messages: [...messages, { role: "assistant", content }] }));
      expect((await provider.request(index)).body.messages).toEqual(messages);
    }
    await client.responses.create(any({ input: [...messages, { role: "assistant", content: "" }] }));
    expect((await provider.request(empty.length)).body.messages).toEqual(messages);
  });

  test("of the agents of Codex, who write to each other, are those of users", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("ok"));
    const content = [
      { type: "input_text", text: "Message Type: NEW_TASK\nPayload:\n" },
      { type: "encrypted_content", encrypted_content: "Say hello." },
    ];
    const task = { type: "agent_message", id: "amsg_1", author: "/root", recipient: "/root/helper", content };
    await client.responses.create(any({ input: [...messages, task] }));
    const said = { role: "user", content: "Message Type: NEW_TASK\nPayload:\nSay hello." };
    expect((await provider.request(0)).body.messages).toEqual([...messages, said]);
  });

  test("of functions are those of tools, and instructions may come at the end", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("ok"), speak("ok"), speak("ok"));
    const history = [
      ...messages,
      { role: "assistant", content: null, function_call: { name: "now", arguments: "{}" } },
      { role: "function", name: "now", content: "noon" },
    ];
    await client.chat.completions.create(anyChat({ messages: history }));
    expect((await provider.request(0)).body.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ function: { name: "now" } }] },
      { role: "tool", content: "noon" },
    ]);
    await client.chat.completions.create(anyChat({ messages: [{ role: "system", content: "Say ok." }] }));
    expect((await provider.request(1)).body.messages).toEqual([{ role: "user", content: "Say ok." }]);
    await client.responses.create(any({ input: [{ role: "developer", content: "Say ok." }] }));
    expect((await provider.request(2)).body.messages).toEqual([{ role: "user", content: "Say ok." }]);
  });
});

test("input tokens of models behind Responses are counted by OpenAI", async () => {
  const server = await openWireServer();
  const openai = { openaiKey: "k", openaiBaseUrl: `${server.origin}/v1`, openaiApi: "responses" } as const;
  const client = openAiClient((await startService(openai)).url);
  server.respond(fail(200, '{"object":"response.input_tokens","input_tokens":4711}'), fail(500, "broken"));
  const params = { model: "gpt-4o", input: "Hi", instructions: "Be kind.", tools: [weather] };
  const counted = { object: "response.input_tokens", input_tokens: 4711 };
  expect(await client.responses.inputTokens.count(params)).toEqual(counted);
  const { path, body } = await server.request(0);
  expect(path).toBe("/v1/responses/input_tokens");
  expect(body).toMatchObject({ input: [{ content: "Be kind." }, { role: "user" }], tools: [{ name: weather.name }] });
  const { input_tokens: estimate } = await client.responses.inputTokens.count(params);
  expect(estimate).toBeLessThan(4711);
});

test("input tokens are counted without a request, with those of the conversation", async () => {
  const { client, provider } = await setOpenAiStage();
  const count = async (params: OpenAI.Responses.InputTokenCountParams) =>
    (await client.responses.inputTokens.count({ model: "gpt-4o", ...params })).input_tokens;
  const alone = await count({ input: "four words of text" });
  expect(alone).toBeGreaterThan(2);
  provider.respond(speak("An answer."));
  const { id } = await client.responses.create({ model: "gpt-4o", input: "A question with some words" });
  expect(await count({ input: "four words of text", previous_response_id: id })).toBeGreaterThan(alone + 5);
  expect(provider.requests).toHaveLength(1);
});

describe("tools of OpenAI's that the caller runs", () => {
  const cases = [
    {
      tool: { type: "shell", environment: { type: "local" } },
      json: '{"commands":["ls","pwd"],"timeout_ms":1000}',
      called: {
        ...{ type: "shell_call", call_id: "call_1", status: "completed", environment: { type: "local" } },
        action: { commands: ["ls", "pwd"], timeout_ms: 1000, max_output_length: null },
      },
      answer: {
        ...{ type: "shell_call_output", call_id: "call_1", max_output_length: 100 },
        output: [
          { stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "", stderr: "late", outcome: { type: "timeout" } },
        ],
      },
      read: "a.txt\n[exit code 0]\nlate\n[timed out]",
    },
    {
      tool: { type: "local_shell" },
      json: '{"command":["ls","-l"],"working_directory":"/tmp"}',
      called: {
        ...{ type: "local_shell_call", call_id: "call_1", status: "completed" },
        action: { type: "exec", command: ["ls", "-l"], working_directory: "/tmp", env: {} },
      },
      answer: { type: "local_shell_call_output", id: "call_1", output: "total 0" },
      read: "total 0",
    },
    {
      tool: { type: "apply_patch" },
      json: '{"type":"update_file","path":"a.txt","diff":"@@\\n-a\\n+b"}',
      called: {
        ...{ type: "apply_patch_call", call_id: "call_1", status: "completed" },
        operation: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" },
      },
      answer: { type: "apply_patch_call_output", call_id: "call_1", status: "failed", output: "no such file" },
      read: "The patch failed. no such file",
    },
  ];

  test.each(cases)("$tool.type is a function for the model", async ({ tool, json, called, answer, read }) => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(callTools({ id: "call_1", name: tool.type, arguments: json }), speak("Done"), speak("Done"));
    const asked = any({ input: "Go", tools: [tool, weather], tool_choice: { type: tool.type } });
    const first = lastResponse(await Array.fromAsync(client.responses.stream(asked as never)));
    expect(first).toMatchObject({ status: "completed", output: [called] });
    expect((await client.responses.retrieve(first.id)).output).toEqual(first.output);
    const { body } = await provider.request(0);
    expect(body).toMatchObject({
      tools: [{ function: { name: tool.type, parameters: { type: "object" } } }, { function: { name: "get_weather" } }],
      tool_choice: { type: "function", function: { name: tool.type } },
    });
    const history = [{ role: "user", content: "Go" }, ...first.output, answer];
    for (const rest of [{ input: history }, { input: [answer], previous_response_id: first.id }]) {
      const second = await client.responses.create(any({ tools: [tool], ...rest }));
      expect(second.output_text).toBe("Done");
    }
    for (const request of [1, 2]) {
      const { messages: sent } = (await provider.request(request)).body;
      const { tool_calls: calls } = sent.at(-2) as unknown as { tool_calls: { function: { arguments: string } }[] };
      expect(calls).toMatchObject([{ id: "call_1", function: { name: tool.type } }]);
      expect(JSON.parse(calls[0]?.function.arguments ?? "")).toMatchObject(JSON.parse(json));
      expect(sent.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call_1", content: read });
    }
  });

  test("a shell in a container is OpenAI's own, and what it ran is left out of the history", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("Done"));
    const call = {
      ...{ type: "shell_call", id: "sh_1", call_id: "call_1", status: "completed" },
      ...{ action: { commands: ["ls"] }, environment: { type: "container_reference", container_id: "c" } },
    };
    const output = { type: "shell_call_output", call_id: "call_1", output: [] };
    const tools = [{ type: "shell", environment: { type: "container_auto" } }, { type: "constructor" }];
    const input = [{ role: "user", content: "Go" }, call, output];
    const response = await client.responses.create(any({ input, tools }));
    expect(response.output_text).toBe("Done");
    const { body } = await provider.request(0);
    expect(body.messages).toEqual([{ role: "user", content: "Go" }]);
    expect(body.tools ?? []).toEqual([]);
  });
});
