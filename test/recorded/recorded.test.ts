// `npm run conformance -- recorded`: recordings of our own in both forms, and what the judge makes of wrong answers.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { ModelPart } from "../../src/agent/models/model.ts";
import type { Answer } from "./answer.ts";
import { compare } from "./compare.ts";
import { readParts } from "./play.ts";
import { exitCodeOf, type Played, printStream, printTable } from "./report.ts";
import { runRecorded } from "./run.ts";

const bigId = '{"id":2512292042121000001,"r":1.0}';

const chat = [
  { choices: [{ index: 0, delta: { role: "assistant", reasoning_content: "Hm" } }] },
  { choices: [{ index: 0, delta: { content: "Grüße 👋 " } }] },
  {
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c1", function: { name: "find", arguments: "" } }] } }],
  },
  { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: bigId } }] } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
];

const messages = [
  { type: "message_start", message: { id: "m1", content: [], usage: { input_tokens: 3, cache_read_input_tokens: 4 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t1", name: "find", input: {} } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a":' } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "1}" } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

const gemini = [
  { candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }] },
  {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "!" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 10 },
  },
];

const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
const responses = [
  { type: "response.created", response: { id: "r1", created_at: 1, model: "m", status: "in_progress" } },
  { type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } },
  { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta: "Hello" },
  {
    type: "response.output_item.done",
    output_index: 0,
    item: { ...message, content: [{ type: "output_text", text: "Hello", annotations: [] }] },
  },
  {
    type: "response.completed",
    response: { id: "r1", status: "completed", output: [], usage: { input_tokens: 5, output_tokens: 1 } },
  },
];

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "runnel-recorded-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

function writeChunks(path: string, ...frames: readonly object[]): Promise<void> {
  return write(`packages/${path}.chunks.txt`, frames.map((frame) => JSON.stringify(frame)).join("\n"));
}

