// Tools that the model's provider runs itself, in the middle of an answer: what readers see, and what the next request repeats.

import { describe, expect, test } from "vitest";
import { type WebSearch, webSearches } from "../fakes/web-search.ts";
import type { WireServer } from "../fakes/wire-server.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { everySurface } from "./every-surface.ts";
import { readSession, startConversation } from "./stage.ts";
import type { Plain } from "./surface.ts";

async function setStage({ flags }: WebSearch) {
  const server = await openWireServer();
  const service = await startService(flags(server.origin));
  return { server, service, api: everySurface.connect(service) };
}

/** The types of results in order, with adjacent deltas as one, and the text of each. */
function outline(results: readonly { readonly type: string; readonly payload: Plain }[]): [string, string?][] {
  const lines: [string, string?][] = [];
  for (const { type, payload } of results) {
    const last = lines.at(-1);
    const delta = type === "message.delta" ? String((payload.chunk as Plain).content) : undefined;
    if (delta !== undefined && last?.[0] === type) {
      last[1] += delta;
    } else {
      lines.push(delta === undefined ? [type] : [type, delta]);
    }
  }
  return lines;
}

/** Checks that a request has these texts, in this order. */
async function expectInOrder(server: WireServer, index: number, texts: readonly string[]): Promise<void> {
  const { text } = await server.request(index);
  let from = 0;
  for (const each of texts) {
    const at = text.indexOf(each, from);
    expect(at, `${each} in ${text}`).toBeGreaterThanOrEqual(from);
    from = at + each.length;
  }
}

describe.each(webSearches)("a search that $name runs", (search) => {
  const [before, after] = ["Let me look. ", "It is sunny."];

  test.each([
    ["between two texts", before, after],
    ["before the text", "", after],
    ["after the text", before, ""],
  ])("%s has its place in the log, and all readers see the text once", async (_, first, second) => {
    const { server, service, api } = await setStage(search);
    server.respond(search.search(first, second));
    const { runId, sessionId } = await startConversation(api, { tools: { provider: [search.tool] } });
    const results = await Array.fromAsync(api.followRun(runId));
    const delta = (text: string) => (text === "" ? [] : [["message.delta", text]]);
    expect(outline(results)).toEqual([
      ["turn.started"],
      ...delta(first),
      ["tool.call.started"],
      ["tool.call.completed"],
      ...delta(second),
      ["message.completed"],
      ["run.completed"],
    ]);
    const call = { tool_call_id: search.callId, tool_name: "web_search", run_by_provider: true };
    const ofTools = results.filter(({ type }) => type.startsWith("tool.call.")).map(({ payload }) => payload);
    expect(ofTools).toMatchObject([
      { ...call, parameters: search.parameters },
      { ...call, result: { content: search.found } },
    ]);
    expect(results.at(-1)?.payload).toMatchObject({ message: { text: first + second } });
    const events = await readSession(api, sessionId);
    const texts = events.filter(({ type }) => type === "text").map(({ payload }) => payload.content);
    expect(texts.join("")).toBe(first + second);
    expect(events.filter(({ type }) => type.startsWith("tool_")).map(({ payload }) => payload)).toMatchObject([
      { tool: "web_search" },
      { tool: "web_search", success: true },
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: first + second, turns: 1 });
    await expectInvariants(service.databaseUrl);
  });

  test("is in the next request of its session, byte by byte and between its texts", async () => {
    const { server, api } = await setStage(search);
    server.respond(search.search(before, after), search.say("You are welcome."));
    const { sessionId } = await startConversation(api, { tools: { provider: [search.tool] } });
    await readSession(api, sessionId);
    await api.sendMessage({ sessionId, message: "thanks" });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ output: "You are welcome." });
    await expectInOrder(server, 0, [search.tool.tool]);
    await expectInOrder(server, 1, ["hello", before, ...search.written, after, "thanks"]);
  });
});

