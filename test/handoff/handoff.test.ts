// Agents that hand their conversation over: the same run and session go on with the other agent's settings.

import { expect } from "vitest";
import { MemoryScope } from "#gen/runnel/v1/memory_pb.js";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { readCodingAgents } from "../../src/protocols/acp/agents.ts";
import { ask, callOf, openStage, type Part } from "../child-runs/team.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { test } from "../fixtures.ts";

const { sendMessage } = SessionService.method;

const billing = {
  name: "billing",
  description: "Knows invoices.",
  handoff: true,
  agent: { name: "Billing", systemPrompt: "billing", tools: { builtin: ["list_dir"] } },
};
const deskOf = (...agents: readonly object[]) => ({
  name: "Desk",
  systemPrompt: "desk",
  maxTurns: 5,
  budget: { tokens: 1_000_000n },
  tools: { agents },
});

/** Hands over in its first turn. */
const handTo =
  (...names: readonly string[]): Part =>
  () =>
    callTools(...names.map((name, index) => callOf(`h${index}`, name, { reason: "money" })));
/** Says who it is and which tools its request offers. */
const tell =
  (who: string): Part =>
  (messages, _, { body }) => {
    const offered = (body.tools ?? []) as readonly { function: { name: string } }[];
    const tools = offered.map((each) => each.function.name);
    return answer(`${who} has ${tools.join(",") || "nothing"} and read ${messages[0]?.content}`);
  };

test("the next response is the other agent's, in the same run, and it has the whole conversation", async () => {
  const stage = await openStage({ desk: handTo("billing"), billing: tell("billing") });
  const { runId } = await ask(stage.client, deskOf(billing), "my invoice");
  expect(await stage.ended(runId)).toMatchObject({
    state: Run_State.COMPLETED,
    output: "billing has list_dir and read my invoice",
    agentName: "Billing",
    turns: 2,
  });
  const log = await stage.logOf(runId);
  expect(log.map(({ payload }) => payload.case)).toEqual([
    "turnStarted",
    "messageCompleted",
    "toolCallStarted",
    "toolCallCompleted",
    "handoffCompleted",
    "turnStarted",
    "messageDelta",
    "messageCompleted",
    "runCompleted",
  ]);
  expect(log[4]?.payload.value).toMatchObject({
    toolCallId: "h0",
    fromAgent: "Desk",
    toAgent: "Billing",
    model: "compatible:team",
  });
});

test("later runs of the session go on with that agent, within the limits of the first one", async () => {
  const stage = await openStage({ desk: handTo("billing"), billing: tell("billing") });
  const { sessionId, runId: first } = await ask(stage.client, { ...deskOf(billing), budget: { tokens: 500n } }, "one");
  await stage.ended(first);
  const { runId } = await stage.client.call(sendMessage, { sessionId, message: "two" });
  expect(await stage.ended(runId)).toMatchObject({
    output: "billing has list_dir and read one",
    agentName: "Billing",
    // The first agent would take one to hand over again.
    turns: 1,
  });
  const large = await stage.client.call(sendMessage, { sessionId, message: "money ".repeat(1_000) });
  expect((await stage.ended(large.runId)).error).toContain("budget");
});

test("the other agent has its own memory, and not that of the first one", async () => {
  const note: Part = (_, turn) =>
    turn > 1 ? answer("noted") : callTools(callOf(`m${turn}`, "memory_write", { key: "k", content: "v" }));
  const stage = await openStage({ desk: handTo("billing"), billing: note });
  const tools = { builtin: ["memory_write"], memoryScopes: [MemoryScope.AGENT] };
  await stage.ended((await ask(stage.client, deskOf({ ...billing, agent: { ...billing.agent, tools } }))).runId);
  const { entries } = await stage.client.call(MemoryService.method.listMemory, { agent: "Billing" });
  expect(entries.map(({ key }) => key)).toEqual(["k"]);
});

test("presets hand over to each other in a circle", async () => {
  const preset = (name: string, other: string) => {
    const tools = { agents: [{ name: other, preset: other, handoff: true }] };
    return `${name}=${JSON.stringify({ name, system_prompt: name, tools })}`;
  };
  let left = 3;
  const pass =
    (other: string): Part =>
    () => {
      left -= 1;
      return left < 0 ? answer(`${other} would be next`) : callTools(callOf(`to-${other}-${left}`, other, {}));
    };
  const stage = await openStage(
    { left: pass("right"), right: pass("left") },
    { agentPresets: [preset("left", "right"), preset("right", "left")] },
  );
  const agent = {
    name: "left",
    systemPrompt: "left",
    maxTurns: 9,
    tools: { agents: [{ name: "right", preset: "right", handoff: true }] },
  };
  const { runId } = await ask(stage.client, agent);
  expect(await stage.ended(runId)).toMatchObject({ output: "left would be next", agentName: "right", turns: 4 });
});

test("the last handoff of a response counts", async () => {
  const sales = { ...billing, name: "sales", agent: { name: "Sales", systemPrompt: "sales" } };
  const stage = await openStage({ desk: handTo("billing", "sales"), billing: tell("billing"), sales: tell("sales") });
  const { runId } = await ask(stage.client, deskOf(billing, sales), "go");
  expect((await stage.ended(runId)).output).toBe("sales has nothing and read go");
});

test("the turns of both agents count for the limit of the run", async () => {
  const endless: Part = (_, turn) => callTools(callOf(`c${turn}`, "list_dir", { path: ".", turn }));
  const stage = await openStage({ desk: handTo("billing"), billing: endless });
  const { runId } = await ask(stage.client, { ...deskOf(billing), maxTurns: 3 }, "go");
  expect((await stage.ended(runId)).error).toBe("agent reached maximum turn limit (3)");
});

test.for([
  ["a runner", { ...billing, agent: { runner: "coder" } }, "takes over no conversation"],
  ["no settings", { name: "billing", handoff: true }, "billing has no settings"],
] as const)("a handoff to %s is refused when a message is sent", async ([, to, why]) => {
  const acpAgents = readCodingAgents('coder={"command": "true"}') ?? [];
  const stage = await openStage({}, { acpAgents });
  await expect(ask(stage.client, deskOf(to))).rejects.toThrow(why);
});

test("a child run may not hand over", async () => {
  const stage = await openStage({});
  const worker = { name: "worker", agent: { systemPrompt: "worker", tools: { agents: [billing] } } };
  await expect(ask(stage.client, deskOf(worker))).rejects.toThrow("hands nothing over");
});
