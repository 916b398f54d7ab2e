// The agent loop's limits, as a caller sees them: repetition, calls of a turn, turns, how much of a long history is shown, the
// budget, and the usage of a stopped run.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { answer, type ChatWire, callTools, type FakeProvider, type Script, stopAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openFolder } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { test as base, expectRefused, readSession, setStage, startConversation, told } from "./stage.ts";
import type { Plain, SessionEvent, Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");
const test = base.extend("kind", rest);

const list = (id: string, args = "{}") => ({ id, name: "list_dir", arguments: args });
const loopText = "LOOP DETECTED: Tool 'list_dir' called 3 times with same arguments. Try a different approach.";

test("the third identical call gets the intervention as its result, and no tool of that turn runs", async () => {
  const { provider, api } = await setStage(rest);
  const workDir = await folderWith({ "a.txt": "a" });
  provider.respond(
    callTools(list("1", '{"path":".","x":1}')),
    callTools({ id: "r", name: "read_file", arguments: '{"file_path":"a.txt"}' }),
    // Neither the order of the keys nor the calls between them matter.
    callTools(list("2", '{"x":1, "path":"."}')),
    callTools(
      { id: "r2", name: "read_file", arguments: '{"file_path":"a.txt"}' },
      list("3", '{ "path": ".", "x": 1 }'),
    ),
    callTools(list("4", '{"path":".","x":1}')),
    answer("done"),
  );
  const events = await converse(api, { workDir, builtin: ["list_dir", "read_file"] });
  const results = events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
  expect(results.map(({ success }) => success)).toEqual([true, true, true, false, false, true]);
  expect(results[3]).toMatchObject({ tool: "read_file", error: expect.stringMatching(/^skipped: /) });
  expect(results[4]).toEqual({ tool: "list_dir", success: false, content: "", error: loopText });
  const told4 = (await provider.request(4)).body.messages.slice(-2);
  expect(told4.map(({ role, content }) => [role, content])).toEqual([
    ["tool", expect.stringMatching(/^Error: skipped: /)],
    ["tool", `Error: ${loopText}`],
  ]);
});

test("calls beyond the tenth of a turn are skipped, with their results in order", async ({ provider, api }) => {
  const calls = Array.from({ length: 12 }, (_, index) => list(`c${index}`, `{"path":".","n":${index}}`));
  provider.respond(callTools(...calls), answer("done"));
  const events = await converse(api, { workDir: await folderWith({}), builtin: ["list_dir"] });
  const results = events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
  expect(results.map(({ success }) => success)).toEqual([...Array<boolean>(10).fill(true), false, false]);
  expect(results[10]).toMatchObject({ error: "skipped: maximum 10 calls in a turn" });
  const answers = (await provider.request(1)).body.messages.filter(({ role }) => role === "tool");
  expect(answers.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map(({ id }) => id));
});

test("an agent writes, edits, finds and searches files in its work directory", async ({ provider, api }) => {
  const workDir = await folderWith({});
  const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });
  const outside = "../outside.txt";
  provider.respond(
    callTools(call("1", "write_file", { file_path: "src/a.ts", content: "one\ntwo\n" })),
    // Both calls run side by side, and neither edit is lost.
    callTools(
      call("2", "edit_file", { file_path: "src/a.ts", old_string: "one", new_string: "1" }),
      call("3", "edit_file", { file_path: "src/a.ts", old_string: "two", new_string: "2" }),
    ),
    callTools(
      call("4", "glob", { pattern: "**/*.ts" }),
      call("5", "grep", { pattern: "^[12]$" }),
      call("6", "write_file", { file_path: outside, content: "x" }),
    ),
    answer("done"),
  );
  const events = await converse(api, { workDir, builtin: ["write_file", "edit_file", "glob", "grep"] });
  const results = events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
  const file = join(workDir, "src/a.ts");
  expect(results).toEqual([
    { tool: "write_file", success: true, content: `Wrote 8 bytes to ${file}` },
    { tool: "edit_file", success: true, content: "File edited successfully" },
    { tool: "edit_file", success: true, content: "File edited successfully" },
    { tool: "glob", success: true, content: file },
    { tool: "grep", success: true, content: `${file}:1:1\n${file}:2:2\n` },
    {
      tool: "write_file",
      success: false,
      content: "",
      error: `path "${join(workDir, outside)}" is outside work directory`,
    },
  ]);
  expect(await readFile(file, "utf8")).toBe("1\n2\n");
});

