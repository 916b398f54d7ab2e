// The demo model through the interface that the agent loop uses.

import { describe, expect, test } from "vitest";
import { quoteCharsMax } from "../../src/agent/models/demo/answer.ts";
import { createDemoModel } from "../../src/agent/models/demo/demo-model.ts";
import type { ModelMessage, ModelPart, ModelRequest, ModelToolCall } from "../../src/agent/models/model.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const tools = ["read_file", "list_dir", "bash"].map((name) => ({ name, description: name, parameters: {} }));

function ask(text: string, after: readonly ModelMessage[] = [], overrides: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [{ role: "user", text } as const, ...after];
  return { system: "", messages, tools, maxTokens: 4096, temperature: undefined, ...overrides };
}

function called(id: string, toolName: string, result: string): ModelMessage[] {
  return [
    { role: "assistant", text: "", toolCalls: [{ id, name: toolName, argumentsJson: "{}" }] },
    { role: "tool", toolCallId: id, toolName, text: result },
  ];
}

async function run(request: ModelRequest, clock = createManualClock({ jump: true })): Promise<ModelPart[]> {
  return Array.fromAsync(createDemoModel({ clock }).stream(request, new AbortController().signal));
}

async function callsOf(request: ModelRequest): Promise<ModelToolCall[]> {
  return (await run(request)).flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
}

async function answerTo(request: ModelRequest): Promise<string> {
  return (await run(request)).map((part) => (part.type === "text" ? part.text : "")).join("");
}

const listDir = { id: "demo-call-1", name: "list_dir", argumentsJson: "{}" };

function readFile(id: number, path: string): ModelToolCall {
  return { id: `demo-call-${id}`, name: "read_file", argumentsJson: JSON.stringify({ file_path: path }) };
}

