// Tools that the model's provider runs itself, in the middle of an answer: what readers see, and what the next request repeats.

import { describe, expect, onTestFinished, test } from "vitest";
import { type WebSearch, webSearches } from "../fakes/web-search.ts";
import { startWireServer, type WireServer } from "../fakes/wire-server.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { startService } from "../harness/service.ts";
import { everySurface } from "./every-surface.ts";
import { readSession, startConversation } from "./stage.ts";
import type { Plain } from "./surface.ts";

async function setStage({ flags }: WebSearch) {
  const server = await startWireServer();
  onTestFinished(() => server.close());
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