test("the model gets the agent's own settings, else the service's", async () => {
  const { provider, api } = await setStage(rest, { defaultMaxTokens: 777 });
  provider.respond(answer("own"), answer("service's"));
  const own = { model: "gpt-4o", systemPrompt: "Be thorough.", maxTokens: 99, temperature: 0.7 };
  for (const agent of [own, {}]) {
    const { session_id: sessionId } = await api.createSession({ agent: { name: "reviewer", ...agent } });
    await api.sendMessage({ sessionId, message: "look" });
    await readSession(api, sessionId);
  }
  const asked = provider.requests.map(({ body: { model, messages, max_tokens, temperature } }) => [
    ...[model, max_tokens, temperature],
    ...messages.map(({ role, content }) => `${role}: ${content}`),
  ]);
  expect(asked).toEqual([
    ["gpt-4o", 99, 0.7, "system: Be thorough.", "user: look"],
    ["gpt-4o-mini", 777, undefined, "user: look"],
  ]);
});

test("a run without a limit of turns has a maximum of one turn", async () => {
  const { provider, api } = await setStage(rest, { defaultMaxTurns: 0 });
  provider.respond(callTools(list("1")));
  const events = await converse(api, { workDir: await folderWith({}), builtin: ["list_dir"] });
  expect(events.at(-2)?.payload).toEqual({ message: "agent reached maximum turn limit (1)" });
});

test("a model sees the first message and the newest ones of a long history, each exchange whole", async () => {
  const { provider, api } = await setStage(rest, { sessionsHistoryMessages: 4 });
  const { session_id: sessionId } = await api.createSession({ agent: { name: "chat" } });
  for (const number of [1, 2, 3, 4, 5]) {
    provider.respond(answer(`answer ${number}`));
    await api.sendMessage({ sessionId, message: `ask ${number}` });
    await readSession(api, sessionId);
  }
  const shown = (await provider.request(4)).body.messages.map(({ content }) => content);
  // Four messages of history: half an exchange makes no sense and is left out.
  expect(shown).toEqual(["ask 1", "ask 4", "answer 4", "ask 5"]);
});

test("messages beyond a model's context are dropped, whole exchanges first", async () => {
  const { provider, api } = await setStage(rest, { defaultModel: "openai:gpt-3.5-turbo", defaultMaxTokens: 100 });
  const { session_id: sessionId } = await api.createSession({ agent: { name: "chat" } });
  const long = "x".repeat(20_000);
  for (const number of [1, 2, 3]) {
    provider.respond(answer(`answer ${number} ${long}`));
    await api.sendMessage({ sessionId, message: `ask ${number}` });
    await readSession(api, sessionId);
  }
  provider.respond(answer("ok"));
  await api.sendMessage({ sessionId, message: "ask 4" });
  await readSession(api, sessionId);
  const shown = (await provider.request(3)).body.messages.map(({ content }) => String(content).slice(0, 8));
  expect(shown).toEqual(["ask 1", "ask 2", "answer 2", "ask 3", "answer 3", "ask 4"]);
});

test("a refusal of the provider fails the run with the provider's message", async ({ provider, api }) => {
  provider.respond(stopAfter("Well, ", "content_filter"));
  const events = await converse(api, {});
  expect(told(events).slice(-2)).toEqual([
    ["error", { message: "the provider withheld the response: content_filter" }],
    ["done", { status: "failed", output: "Well, ", turns: 1 }],
  ]);
});