describe.each(webSearches)("a search that $name runs", (search) => {
  test("costs its price beside the tokens, and counts for the budget of its run", async () => {
    const { server, api } = await setStage(search);
    server.respond(search.search("", "It is sunny."), search.say("It is sunny."), search.search("", "It is sunny."));
    const costs: number[] = [];
    const calls: unknown[] = [];
    for (const budget of [{}, {}, { costMicroUsd: 10_000n }]) {
      const { runId, sessionId } = await startConversation(api, { tools: { provider: [search.tool] }, budget });
      await readSession(api, sessionId);
      const run = await api.getRun(runId);
      const usage = run.usage as Plain;
      costs.push(Number(usage.cost_micro_usd));
      calls.push(usage.provider_calls);
      const isOver = "costMicroUsd" in budget;
      expect(run).toMatchObject(isOver ? { failure_code: "runner.budget_exceeded" } : { state: "completed" });
    }
    const [searched = 0, said = 0, stopped = 0] = costs;
    expect(said).toBeLessThan(1_000);
    expect(searched - said).toBeGreaterThanOrEqual(10_000);
    expect(searched - said).toBeLessThan(11_000);
    expect(stopped).toBeGreaterThanOrEqual(10_000);
    expect(calls).toEqual([1, undefined, 1]);
  });

  test("is limited where the provider has the limit", async () => {
    const { server, api } = await setStage(search);
    server.respond(search.say("Yes."));
    const { sessionId } = await startConversation(api, { tools: { provider: [search.tool] }, maxProviderCalls: 2 });
    await readSession(api, sessionId);
    const isOpenAi = search.tool.provider === "openai";
    const { body } = await server.request(0);
    expect(body).toMatchObject(isOpenAi ? { max_tool_calls: 2 } : { tools: [{ name: "web_search", max_uses: 2 }] });
  });
});

describe("a turn that pauses", () => {
  const [anthropic] = webSearches as readonly [WebSearch];

  test("goes on by itself, and its text and calls are one after the other", async () => {
    const { server, service, api } = await setStage(anthropic);
    server.respond(anthropic.search("Let me look. ", "", "pause_turn"), anthropic.say("It is sunny."));
    const { runId, sessionId } = await startConversation(api, { maxTurns: 2 });
    const results = await Array.fromAsync(api.followRun(runId));
    expect(outline(results)).toEqual([
      ["turn.started"],
      ["message.delta", "Let me look. "],
      ["tool.call.started"],
      ["tool.call.completed"],
      ["message.completed"],
      ["turn.started"],
      ["message.delta", "It is sunny."],
      ["message.completed"],
      ["run.completed"],
    ]);
    const { text } = await server.request(1);
    expect(text).toContain(`{"role":"assistant","content":[{"type":"text","text":"Let me look. "},`);
    await expectInOrder(server, 1, ["hello", "Let me look. ", ...anthropic.written.map((block) => block.slice(0, -1))]);
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ status: "completed", turns: 2 });
    await expectInvariants(service.databaseUrl);
  });

  test("ends the run when it pauses in its last turn, and the session goes on with what it has found", async () => {
    const { server, service, api } = await setStage(anthropic);
    const paused = anthropic.search("Let me look. ", "", "pause_turn");
    server.respond(paused, paused, anthropic.say("You are welcome."));
    const { sessionId } = await startConversation(api, { maxTurns: 2 });
    const events = await readSession(api, sessionId);
    expect(events.at(-1)?.payload).toMatchObject({ status: "failed", turns: 2 });
    expect(events.filter(({ type }) => type === "error").map(({ payload }) => payload)).toEqual([
      { message: "agent reached maximum turn limit (2)" },
    ]);
    expect(server.requests).toHaveLength(2);
    await api.sendMessage({ sessionId, message: "thanks" });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ output: "You are welcome." });
    const written = anthropic.written.map((block) => block.slice(0, -1));
    await expectInOrder(server, 2, ["hello", ...written, ...written, "thanks"]);
    await expectInvariants(service.databaseUrl);
  });
});
