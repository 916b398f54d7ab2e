// What a client of MCP reads while an agent lets others work.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { boss, callOf, echo, openStage } from "../child-runs/team.ts";
import { messagesOf, send } from "./stage.ts";

const worker = { name: "worker", description: "Works.", agent: { system_prompt: "worker" } };
const tools = { builtin: ["todo"], agents: [worker] };
const preset = `boss=${JSON.stringify({ system_prompt: "boss", max_turns: 5, tools })}`;

test("the progress of a call names the child run and the step of the plan", async () => {
  const steps = [
    { text: "Pack", status: "completed" },
    { text: "Leave", status: "in_progress" },
  ];
  const parts = { boss: boss(callOf("t", "todo", { items: steps }), callOf("c", "worker", { message: "dig" })) };
  const stage = await openStage({ ...parts, worker: echo }, { agentPresets: [preset] });
  const call = { name: "boss", arguments: { message: "go" } };
  const messages = await messagesOf(
    await send(stage.service.url, "tools/call", call, { meta: { progressToken: "p" } }),
  );
  const { runs } = await stage.client.call(RunService.method.listRuns, {});
  const [child] = runs.filter(({ depth }) => depth === 1);
  const said = messages.flatMap(({ params }) => (typeof params?.message === "string" ? [params.message] : []));
  expect([...new Set(said)]).toEqual(expect.arrayContaining([`worker works as run ${child?.runId}`, "Leave"]));
  expect(messages.at(-1)?.result).toMatchObject({ structuredContent: { state: "completed" } });
});
