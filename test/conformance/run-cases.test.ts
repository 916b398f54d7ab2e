// What a run does, case by case, while readers of every surface follow it: text, tools, usage, limits, and every way in which a
// provider fails.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { answer, type ChatWire, callTools, hangAfter, type Script } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openFolder } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { everySurface } from "./every-surface.ts";
import { readSession, setStage, startConversation, test, told } from "./stage.ts";
import type { Plain, Surface } from "./surface.ts";
import { withoutFeeds } from "./surfaces.ts";

describe.each([everySurface, withoutFeeds(everySurface)])("a run over $name", (kind) => {
  test.override("kind", kind);

  test("streams text and ends with the whole text", async ({ provider, api }) => {
    provider.respond((wire) => {
      wire.text("Hel");
      wire.text("lo <é\u2028>");
      wire.done("stop");
    });
    const { sessionId, runId } = await startConversation(api);
    const events = await readSession(api, sessionId);
    expect(textOf(events)).toBe("Hello <é\u2028>");
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "Hello <é\u2028>", turns: 1 });
    const results = await Array.fromAsync(api.followRun(runId));
    expect(results.map(({ sequence }) => sequence)).toEqual(results.map((_, index) => index + 1));
    expect(results[0]).toMatchObject({ type: "turn.started", payload: { turn: 1 } });
    expect(results.slice(-2)).toMatchObject([
      { type: "message.completed", payload: { message: { role: "assistant", text: "Hello <é\u2028>" } } },
      { type: "run.completed", payload: { finish_reason: "stop", turns: 1 } },
    ]);
  });

  test("needs no reader: it writes two hundred words while no client listens", async ({ provider, api, service }) => {
    const words = Array.from({ length: 200 }, (_, index) => `word${index} `);
    provider.respond((wire) => {
      words.forEach(wire.text);
      wire.done("stop");
    });
    const { runId } = await startConversation(api);
    const run = await until("the run to end", async () => {
      const { state, output } = await api.getRun(runId);
      return state === "completed" && { output };
    });
    expect(run.output).toBe(words.join(""));
    expect(service.app.countReaders()).toBe(0);
  });

  test("runs tools of one turn together and returns their results in call order", async ({ provider, api }) => {
    const workDir = await directoryWith({ "0.txt": "zero", "1.txt": "one", "3.txt": "three", "4.txt": "four" });
    const ids = [0, 1, 2, 3, 4].map((index) => `call_${index}`);
    provider.respond(
      callTools(...ids.map((id, index) => ({ id, name: "read_file", arguments: `{"file_path":"${index}.txt"}` }))),
      answer("read"),
    );
    const { session_id: sessionId } = await api.createSession({
      workDir,
      agent: { name: "reader", tools: { builtin: ["read_file", "list_dir"] } },
    });
    const sent = await api.sendMessage({ sessionId, message: "read them" });
    expect(sent.tools_registered).toEqual(["read_file", "list_dir"]);
    const contents = ["zero", "one", undefined, "three", "four"];
    expect(told(await readSession(api, sessionId))).toEqual([
      ...ids.map((_, index) => ["tool_call", { tool: "read_file", args: { file_path: `${index}.txt` } }]),
      ...contents.map((content) => ["tool_result", { tool: "read_file", ...outcomeOf(content, workDir) }]),
      ["text", { content: "read" }],
      ["done", { status: "completed", output: "read", turns: 2 }],
    ]);
    const second = await provider.request(1);
    const answers = second.body.messages.filter(({ role }) => role === "tool");
    expect(answers.map((message) => message.tool_call_id)).toEqual(ids);
    expect(answers[2]?.content).toMatch(/^Error: stat .*2\.txt: no such file or directory$/);
  });

  test("counts the tokens of each response, of the run and of the session", async ({ provider, api }) => {
    provider.respond(
      (wire) => {
        wire.toolCalls({ index: 0, id: "call_1", name: "list_dir", arguments: "{}" });
        wire.finish("tool_calls");
        wire.usage({ prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 });
        wire.done();
      },
      (wire) => {
        wire.text("empty");
        wire.finish("stop");
        wire.usage({
          prompt_tokens: 20,
          completion_tokens: 5,
          total_tokens: 25,
          prompt_tokens_details: { cached_tokens: 8 },
          completion_tokens_details: { reasoning_tokens: 0 },
        });
        wire.done();
      },
    );
    const { sessionId, runId } = await startConversation(api, { tools: { builtin: ["list_dir"] } });
    await readSession(api, sessionId);
    const results = await Array.fromAsync(api.followRun(runId));
    const sum = {
      prompt_tokens: 30,
      completion_tokens: 8,
      total_tokens: 38,
      cached_tokens: 8,
      reasoning_tokens: 0,
      ...cost(4 + 6),
    };
    expect(results.filter(({ type }) => type === "message.completed").map(({ usage }) => usage)).toEqual([
      // At the price of the model, rounded up.
      { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, ...cost(4) },
      { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, cached_tokens: 8, reasoning_tokens: 0, ...cost(6) },
    ]);
    expect(results.at(-1)?.usage).toEqual(sum);
    expect((await api.getSession(sessionId)).usage).toEqual(sum);
    expect((await api.getRun(runId)).usage).toEqual(sum);
  });

  test("keeps reasoning in its log and out of the documented events", async ({ provider, api }) => {
    provider.respond((wire) => {
      wire.reasoning("because");
      wire.text("so");
      wire.done("stop");
    });
    const { sessionId, runId } = await startConversation(api);
    expect(told(await readSession(api, sessionId))).toEqual([
      ["text", { content: "so" }],
      ["done", { status: "completed", output: "so", turns: 1 }],
    ]);
    const results = await Array.fromAsync(api.followRun(runId));
    expect(results.find(({ type }) => type === "reasoning.delta")?.payload).toEqual({ content: "because" });
  });

  test("answers invalid calls with errors and continues", async ({ provider, api }) => {
    provider.respond(
      callTools(
        { id: "call_1", name: "zap", arguments: "{}" },
        { id: "call_2", name: "list_dir", arguments: '{"path": ' },
        { id: "call_3", name: "list_dir", arguments: "[1]" },
        { id: "call_4", name: "list_dir", arguments: "" },
      ),
      answer("well"),
    );
    const { sessionId } = await startConversation(api, { tools: { builtin: ["list_dir"] } });
    const events = await readSession(api, sessionId);
    expect(ofType(events, "tool_call").map(({ args }) => args)).toEqual([{}, {}, {}, {}]);
    expect(ofType(events, "tool_result")).toEqual([
      { tool: "zap", success: false, content: "", error: "unknown tool: zap; this agent has the tools list_dir" },
      { tool: "list_dir", success: false, content: "", error: expect.stringMatching(/^invalid arguments: not valid/) },
      { tool: "list_dir", success: false, content: "", error: expect.stringMatching(/expected a JSON object, got an/) },
      { tool: "list_dir", success: true, content: "" },
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "well", turns: 2 });
  });

  test("stops at its maximum of turns, after the tools of the last one", async ({ provider, api }) => {
    provider.respond(callList("call_1"), callList("call_2"), answer("too late"));
    const { sessionId } = await startConversation(api, { maxTurns: 2, tools: { builtin: ["list_dir"] } });
    const events = await readSession(api, sessionId);
    const error = "agent reached maximum turn limit (2)";
    expect(ofType(events, "tool_result")).toHaveLength(2);
    expect(told(events).slice(-2)).toEqual([
      ["error", { message: error }],
      ["done", { status: "failed", turns: 2 }],
    ]);
    expect(await api.getSession(sessionId)).toMatchObject({ status: "failed", error, turns: 2 });
    expect(provider.requests).toHaveLength(2);
  });

  test("retries when the provider is busy for a moment", async ({ provider, api }) => {
    provider.respond(fail(429, "slow down", { "retry-after": "0.1" }), answer("at last"));
    const { sessionId } = await startConversation(api);
    expect(told(await readSession(api, sessionId))).toEqual([
      ["text", { content: "at last" }],
      ["done", { status: "completed", output: "at last", turns: 1 }],
    ]);
    expect(provider.requests).toHaveLength(2);
  });

  const cutAtOnce: Script = (wire) => wire.cut();
  const refusals = [
    { what: "an error of the provider, after three more tries", script: fail(500, "oops"), requests: 4 },
    { what: "a refused request, at once", script: fail(400, "bad request"), requests: 1 },
    { what: "a refused key, at once", script: fail(401, "bad key"), requests: 1 },
    { what: "a connection that always breaks, after three more tries", script: cutAtOnce, requests: 4 },
    { what: "a page in place of a stream, at once", script: fail(200, "<html>"), requests: 1 },
  ];
  const texts = [
    "failed to send message: API error (status 500): oops",
    "failed to send message: API error (status 400): bad request",
    "failed to send message: API error (status 401): bad key",
    "failed to send message: cannot reach provider openai: ECONNRESET",
    /^failed to send message: the response of provider openai cannot be read: expected an event stream/,
  ];
  test.for(refusals.map((refusal, index) => ({ ...refusal, text: texts[index] ?? "" })))(
    "fails with $what",
    async ({ script, requests, text }, { provider, api }) => {
      provider.respond(script, script, script, script, answer("never"));
      const { sessionId, runId } = await startConversation(api);
      const events = await readSession(api, sessionId);
      expect(events.map(({ type }) => type)).toEqual(["error", "done"]);
      expect(events[0]?.payload.message).toMatch(text);
      expect(events[1]?.payload).toMatchObject({ status: "failed" });
      const session = await api.getSession(sessionId);
      expect(session).toMatchObject({ status: "failed", error: events[0]?.payload.message });
      expect(await api.getRun(runId)).toMatchObject({ state: "failed", failure_code: "runner.error" });
      expect(provider.requests).toHaveLength(requests);
    },
  );

  const hiccups: { what: string; script: Script }[] = [
    { what: "a cut before the first word", script: cutAfterGreeting },
    { what: "an end without a word or a reason", script: (wire) => wire.raw("data: [DONE]\n\n") },
    {
      what: "an error object before the first word",
      script: (wire) => wire.frame({ error: { message: "overloaded" } }),
    },
  ];
  test.for(hiccups)("retries after $what", async ({ script }, { provider, api }) => {
    provider.respond(script, answer("again"));
    const { sessionId } = await startConversation(api);
    expect(told(await readSession(api, sessionId))).toEqual([
      ["text", { content: "again" }],
      ["done", { status: "completed", output: "again", turns: 1 }],
    ]);
    expect(provider.requests).toHaveLength(2);
  });

  const breaks: { what: string; script: Script; text: RegExp }[] = [
    { what: "a cut", script: (wire) => wire.cut(), text: /the response of provider openai was cut off: \w+/ },
    { what: "an end without a mark", script: (wire) => wire.end(), text: /cut off: no finish reason was sent$/ },
    {
      what: "an error object",
      script: (wire) => wire.frame({ error: { message: "engine fell over", code: 500 } }),
      text: /API error in stream: engine fell over$/,
    },
  ];
  test.each(breaks)("fails when $what follows its first words, and keeps them", async ({ script, text }) => {
    const { provider, api } = await setStage(kind);
    provider.respond((wire, request) => {
      wire.text("half a");
      return script(wire, request);
    }, answer("never"));
    const { sessionId } = await startConversation(api);
    const events = await readSession(api, sessionId);
    expect(events.map(({ type }) => type)).toEqual(["text", "error", "done"]);
    expect(events[1]?.payload.message).toMatch(text);
    expect(events[2]?.payload).toMatchObject({ status: "failed", output: "half a" });
    expect(provider.requests).toHaveLength(1);
  });

  test("ignores frames that are not JSON", async ({ provider, api }) => {
    provider.respond((wire) => {
      wire.text("a");
      wire.raw("data: {nope\n\n", "data: \n\n", ": comment\n\n", "data: {}\n\n");
      wire.text("b");
      wire.done("stop");
    });
    const { sessionId } = await startConversation(api);
    const events = await readSession(api, sessionId);
    expect(textOf(events)).toBe("ab");
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "ab" });
  });

  const stops: { what: string; stop: (api: Surface, ids: { sessionId: string; runId: string }) => Promise<unknown> }[] =
    [
      { what: "it is cancelled", stop: (api, { runId }) => api.cancelRun(runId) },
      { what: "its session is deleted", stop: (api, { sessionId }) => api.deleteSession(sessionId) },
    ];
  test.for(stops)("closes the provider's socket when $what", async ({ stop }, { provider, api }) => {
    provider.respond(hangAfter("thinking"));
    const ids = await startConversation(api);
    const reading = readSession(api, ids.sessionId);
    const request = await provider.request(0);
    await until("the first words", async () => (await api.listResults({ runId: ids.runId })).results.length >= 2);
    await stop(api, ids);
    expect(await request.closed).toBe(false);
    expect(told(await reading)).toEqual([
      ["text", { content: "thinking" }],
      ["done", { status: "cancelled", output: "thinking" }],
    ]);
    const run = await api.getRun(ids.runId);
    expect(run).toMatchObject({ state: "cancelled", failure_code: "cancelled", error: "context canceled" });
    expect(await api.cancelRun(ids.runId)).toEqual(run);
  });

  test("ends at its time limit", async () => {
    const { provider, api } = await setStage(kind, { defaultTimeoutSecs: 1 });
    provider.respond((wire) => wire.hang());
    const { sessionId, runId } = await startConversation(api);
    expect(told(await readSession(api, sessionId))).toEqual([
      ["error", { message: "context deadline exceeded" }],
      ["done", { status: "failed" }],
    ]);
    expect(await (await provider.request(0)).closed).toBe(false);
    expect(await api.getRun(runId)).toMatchObject({ state: "failed", failure_code: "runner.timeout" });
  });
});

/** Sends the head of a response and nothing of the answer. */
function cutAfterGreeting(wire: ChatWire): Promise<void> {
  wire.raw(": hi\n\n");
  return wire.cut();
}

function callList(id: string): Script {
  return callTools({ id, name: "list_dir", arguments: "{}" });
}

async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await openFolder();
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(directory, name), text);
  }
  return directory;
}

/** The outcome of read_file: a file of one line, or a missing file. */
function outcomeOf(content: string | undefined, workDir: string): Plain {
  if (content !== undefined) {
    return { success: true, content: `     1\t${content}\n` };
  }
  return { success: false, content: "", error: `stat ${join(workDir, "2.txt")}: no such file or directory` };
}

function ofType(events: readonly { type: string; payload: Plain }[], type: string): Plain[] {
  return events.filter((event) => event.type === type).map(({ payload }) => payload);
}

function textOf(events: readonly { type: string; payload: Plain }[]): string {
  return ofType(events, "text")
    .map(({ content }) => content)
    .join("");
}

function cost(microUsd: number): Plain {
  return { cost_micro_usd: microUsd, price_table: expect.any(String) };
}