/** Returns one exchange of a cassette. Its stream has line ends as Gemini writes them. */
function exchange(uri: string, frames: readonly object[], type = "text/event-stream; charset=utf-8"): object {
  const body = frames.map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`).join("");
  return {
    request: { method: "POST", uri },
    response: { headers: { "content-type": [type] }, body: { string: body }, status: { code: 200 } },
  };
}

function writeCassette(path: string, ...interactions: readonly object[]): Promise<void> {
  return write(`tests/cassettes/${path}.yaml`, stringify({ interactions, version: 1 }));
}

async function run(text = ""): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const code = await runRecorded(folder, text, (line) => lines.push(line));
  return { code, lines };
}

describe("a folder of recordings", () => {
  test("is played by every API in both forms, and exact streams give a table and exit code 0", async () => {
    await writeChunks("groq/src/__fixtures__/call", ...chat);
    await writeChunks("anthropic/src/__fixtures__/call", ...messages);
    await writeChunks("google/src/__fixtures__/text", ...gemini);
    await writeChunks("openai/src/responses/__fixtures__/text", ...responses);
    await writeCassette(
      "test_models",
      exchange("https://api.anthropic.com/v1/messages", messages),
      exchange("https://models.example/v1beta/models/m:streamGenerateContent?alt=sse", gemini),
    );
    expect(await run()).toEqual({
      code: 0,
      lines: [
        "provider           API               streams  exact",
        "anthropic          Messages          1        1",
        "google             Gemini            1        1",
        "groq               Chat Completions  1        1",
        "openai             Responses         1        1",
        "api.anthropic.com  Messages          1        1",
        "models.example     Gemini            1        1",
        "6 of 6 exact",
      ],
    });
  });

  test("has streams of other APIs, which are named and not played", async () => {
    await writeChunks("cohere/a", { type: "message-start" });
    await writeCassette("b", exchange("https://bedrock.example/stream", [], "application/vnd.amazon.eventstream"));
    await writeChunks("groq/c", ...chat);
    const { code, lines } = await run();
    expect(code).toBe(0);
    expect(lines.slice(0, 2)).toEqual([
      '- cohere  packages/cohere/a.chunks.txt: not played: frames of another API, such as {"type":"message-start"}',
      "- bedrock.example  tests/cassettes/b.yaml#1: not played: application/vnd.amazon.eventstream",
    ]);
    expect(lines.at(-1)).toBe("1 of 1 exact");
  });

  test("may have several streams in a file, and a part of it may be chosen by a text in its path", async () => {
    await writeChunks("anthropic/steps", ...messages, ...messages);
    await writeChunks("groq/call", ...chat);
    expect((await run("steps")).lines).toEqual([
      "provider   API       streams  exact",
      "anthropic  Messages  2        2",
      "2 of 2 exact",
    ]);
  });

  test("without a recording is refused", async () => {
    await expect(run()).rejects.toThrow("has no recorded streams");
  });

  test("has streams that were cut or that end in an error: the product must fail, with the provider's words", async () => {
    await writeChunks("anthropic/cut", ...messages.slice(0, 3));
    await writeChunks("anthropic/error", ...messages.slice(0, 3), {
      type: "error",
      error: { type: "overloaded_error", message: "Too busy" },
    });
    expect((await run()).lines.at(-1)).toBe("2 of 2 exact");
  });
});

describe("a difference", () => {
  const parts: readonly ModelPart[] = [
    { type: "text", text: "Hello" },
    { type: "tool-call", call: { id: "c1", name: "find", argumentsJson: '{"id": 2512292042121000001, "r": 1.0}' } },
    { type: "provider-call", call: { id: "s1", name: "web_search", argumentsJson: "{}" }, outcome: { json: "[]" } },
    {
      type: "finish",
      reason: "tool-calls",
      usage: { promptTokens: 5, completionTokens: 7, totalTokens: 12, cachedTokens: 0, reasoningTokens: undefined },
    },
  ];
  const exact: Answer = {
    text: "Hello",
    reasoning: [],
    calls: [{ id: "c1", name: "find", arguments: bigId }],
    providerCalls: ["web_search"],
    finish: "tool-calls",
    inputTokens: 5,
    outputTokens: 7,
  };

  test.each<[string, Partial<Answer>, string]>([
    ["text", { text: "Hello!" }, 'text: expected "Hello!", got "Hello"'],
    ["reasoning", { reasoning: ["Hm", "so"] }, 'reasoning: expected "Hmso", got ""'],
    [
      "a digit of an argument",
      { calls: [{ id: "c1", name: "find", arguments: bigId.replace("001", "000") }] },
      String.raw`calls: expected "… find({\"id\":2512292042121000000,\"r\":1.0})", got "… find({\"id\":2512292042121000001,\"r\":1.0})"`,
    ],
    ["a call of the provider", { providerCalls: [] }, 'provider calls: expected "", got "web_search"'],
    ["the end", { finish: "stop" }, 'finish: expected "stop", got "tool-calls"'],
    ["tokens", { inputTokens: undefined }, 'input tokens: expected "undefined", got "5"'],
  ])("of %s is printed with both sides", (_name, change, line) => {
    const differences = compare({ ...exact, ...change }, readParts(parts));
    const stream: Played = { path: "a.chunks.txt", provider: "groq", api: "Chat Completions", differences };
    expect(printStream(stream)).toEqual([`✗ groq  a.chunks.txt: ${line}`]);
    expect(exitCodeOf([stream])).toBe(1);
    const [kind] = line.split(":");
    expect(printTable([stream]).slice(-3)).toEqual([
      "groq      Chat Completions  1        0",
      `1 × ${kind}`,
      "0 of 1 exact",
    ]);
  });

  test("is shown from a little before its place, in at most 200 characters", () => {
    const [difference] = compare({ ...exact, text: `${"a".repeat(1000)}b` }, { ...exact, text: "a".repeat(2000) });
    expect(difference).toEqual({
      kind: "text",
      expected: JSON.stringify(`…${"a".repeat(30)}b`),
      got: JSON.stringify(`…${"a".repeat(200)}…`),
    });
  });

  test("is none when line ends stand between blocks of reasoning, or calls of the provider are in another order", () => {
    const expected = { ...exact, reasoning: ["Hm", "so"], providerCalls: ["a", "b"] };
    expect(compare(expected, { ...expected, reasoning: ["Hm", "\n\n", "so"], providerCalls: ["b", "a"] })).toEqual([]);
  });

  test("is a failure without the words of the provider, or a call that ran although its response failed", () => {
    const failed: Answer = { ...exact, calls: [], finish: "failure", failure: "Too busy" };
    expect(compare(failed, { ...failed, failure: "API error in stream: Too busy" })).toEqual([]);
    expect(compare(failed, { ...failed, calls: exact.calls, failure: "oops" }).map(({ kind }) => kind)).toEqual([
      "failure",
      "calls",
    ]);
  });
});
