// kill -9 at each step of a handoff: the conversation is with one of the two agents, never with none, and it is handed over once.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Failpoint } from "../../src/platform/base/failpoint.ts";
import { callOf, openTeam } from "../child-runs/team.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { getRun, openCluster } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const { createSession, sendMessage } = SessionService.method;

const steps: readonly (readonly [failpoint: Failpoint, pass: number])[] = [
  ["calls.committed", 1],
  ["tool.ended", 1],
  ["outcome.committed", 1],
  ["answers.written", 1],
  ["checkpoint.written", 2],
  ["answers.committed", 1],
  ["model.calling", 2],
  ["model.finished", 2],
];

test.each(steps)("a handoff survives a kill at %s:%i", async (failpoint, pass) => {
  const team = await openTeam({
    desk: () => callTools(callOf("h", "billing", {})),
    billing: (messages) => answer(`billing read ${messages[0]?.content}`),
  });
  const cluster = await openCluster({
    RUNNEL_DEFAULTS_MODEL: "compatible:team",
    RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: `${team.origin}/v1`,
  });
  const first = await cluster.start({ RUNNEL_FAILPOINT: `${failpoint}:${pass}` });
  const billing = { name: "billing", handoff: true, agent: { name: "Billing", systemPrompt: "billing" } };
  const agent = { name: "Desk", systemPrompt: "desk", maxTurns: 5, tools: { agents: [billing] } };
  const { sessionId } = await first.client.call(createSession, { agent });
  const { runId } = await first.client.call(sendMessage, { sessionId, message: "go" });
  await until("the first process to die", async () => !isAlive(first));
  const { client } = await cluster.startHere();
  await until("the run to end", async () => (await getRun(client, runId)).state === Run_State.COMPLETED);
  expect(await getRun(client, runId)).toMatchObject({ output: "billing read go", agentName: "Billing" });
  const log = new LogReader(runId);
  expect(await log.follow(client)).toBe(status.OK);
  expect(log.results.filter(({ payload }) => payload.case === "handoffCompleted")).toHaveLength(1);
  await expectInvariants(cluster.databaseUrl);
});
