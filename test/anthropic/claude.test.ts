// Models of Claude behind Anthropic's own API: they get back what they want back, exactly, and the caller's settings as they are.

import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { type MessagesWire, onMessages } from "../fakes/anthropic-provider.ts";
import { callTools } from "../fakes/provider.ts";
import { hello, setAnthropicStage, weather } from "./stage.ts";

const claude = { ...hello, model: "claude-opus-5", tools: [weather] };

/** Thinks, searches, and calls a function of the caller. */
function work(wire: MessagesWire): void {
  wire.start();
  wire.thinking("c2lnMQ==", "Let me ", "see.");
  wire.open({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} });
  wire.delta({ type: "input_json_delta", partial_json: '{"query":"Rome"}' });
  wire.close();
  wire.open({
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", title: "T", url: "https://x.test", encrypted_content: "ZW5j" }],
  });
  wire.close();
  wire.text("Now ", "I ask.");
  wire.toolUse("toolu_1", "get_weather", '{"id":2512292042121000001}');
  wire.done("tool_use");
}

function finish(wire: MessagesWire): void {
  wire.start();
  wire.text("Sunny");
  wire.done("end_turn");
}

const blocks = [
  { type: "thinking", thinking: "Let me see.", signature: "c2lnMQ==" },
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "Rome" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", title: "T", url: "https://x.test", encrypted_content: "ZW5j" }],
  },
  { type: "text", text: "Now I ask." },
];

test.each([false, true])("an answer comes back to Claude as it was; streamed: %s", async (stream) => {
  const { claude: provider, client } = await setAnthropicStage();
  provider.respond(onMessages(work), onMessages(finish));
  const thinking: Anthropic.ThinkingConfigParam = { type: "adaptive" };
  const asked = stream
    ? await client.messages.stream({ ...claude, thinking }).finalMessage()
    : await client.messages.create({ ...claude, thinking });
  expect(asked.stop_reason).toBe("tool_use");
  expect(asked.content).toMatchObject([...blocks, { type: "tool_use", id: "toolu_1", name: "get_weather" }]);
  await client.messages.create({
    ...claude,
    thinking,
    messages: [
      ...hello.messages,
      { role: "assistant", content: asked.content as Anthropic.ContentBlockParam[] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "25" }] },
    ],
  });
  const { body } = await provider.request(1);
  expect(body.messages[1]?.content).toMatchObject([...blocks, { type: "tool_use", id: "toolu_1" }]);
  expect(body.messages).toHaveLength(3);
});

test("thoughts that a stream could not give in their order come back sealed", async () => {
  const { claude: provider, client } = await setAnthropicStage();
  const thought = (wire: MessagesWire): void => {
    wire.start();
    wire.thinking("c2lnMg==");
    wire.redactedThinking("cmVkYWN0ZWQ=");
    wire.text("I ask.");
    wire.toolUse("toolu_1", "get_weather", "{}");
    wire.done("tool_use");
  };
  provider.respond(onMessages(thought), onMessages(finish));
  const thinking: Anthropic.ThinkingConfigParam = { type: "adaptive", display: "omitted" };
  const asked = await client.messages.stream({ ...claude, thinking }).finalMessage();
  expect(asked.content.map((block: { type: string }) => block.type)).toEqual(["text", "redacted_thinking", "tool_use"]);
  await client.messages.create({
    ...claude,
    thinking,
    messages: [
      ...hello.messages,
      { role: "assistant", content: asked.content as Anthropic.ContentBlockParam[] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "25" }] },
    ],
  });
  const { body } = await provider.request(1);
  expect(body.messages[1]?.content).toMatchObject([
    { type: "thinking", thinking: "", signature: "c2lnMg==" },
    { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
    { type: "text", text: "I ask." },
    { type: "tool_use", id: "toolu_1" },
  ]);
});

test("thoughts of Anthropic's own answers reach Claude, and marks for the cache do not", async () => {
  const { claude: provider, post } = await setAnthropicStage();
  provider.respond(onMessages(finish));
  const content = [
    { type: "thinking", thinking: "Hm", signature: "bmF0aXZl" },
    { type: "text", text: "Hi", cache_control: { type: "ephemeral" }, citations: [] },
  ];
  const messages = [...hello.messages, { role: "assistant", content }, { role: "user", content: "So?" }];
  await (await post({ ...claude, cache_control: { type: "ephemeral" }, messages })).text();
  const { body } = await provider.request(0);
  expect(body.messages[1]?.content).toEqual([content[0], { type: "text", text: "Hi", citations: [] }]);
  expect(body).not.toHaveProperty("cache_control");
});