describe("the choice of tools", () => {
  test.each([
    "list what is here",
    "Which files are there?",
    "show me the directory",
    "explore this",
    "please look around",
  ])("%j lists the directory", async (text) => {
    expect(await callsOf(ask(text))).toEqual([listDir]);
  });

  test.each([
    ["read notes.txt", ["notes.txt"]],
    ["What does the file `src/app.ts` say?", ["src/app.ts"]],
    ["compare a.md, b.md and a.md.", ["a.md", "b.md"]],
  ])("%j reads each file that it names once", async (text, paths) => {
    expect(await callsOf(ask(text))).toEqual(paths.map((path, index) => readFile(index + 1, path)));
  });

  test("makes both kinds of call in one turn", async () => {
    expect(await callsOf(ask("list the files and read package.json"))).toEqual([listDir, readFile(2, "package.json")]);
  });

  test.each(["hello there", "see https://example.com/a.html", "e.g. something", "pace=5 words=3.5"])(
    "%j calls no tool",
    async (text) => {
      expect(await callsOf(ask(text))).toEqual([]);
    },
  );

  test("asks each agent that a line names, and does nothing else", async () => {
    const agents = ["finder", "critic"].map((name) => ({ name, description: "", parameters: {} }));
    const text = "Ask the finder: Read a.txt. words=9\nAsk the critic: What is missing?\nAsk the cook: Supper?";
    expect(await callsOf(ask(text, [], { tools: [...tools, ...agents] }))).toEqual([
      { id: "demo-call-1", name: "finder", argumentsJson: '{"message":"Read a.txt. words=9"}' },
      { id: "demo-call-2", name: "critic", argumentsJson: '{"message":"What is missing?"}' },
    ]);
  });

  test("is limited to the tools on offer", async () => {
    expect(await callsOf(ask("list files and read a.txt", [], { tools: tools.slice(0, 1) }))).toEqual([
      readFile(1, "a.txt"),
    ]);
    expect(await callsOf(ask("list files and read a.txt", [], { tools: [] }))).toEqual([]);
  });

  test("ends the turn with finish reason tool-calls", async () => {
    expect((await run(ask("list files"))).at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
  });

  test("continues with the readme of a listing when asked to explore", async () => {
    const listing = "src/\t4096\nREADME.md\t120\nreadme-old.md\t3\n";
    expect(await callsOf(ask("explore", called("demo-call-1", "list_dir", listing)))).toEqual([
      readFile(2, "README.md"),
    ]);
  });

  test.each([
    ["list files", "README.md\t120\n"],
    ["explore", "src/\t4096\n"],
  ])("after %j and the listing %j it answers without another call", async (text, listing) => {
    expect(await callsOf(ask(text, called("demo-call-1", "list_dir", listing)))).toEqual([]);
  });

  test("considers only the last user message, but never uses a call id twice", async () => {
    const earlier = [
      ...called("demo-call-1", "list_dir", "a\t1\n"),
      { role: "assistant", text: "ok", toolCalls: [] } as const,
    ];
    const request = ask("list files", [...earlier, { role: "user", text: "read a.txt" }]);
    expect(await callsOf(request)).toEqual([readFile(2, "a.txt")]);
  });
});

describe("the answer", () => {
  test("says that it is a demo model and quotes the results of tools", async () => {
    const answer = await answerTo(ask("list files", called("demo-call-1", "list_dir", "notes.txt\t12\nsrc/\t4096\n")));
    expect(answer).toContain("demo model");
    expect(answer).toContain("I called list_dir and it returned:\n\nnotes.txt\t12\nsrc/\t4096\n");
  });

  test("quotes the user when no tool was called", async () => {
    expect(await answerTo(ask("hello there"))).toContain("You wrote: hello there");
  });

  test("limits its quotes and says how much is missing", async () => {
    const answer = await answerTo(
      ask("read a.txt", called("demo-call-1", "read_file", "x".repeat(quoteCharsMax + 50))),
    );
    expect(answer).toContain(`${"x".repeat(quoteCharsMax)}… (50 more characters)`);
    expect(answer).not.toContain("x".repeat(quoteCharsMax + 1));
  });

  test("arrives word by word and ends with a count of the words", async () => {
    const parts = await run(ask("hello there"));
    const words = parts.slice(0, -1).map((part) => (part.type === "text" ? part.text.trim() : ""));
    expect(words.length).toBeGreaterThan(10);
    expect(words.every((word) => /^\S+$/.test(word))).toBe(true);
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      reason: "stop",
      usage: { promptTokens: 2, completionTokens: words.length, totalTokens: words.length + 2 },
    });
  });

  test.each([1, 5, 200])("has exactly %d words when the message asks for them", async (count) => {
    const parts = await run(ask(`talk words=${count}`));
    expect(parts.filter((part) => part.type === "text")).toHaveLength(count);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("stops at the token limit of the request", async () => {
    const parts = await run(ask("talk words=999999999", [], { maxTokens: 7 }));
    expect(parts.filter((part) => part.type === "text")).toHaveLength(7);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "length" });
  });

  test.each([
    ["talk words=4", [20, 20, 20]],
    ["talk words=4 pace=5", [5, 5, 5]],
    ["talk words=4 pace=0", []],
  ])("%j is paced by these waits: %j", async (text, delaysMs) => {
    const clock = createManualClock({ jump: true });
    await run(ask(text), clock);
    expect(clock.delaysMs).toEqual(delaysMs);
  });

  test("is the same for the same request", async () => {
    const request = ask("explore", called("demo-call-1", "list_dir", "a\t1\n"));
    expect(await run(request)).toEqual(await run(request));
  });
});

test("an abort between two words ends the stream at once, without a finish", async () => {
  const clock = createManualClock();
  const abort = new AbortController();
  const parts = createDemoModel({ clock }).stream(ask("talk"), abort.signal)[Symbol.asyncIterator]();
  await parts.next();
  const next = parts.next();
  await clock.slept(1);
  abort.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test("an aborted signal gives an empty stream", async () => {
  const model = createDemoModel({ clock: createManualClock() });
  expect(await Array.fromAsync(model.stream(ask("list files"), AbortSignal.abort()))).toEqual([]);
});