test("a response that is cut in the middle of a call is requested again, and the half call does not run", async () => {
  const { provider, api } = await setStage(rest);
  const workDir = await folderWith({ "a.txt": "a" });
  const write = { name: "write_file", arguments: '{"file_path":"b.txt","content":"b"}' };
  provider.respond(
    callTools(list("1")),
    (wire) => {
      wire.toolCalls({ index: 0, id: "2", ...write });
      wire.toolCalls({ index: 1, id: "3", name: "write_file", arguments: '{"file_path":"c.txt","con' });
      return wire.cut();
    },
    callTools({ id: "4", ...write }),
    answer("done"),
  );
  const events = await converse(api, { workDir, builtin: ["list_dir", "write_file"] });
  expect(told(events)).toEqual([
    ["tool_call", { tool: "list_dir", args: {} }],
    ["tool_result", { tool: "list_dir", success: true, content: "a.txt\t1\n" }],
    ["tool_call", { tool: "write_file", args: { file_path: "b.txt", content: "b" } }],
    ["tool_result", { tool: "write_file", success: true, content: `Wrote 1 bytes to ${join(workDir, "b.txt")}` }],
    ["text", { content: "done" }],
    ["done", { status: "completed", output: "done", turns: 3 }],
  ]);
  // The second request repeats the first one.
  const [first, again] = await Promise.all([provider.request(1), provider.request(2)]);
  expect(again.body.messages).toEqual(first.body.messages);
});

const usage = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

test("a cancelled run has its usage so far, with its own count marked as an estimate", async () => {
  const { provider, api } = await setStage(rest, { defaultModel: "gpt-4o" });
  const workDir = await folderWith({});
  const spoke = Promise.withResolvers<void>();
  provider.respond(
    (wire) => {
      wire.toolCalls({ index: 0, ...list("1") });
      wire.finish("tool_calls");
      wire.usage(usage(1_000, 10));
      wire.done();
    },
    async (wire) => {
      wire.text("four");
      await spoke.promise;
      wire.text("more");
      await wire.hang();
    },
  );
  const runId = await begin(api, { workDir, builtin: ["list_dir"] });
  await until("the run to speak", async () => (await provider.request(1)) && (await hasSaid(api, runId, "four")));
  spoke.resolve();
  await until("the run to go on", () => hasSaid(api, runId, "more"));
  await api.cancelRun(runId);
  const { usage: used, state } = await ended(api, runId);
  expect(state).toBe("cancelled");
  expect(used).toMatchObject({
    completion_tokens: 12,
    estimated: true,
    price_table: expect.stringMatching(/^\d{4}-\d\d$/),
  });
  // The first turn's prompt at 2.5 each, its 10 completion tokens and the 2 of the second turn at 10, and the second prompt.
  const { prompt_tokens: prompt } = used as { prompt_tokens: number };
  expect(prompt).toBeGreaterThan(1_000);
  expect(used).toMatchObject({ cost_micro_usd: Math.ceil(prompt * 2.5 + 120) });
});

test("the cost of a whole response is the provider's usage at the table's prices, cached tokens at their own price", async () => {
  const { provider, api } = await setStage(rest);
  provider.respond((wire) => {
    wire.text("x");
    wire.finish("stop");
    wire.usage({ ...usage(1_000, 100), prompt_tokens_details: { cached_tokens: 400 } });
    wire.done();
  });
  const runId = await begin(api, {});
  const { usage: used } = await ended(api, runId);
  expect(used).toMatchObject({ prompt_tokens: 1_000, cost_micro_usd: 600 * 0.15 + 400 * 0.075 + 100 * 0.6 });
  expect(used).not.toHaveProperty("estimated");
});

test("a model without a known price has usage and no cost", async () => {
  const { provider, api } = await setStage(rest, { defaultModel: "openai:my-own" });
  provider.respond((wire) => say(wire, ["x"], usage(10, 1)));
  const { usage: used } = await ended(api, await begin(api, {}));
  expect(used).toEqual({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 });
});

test("a run is stopped in mid-stream by the piece that reaches its token budget", async () => {
  const { provider, api } = await setStage(rest, { budgetRunTokens: 1_000 });
  const closed = speakForEver(provider, 40);
  const runId = await begin(api, {});
  const run = await ended(api, runId);
  expect(run).toMatchObject({ state: "failed", failure_code: "runner.budget_exceeded" });
  expect(run.error).toMatch(/^budget exceeded: the run has used \d+ of 1000 tokens$/);
  const { prompt_tokens: prompt, completion_tokens: said } = run.usage as Record<string, number>;
  const total = Number(prompt) + Number(said);
  expect(total).toBeGreaterThanOrEqual(1_000);
  expect(total).toBeLessThan(1_000 + 40);
  expect(await closed).toBe(false);
});