test("settings and betas that only Anthropic has go to Claude, and to no other model", async () => {
  const { claude: provider, provider: other, post } = await setAnthropicStage();
  provider.respond(onMessages(finish));
  const own = {
    thinking: { type: "enabled", budget_tokens: 2_000 },
    output_config: { effort: "max" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    metadata: { user_id: "u" },
    speed: "fast",
    of_next_year: [1],
  };
  const search = { type: "web_search_20250305", name: "web_search", cache_control: { type: "ephemeral" } };
  const request = { ...claude, ...own, max_tokens: 5_000, tools: [weather, search], service_tier: "standard_only" };
  expect((await post(request, { "anthropic-beta": "a-1, b-2" })).status).toBe(200);
  const { body, headers } = await provider.request(0);
  expect(body).toMatchObject({ ...own, max_tokens: 5_000, service_tier: "standard_only" });
  expect(body.tools).toMatchObject([{ name: "get_weather" }, { type: "web_search_20250305", name: "web_search" }]);
  expect(JSON.stringify(body.tools)).not.toContain("cache_control");
  expect(headers["anthropic-beta"]).toBe("a-1,b-2");
  expect((await post({ ...request, model: "gpt-5" }, { "anthropic-beta": "a-1" })).status).toBe(200);
  const { body: plain } = await other.request(0);
  expect(plain.tools).toHaveLength(1);
  expect(plain).toMatchObject({ reasoning_effort: "high" });
  for (const name of Object.keys(own)) {
    expect(plain).not.toHaveProperty(name);
  }
});

test("a long conversation is not cut for a large answer", async () => {
  const { claude: provider, post } = await setAnthropicStage();
  provider.respond(onMessages(finish));
  const turn = [
    { role: "user", content: "word ".repeat(3_000) },
    { role: "assistant", content: "ok" },
  ];
  const messages = [...Array.from({ length: 24 }, () => turn).flat(), { role: "user", content: "So?" }];
  await (await post({ ...claude, model: "claude-sonnet-4-5", max_tokens: 64_000, messages })).text();
  expect((await provider.request(0)).body.messages).toHaveLength(49);
});

test("an answer that begins again: a stream ends with an error, a whole message has the last one", async () => {
  const { claude: provider, post, client } = await setAnthropicStage();
  const read = Promise.withResolvers<void>();
  const again = onMessages(async (wire) => {
    wire.start();
    wire.open({ type: "text", text: "" });
    wire.delta({ type: "text_delta", text: "Wrong" });
    await read.promise;
    wire.frame({ type: "message_start", message: { id: "msg_other", content: [], usage: {} } }, "message_start");
    wire.text("Sunny");
    wire.done("end_turn");
  });
  provider.respond(again, again);
  const stream = client.messages.stream(claude);
  stream.on("text", () => read.resolve());
  await expect(stream.done()).rejects.toThrow(/overloaded_error.*repeat the request/);
  const whole = await (await post(claude)).json();
  expect(whole).toMatchObject({ content: [{ type: "text", text: "Sunny" }] });
});

test.each([
  [{ type: "bash_20250124", name: "bash" }, '{"command":"ls"}'],
  [{ type: "text_editor_20250728", name: "str_replace_based_edit_tool" }, '{"command":"view","path":"/a"}'],
  [{ type: "memory_20250818", name: "memory" }, '{"command":"view","path":"/memories"}'],
])("Claude and models of others have a tool that the caller runs: %j", async (tool, input) => {
  const { claude: provider, provider: openai, client } = await setAnthropicStage();
  const call = (wire: MessagesWire) => {
    wire.start();
    wire.toolUse("toolu_1", tool.name, input);
    wire.done("tool_use");
  };
  provider.respond(onMessages(call));
  openai.respond(callTools({ id: "toolu_1", name: tool.name, arguments: input }));
  for (const model of ["claude-opus-5", hello.model]) {
    const unknown = { type: "constructor", name: "constructor" };
    const tools = (model === hello.model ? [tool, unknown] : [tool]) as Anthropic.ToolUnion[];
    const answer = await client.messages.create({ ...hello, model, tools });
    expect(answer.stop_reason).toBe("tool_use");
    expect(answer.content).toMatchObject([
      { type: "tool_use", id: "toolu_1", name: tool.name, input: JSON.parse(input) },
    ]);
  }
  expect((await provider.request(0)).body).toMatchObject({ tools: [tool] });
  const { tools } = (await openai.request(0)).body;
  expect(tools).toMatchObject([{ function: { name: tool.name, parameters: { type: "object" } } }]);
});
