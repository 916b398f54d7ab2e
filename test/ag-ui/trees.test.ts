// Agents that call agents, hand over to others and summarise what was said, by the official clients.

import type { BaseEvent } from "@ag-ui/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { boss, callOf, echo, openStage, type Part } from "../child-runs/team.ts";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { ask, clients, openAgent, textsOf } from "./stage.ts";

const presetOf = (name: string, agent: object) => `${name}=${JSON.stringify({ system_prompt: name, ...agent })}`;
const worker = { name: "worker", description: "Works.", agent: { system_prompt: "worker" } };

/** The warnings and errors that the clients print. */
function listen(): readonly unknown[] {
  const printed: unknown[] = [];
  for (const name of ["warn", "error"] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...args) => void printed.push(args));
    onTestFinished(() => spy.mockRestore());
  }
  return printed;
}

const ofType = (events: readonly BaseEvent[], type: RegExp) => events.filter((each) => type.test(each.type));

describe.each(clients)("by $name", ({ Agent, isV1 }) => {
  test("a child run is an activity with its id and state, also for a client that joins", async () => {
    const printed = listen();
    const gate = Promise.withResolvers<void>();
    const gated: Part = (messages, turn, request) => async (wire, call) => {
      await gate.promise;
      await (echo(messages, turn, request) as Script)(wire, call);
    };
    const stage = await openStage(
      { boss: boss(callOf("c1", "worker", { message: "dig" })), worker: gated },
      { agentPresets: [presetOf("boss", { max_turns: 5, tools: { agents: [worker] } })] },
    );
    const { url } = stage.service;
    const run = (agent: ReturnType<typeof openAgent>, events: BaseEvent[]) =>
      agent.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void events.push(event) });
    const open = () => openAgent(Agent, url, { preset: "boss" });
    const [first, second, late] = [open(), open(), open()];
    const [seen, heard]: [BaseEvent[], BaseEvent[]] = [[], []];
    ask(first, "go", "u1");
    const running = run(first, seen);
    await until("the activity", () => ofType(seen, /^ACTIVITY_SNAPSHOT$/).length > 0);
    const joining = run(second, heard);
    await until("the snapshot", () => ofType(heard, /^MESSAGES_SNAPSHOT$/).length > 0);
    const shown = { activityType: "runnel.child_run", content: { agent: "worker", tool_call_id: "c1" } };
    const working = { role: "activity", ...shown, content: { ...shown.content, status: "working" } };
    expect(second.messages.at(-1)).toMatchObject(working);
    gate.resolve();
    await Promise.all([running, joining]);
    await run(late, []);
    const [child] = (await stage.client.call(RunService.method.listRuns, {})).runs.filter(({ depth }) => depth === 1);
    const content = { ...shown.content, run_id: child?.runId, status: "completed" };
    expect(first.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", toolCalls: [{ id: "c1" }] },
      { role: "tool", toolCallId: "c1", content: `echo dig\n\n[run_id: ${child?.runId}]` },
      { role: "activity", ...shown, content },
      { role: "assistant", content: "they said: echo dig" },
    ]);
    expect(second.messages).toEqual(first.messages);
    expect(late.messages).toEqual(first.messages);
    // Only protocol 1.0 knows subagents.
    const subagent = { subagentRunId: child?.runId };
    const subagents = isV1
      ? [
          { type: "SUBAGENT_STARTED", ...subagent, name: "worker", parentToolCallId: "c1" },
          { type: "SUBAGENT_FINISHED", ...subagent, result: `echo dig\n\n[run_id: ${child?.runId}]` },
        ]
      : [];
    expect(ofType(seen, /^SUBAGENT_/)).toMatchObject(subagents);
    expect(ofType(heard, /^SUBAGENT_/)).toMatchObject(subagents);
    // The client sends its messages back: an activity is no new input.
    ask(first, "again", "u2");
    await first.runAgent({ runId: "r2" });
    expect(first.messages.at(-1)).toMatchObject({ role: "assistant" });
    expect(printed).toEqual([]);
  });

  test("a child run that fails is a failed activity", async () => {
    const failing: Part = () => (wire) => wire.frame({ error: { message: "broken", code: 400 } });
    const stage = await openStage(
      { boss: boss(callOf("c1", "worker", { message: "dig" })), worker: failing },
      { agentPresets: [presetOf("boss", { max_turns: 5, tools: { agents: [worker] } })] },
    );
    const agent = openAgent(Agent, stage.service.url, { preset: "boss" });
    ask(agent, "go");
    const events: BaseEvent[] = [];
    await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) });
    expect(agent.messages[3]).toMatchObject({ role: "activity", content: { status: "failed" } });
    expect(ofType(events, /^SUBAGENT_ERROR$/)).toMatchObject(
      isV1 ? [{ message: expect.stringContaining("broken") }] : [],
    );
  });

  test("a handoff is an activity, and lasts: later runs of the thread are the other agent's, with what the client tells it", async () => {
    const printed = listen();
    const told: Part = (_, __, { body }) => {
      const tools = (body.tools ?? []) as readonly { function: { name: string } }[];
      const [{ content: prompt } = { content: "" }] = body.messages as readonly { content: string }[];
      return answer(JSON.stringify([prompt, ...tools.map((each) => each.function.name)]));
    };
    const desk: Part = () => callTools(callOf("h1", "billing", { reason: "money" }));
    const target = { name: "billing", preset: "billing", handoff: true };
    const stage = await openStage(
      { desk, billing: told, "The page:\ninvoices\n\nbilling": told },
      {
        agentPresets: [
          presetOf("desk", { max_turns: 5, tools: { agents: [target] } }),
          presetOf("billing", { tools: { builtin: ["list_dir"] } }),
        ],
      },
    );
    const agent = openAgent(Agent, stage.service.url, { preset: "desk" });
    ask(agent, "my invoice");
    await agent.runAgent();
    expect(agent.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", toolCalls: [{ function: { name: "billing" } }] },
      { role: "tool" },
      { role: "activity", activityType: "runnel.handoff", content: { from_agent: "desk", to_agent: "billing" } },
      { role: "assistant", content: '["billing","list_dir"]' },
    ]);
    const tools = [{ name: "beep", description: "Beeps.", parameters: { type: "object" } }];
    const context = [{ description: "The page", value: "invoices" }];
    for (const more of [{}, { tools, context }, {}]) {
      ask(agent, "go on");
      await agent.runAgent(more);
    }
    const texts = textsOf(agent).filter(([role]) => role === "assistant");
    expect(texts.map(([, text]) => text).slice(2)).toEqual([
      '["billing","list_dir"]',
      JSON.stringify(["The page:\ninvoices\n\nbilling", "list_dir", "beep"]),
      '["billing","list_dir"]',
    ]);
    expect(printed).toEqual([]);
  });
});
