// The service dies while an A2A agent works for it. The message is never sent twice: the next replica follows the task where there is
// one, and says so where it cannot know.

import { expect, onTestFinished, test } from "vitest";
import { lineOf } from "../a2a-client/stage.ts";
import { endOf, openSession, send } from "../acp/stage.ts";
import { startA2aAgent } from "../fakes/a2a-agent.ts";
import { until } from "../harness/wait.ts";
import { openCluster } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader, resultsThatCount, textOf } from "./log-reader.ts";

test.for([
  ["before the message is sent", { RUNNEL_FAILPOINT: "a2a.sending" }, 0],
  ["before the task is written", { RUNNEL_FAILPOINT: "a2a.answered" }, 1],
  ["while the task talks", {}, 1],
] as const)("dies %s", { timeout: 90_000 }, async ([, environment, begun]) => {
  const agent = await startA2aAgent();
  onTestFinished(() => agent.close());
  const cluster = await openCluster({
    RUNNEL_A2A_AGENTS: lineOf("fake", agent.origin),
    RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32",
  });
  const first = await cluster.start(environment);
  const sessionId = await openSession(first.client, { name: "fault", runner: "fake" });
  const runId = await send(first.client, sessionId, "slow");
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  if (!("RUNNEL_FAILPOINT" in environment)) {
    await expect.poll(() => reader.count("messageDelta"), { timeout: 20_000 }).toBe(1);
    await first.kill();
  }
  await following;

  const second = await cluster.startHere();
  const rest = reader.follow(second.client);
  if (begun === 1) {
    await until("the task to be followed", () => agent.headers.has("SubscribeToTask"));
    agent.release();
  }
  await rest;
  expect(agent.begun).toEqual(Array(begun).fill("slow"));
  const found = ["runCompleted", "stop", "One, two."];
  const lost = ["runFailed", "runner.turn_lost", expect.stringContaining("It is not sent twice")];
  expect(endOf(reader.results)).toEqual(begun === 1 ? found : lost);
  expect(textOf(resultsThatCount(reader.results))).toBe(begun === 1 ? "One, two." : "");
  await expectInvariants(cluster.databaseUrl);
});
