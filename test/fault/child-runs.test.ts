// kill -9 at each step of a tree of runs: a call starts one run, its result is not lost, and a cancel reaches the lowest run.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Failpoint } from "../../src/platform/base/failpoint.ts";
import { boss, callOf, echo, openTeam, silent } from "../child-runs/team.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { getRun, type Neighbour, openCluster } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const { createSession, sendMessage } = SessionService.method;
const { listRuns, cancelRun } = RunService.method;

const worker = { name: "worker", agent: { systemPrompt: "worker" } };
const middle = { name: "middle", agent: { systemPrompt: "middle", maxTurns: 5, tools: { agents: [worker] } } };
const agent = {
  name: "boss",
  systemPrompt: "boss",
  maxTurns: 5,
  budget: { tokens: 1_000_000n },
  tools: { agents: [middle] },
};
const calls = [callOf("c1", "middle", { message: "a" }), callOf("c2", "middle", { message: "b" })];

async function openTree(lowest = echo) {
  const team = await openTeam({
    boss: boss(...calls),
    middle: (messages, turn, request) =>
      boss(callOf("m", "worker", { message: `of ${messages.at(-1)?.content}` }))(messages, turn, request),
    worker: lowest,
  });
  return await openCluster({
    RUNNEL_DEFAULTS_MODEL: "compatible:team",
    RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: `${team.origin}/v1`,
  });
}

type Tree = Awaited<ReturnType<typeof openTree>>;

/** Starts a tree at a process that dies at a failpoint. Another service takes its place. */
async function startAt(cluster: Tree, failpoint: string) {
  const first = await cluster.start({ RUNNEL_FAILPOINT: failpoint });
  const { sessionId } = await first.client.call(createSession, { agent });
  const request = { sessionId, message: "go", requestId: "once" };
  const sent = await first.client.call(sendMessage, request).catch(() => undefined);
  let second: Promise<Neighbour> | undefined;
  const someone = async (): Promise<Neighbour> => {
    if (second === undefined && isAlive(first)) {
      return first;
    }
    second ??= cluster.startHere();
    return await second;
  };
  const runId = sent?.runId ?? (await (await someone()).client.call(sendMessage, request)).runId;
  const isReached = async (reached: (neighbour: Neighbour) => Promise<boolean>) =>
    await until("the tree to get there", async () => await reached(await someone()).catch(() => false));
  return { runId, someone, isReached, isDead: () => !isAlive(first) };
}

const steps: readonly (readonly [failpoint: Failpoint, pass: number])[] = [
  ["children.written", 1],
  ["children.written", 2],
  ["children.committed", 1],
  ["children.committed", 3],
  ["calls.committed", 2],
  ["park.written", 1],
  ["park.committed", 1],
  ["park.committed", 3],
  ["claim.committed", 1],
  ["claim.committed", 4],
  ["run.loaded", 2],
  ["run.loaded", 6],
  ["terminal.written", 1],
  ["terminal.committed", 1],
  ["terminal.committed", 3],
  ["tree.checked", 1],
  ["tree.checked", 2],
  ["answers.written", 1],
  ["answers.committed", 2],
];

test.each(steps)("a tree of runs survives a kill at %s:%i", async (failpoint, pass) => {
  const cluster = await openTree();
  const { runId, someone, isReached, isDead } = await startAt(cluster, `${failpoint}:${pass}`);
  await isReached(async ({ client }) => (await getRun(client, runId)).state === Run_State.COMPLETED);
  expect(isDead(), "the first process has died").toBe(true);
  const { client } = await someone();
  expect((await getRun(client, runId)).output).toBe("they said: they said: echo of a | they said: echo of b");
  const { runs } = await client.call(listRuns, { rootRunId: runId });
  expect(runs.map(({ depth, state }) => [depth, state]).toSorted()).toEqual(
    [1, 1, 2, 2].map((depth) => [depth, Run_State.COMPLETED]),
  );
  const reader = new LogReader(runId);
  expect(await reader.follow(client)).toBe(status.OK);
  const started = reader.results.flatMap(({ payload }) =>
    payload.case === "childRunStarted" ? [payload.value.runId] : [],
  );
  expect(started.toSorted()).toEqual(
    runs
      .filter(({ depth }) => depth === 1)
      .map((run) => run.runId)
      .toSorted(),
  );
  await expectInvariants(cluster.databaseUrl);
  expect(await query(cluster.databaseUrl, "select count(*)::int as n from tree_check")).toEqual([{ n: 0 }]);
});

test.each([
  ["terminal.written", 1],
  ["terminal.committed", 1],
  ["tree.checked", 1],
] as const)("a cancel reaches the lowest run over a kill at %s:%i", async (failpoint, pass) => {
  const cluster = await openTree(silent);
  const { runId, isReached, isDead } = await startAt(cluster, `${failpoint}:${pass}`);
  const tree = async ({ client }: Neighbour) => (await client.call(listRuns, { rootRunId: runId })).runs;
  await isReached(async (member) => {
    const lowest = (await tree(member)).filter(({ depth, state }) => depth === 2 && state === Run_State.RUNNING);
    return lowest.length === 2;
  });
  await isReached(async ({ client }) => (await client.call(cancelRun, { runId })) !== undefined);
  await isReached(async (member) => (await tree(member)).every(({ state }) => state === Run_State.CANCELLED));
  await isReached(async ({ client }) => (await getRun(client, runId)).state === Run_State.CANCELLED);
  expect(isDead(), "the first process has died").toBe(true);
  await expectInvariants(cluster.databaseUrl);
});