test("a run ends with the piece that reaches its budget, even when many pieces arrive at once", async () => {
  const { provider, api } = await setStage(rest, { budgetRunTokens: 1_000 });
  const piece = "word".repeat(10);
  provider.respond((wire) => say(wire, Array(400).fill(piece), usage(10, 4_000)));
  const run = await ended(api, await begin(api, {}));
  expect(run).toMatchObject({ state: "failed", failure_code: "runner.budget_exceeded" });
  const { prompt_tokens: prompt, completion_tokens: said } = run.usage as Record<string, number>;
  expect(Number(prompt) + Number(said)).toBeGreaterThanOrEqual(1_000);
  expect(Number(prompt) + Number(said)).toBeLessThan(1_000 + 10);
});

test("a call that never ends is stopped by the budget too", async () => {
  const { provider, api } = await setStage(rest, { budgetRunTokens: 1_000 });
  provider.respond(async (wire, request) => {
    let isOpen = true;
    void request.closed.then(() => {
      isOpen = false;
    });
    wire.toolCalls({ index: 0, id: "1", name: "list_dir", arguments: '{"path":"' });
    while (isOpen) {
      wire.toolCalls({ index: 0, arguments: "word".repeat(10) });
      await new Promise((next) => setImmediate(next));
    }
  });
  expect(await ended(api, await begin(api, {}))).toMatchObject({ failure_code: "runner.budget_exceeded" });
});

test("the smaller budget of service and session counts, in tokens or in money", async () => {
  const { provider, api } = await setStage(rest, { budgetRunTokens: 1_000_000, defaultModel: "gpt-4o" });
  void speakForEver(provider, 40);
  const { session_id: sessionId } = await api.createSession({
    agent: { name: "thrifty", budget: { costMicroUsd: 5_000n } },
  });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "go" });
  const run = await ended(api, runId);
  expect(run).toMatchObject({ state: "failed", failure_code: "runner.budget_exceeded" });
  const { cost_micro_usd: cost } = run.usage as { cost_micro_usd: number };
  expect(cost).toBeGreaterThanOrEqual(5_000);
  expect(cost).toBeLessThan(5_000 + 40 * 10);
});

test("an exhausted budget prevents the request", async () => {
  const { provider, api } = await setStage(rest, { budgetRunTokens: 20 });
  const { session_id: sessionId } = await api.createSession({ agent: { name: "x", systemPrompt: "y".repeat(400) } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "go" });
  expect(await ended(api, runId)).toMatchObject({ failure_code: "runner.budget_exceeded" });
  expect(provider.requests).toHaveLength(0);
});

test("a budget in money is refused for a model without a known price", async () => {
  const { api } = await setStage(rest, { budgetClientDayUsd: 1, defaultModel: "openai:my-own" });
  const { session_id: sessionId } = await api.createSession({ agent: { name: "x" } });
  await expectRefused(api.sendMessage({ sessionId, message: "go" }), {
    grpcCode: "INVALID_ARGUMENT",
    httpStatus: 400,
    reason: "MODEL_UNSUPPORTED",
    text: /^failed to create client: no price is known for model my-own: use a budget of tokens/,
  });
});

