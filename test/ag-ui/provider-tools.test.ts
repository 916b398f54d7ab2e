// A tool that the model's provider runs itself, in the middle of an answer, by the official clients.

import type { BaseEvent } from "@ag-ui/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type WebSearch, webSearches } from "../fakes/web-search.ts";
import { openWireServer } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { startService } from "../harness/service.ts";
import { ask, clients, openAgent } from "./stage.ts";

async function setStage({ flags, tool }: WebSearch) {
  const server = await openWireServer();
  const preset = `helper=${JSON.stringify({ tools: { provider: [tool] } })}`;
  const service = await startService({ ...flags(server.origin), agentPresets: [preset] });
  const printed: unknown[] = [];
  for (const name of ["warn", "error"] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...args) => void printed.push(args));
    onTestFinished(() => spy.mockRestore());
  }
  return { server, service, printed };
}

const searches = clients.flatMap((client) => webSearches.map((search) => ({ ...client, search, by: search.name })));

describe.each(searches)("$name: a search that $by runs", ({ Agent, search }) => {
  test.each([
    ["between two texts", "Let me look. ", "It is sunny."],
    ["before the text", "", "It is sunny."],
    ["after the text", "Let me look.", ""],
  ])("%s is a call with its result, and text after it is another message", async (_, before, after) => {
    const { server, service, printed } = await setStage(search);
    server.respond(search.search(before, after), search.say("Yes."));
    const agent = openAgent(Agent, service.url, { preset: "helper" });
    ask(agent, "weather?");
    const events: BaseEvent[] = [];
    await agent.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void events.push(event) });
    const calling = { role: "assistant", toolCalls: [{ id: search.callId, function: { name: "web_search" } }] };
    expect(agent.messages).toMatchObject([
      { role: "user" },
      before === "" ? calling : { ...calling, content: before },
      { role: "tool", toolCallId: search.callId },
      ...(after === "" ? [] : [{ role: "assistant", content: after }]),
    ]);
    const result = agent.messages.find(({ role }) => role === "tool");
    expect(JSON.parse(String(result?.content))).toEqual({ content: search.found });
    expect(new Set(agent.messages.map(({ id }) => id)).size).toBe(agent.messages.length);
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", result: { output: before + after } });
    // The client sends everything back. Only its new message is new to the thread, and the provider gets its own blocks.
    ask(agent, "sure?");
    await agent.runAgent({ runId: "r2" });
    expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: "Yes." });
    const { text } = await server.request(1);
    for (const written of search.written) {
      expect(text).toContain(written);
    }
    expect(await query(service.databaseUrl, "select id from session")).toHaveLength(1);
    expect(printed).toEqual([]);
  });
});