test("concurrent runs of a client share its daily budget, and another client has its own", async () => {
  const { provider, api, service } = await setStage(rest, { budgetClientDayTokens: 5_000, sessionsMaxConcurrent: 0 });
  const pieceTokens = 25;
  for (let index = 0; index < 6; index++) {
    void speakForEver(provider, pieceTokens);
  }
  const runs = await Promise.all(Array.from({ length: 6 }, () => begin(api, {})));
  const endings = await Promise.all(runs.map((runId) => ended(api, runId)));
  expect(endings.map(({ failure_code }) => failure_code)).toEqual(Array(6).fill("runner.budget_exceeded"));
  // A run that could not reserve any tokens has used none.
  const used = endings.flatMap((run) => (run.usage === undefined ? [] : [run.usage as Record<string, number>]));
  const total = used.reduce((sum, each) => sum + Number(each.prompt_tokens) + Number(each.completion_tokens), 0);
  expect(total).toBeGreaterThanOrEqual(5_000);
  // Each run overshoots by at most one piece.
  expect(total).toBeLessThanOrEqual(5_000 + 6 * pieceTokens);
  // All reservations are released.
  const day = await api.getUsage();
  expect(day).toMatchObject({ tokens: total, tokens_max: 5_000 });
  const late = await begin(api, {});
  expect(await ended(api, late)).toMatchObject({
    failure_code: "runner.budget_exceeded",
    error: "budget exceeded: the client has used its 5000 tokens of today (UTC)",
  });
  const other = rest.connect(service, "stranger");
  expect(await ended(other, await begin(other, { model: "demo" }))).toMatchObject({ state: "completed" });
});

test("unused reservations return to the daily budget", async () => {
  const { provider, api } = await setStage(rest, { budgetClientDayTokens: 1_500 });
  for (let index = 0; index < 3; index++) {
    provider.respond((wire) => say(wire, ["x"], usage(10, 1)));
    expect(await ended(api, await begin(api, {}))).toMatchObject({ state: "completed" });
  }
  expect(await api.getUsage()).toMatchObject({
    client_id: "local",
    tokens: 33,
    cost_micro_usd: 3 * Math.ceil(10 * 0.15 + 0.6),
  });
});

test("an open circuit refuses at once with the document's message", async () => {
  const { provider, api } = await setStage(rest, { circuitMaxFailures: 2, circuitResetTimeoutSec: 3_600 });
  provider.respond(fail(500, "down"), fail(500, "down"));
  const first = await ended(api, await begin(api, {}));
  expect(first).toMatchObject({ state: "failed", error: "failed to send message: circuit breaker is open" });
  expect(provider.requests).toHaveLength(2);
  const second = await ended(api, await begin(api, {}));
  expect(second.error).toBe("failed to send message: circuit breaker is open");
  expect(provider.requests).toHaveLength(2);
});

interface Choice {
  readonly workDir?: string;
  readonly builtin?: string[];
  readonly model?: string;
}

async function begin(api: Surface, { workDir, builtin = [], model = "" }: Choice): Promise<string> {
  const { session_id: sessionId } = await api.createSession({
    ...(workDir !== undefined && { workDir }),
    agent: { name: "tester", model, tools: { builtin } },
  });
  return (await api.sendMessage({ sessionId, message: "hello" })).run_id;
}

async function converse(api: Surface, choice: Choice): Promise<SessionEvent[]> {
  const { workDir, builtin = [] } = choice;
  if (workDir === undefined) {
    return await readSession(api, (await startConversation(api, { tools: { builtin } })).sessionId);
  }
  const { session_id: sessionId } = await api.createSession({ workDir, agent: { name: "tester", tools: { builtin } } });
  await api.sendMessage({ sessionId, message: "hello" });
  return await readSession(api, sessionId);
}

/** Resolves with the run once it has ended. */
async function ended(api: Surface, runId: string): Promise<Plain> {
  await Array.fromAsync(api.followRun(runId));
  return await api.getRun(runId);
}

async function hasSaid(api: Surface, runId: string, text: string): Promise<boolean> {
  const { results } = await api.listResults({ runId, pageSize: 250 });
  return JSON.stringify(results).includes(text);
}

/** Sends pieces of this many tokens until the client hangs up. Resolves with whether the response ended properly. */
function speakForEver(provider: FakeProvider, pieceTokens: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const piece = "word".repeat(pieceTokens);
  const script: Script = async (wire, request) => {
    let isOpen = true;
    void request.closed.then((whole) => {
      isOpen = false;
      resolve(whole);
    });
    while (isOpen) {
      wire.text(piece);
      await new Promise((next) => setImmediate(next));
    }
  };
  provider.respond(script);
  return promise;
}

function say(wire: ChatWire, pieces: readonly string[], used: object): void {
  for (const piece of pieces) {
    wire.text(piece);
  }
  wire.finish("stop");
  wire.usage(used);
  wire.done();
}

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await openFolder();
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  return folder;
}
