// kill -9 at each step of a cycle, of several processes one after the other. The next process continues: the model is not
// called again once its answer was used, nothing is written twice, feedback is shown once, and unknown outcomes are reported.

import { expect, test } from "vitest";
import { decisionFailpoints } from "../../../src/protocols/community/failpoints.ts";
import { decisionsKey, readCycle, settingsOf, shownOf } from "../../drivers/decision-cycle/stage.ts";
import { answer, type FakeProvider } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { type Agent, adminToken, asAdmin, type Forum, openForum, send } from "../../forum/stage.ts";
import { query } from "../../harness/database.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { type Cluster, openCluster } from "../cluster.ts";
import { isAlive } from "../crash-matrix/crew.ts";
import { expectInvariants } from "../invariants.ts";

/** A few processes one after the other, on a busy machine. */
const chainTimeoutMs = 180_000;
/** A busy machine must not end the lease of a living process. */
const leaseMs = 3_000;

/**
 * Where one process after the other dies; the last one lives. Each process counts its own passes, and a run may lose its
 * replica three times.
 */
const chains: readonly (readonly string[])[] = [
  // The caller asks again while no cycle exists.
  ["cycle.written", "start.committed", "run.loaded", "context.read"],
  ["cycle.committed", "model.finished", "decided.written"],
  // The first write was begun, and had not arrived.
  ["checkpoint.written", "decision.committed", "action.begun"],
  // It had arrived, and its outcome was not written: twice.
  ["action.sent", "decided.written", "action.settled:2"],
  // The second write, with the same text as the first; a thread, with the same text as an earlier one.
  ["action.sent:2", "action.begun", "action.sent"],
  ["action.settled:3", "terminal.writing", "terminal.committed"],
];

/** Two cores start few processes at a time. */
const chainsAtOnce = 3;
const batches = Array.from({ length: Math.ceil(chains.length / chainsAtOnce) }, (_, index) => {
  const batch = chains.slice(index * chainsAtOnce, (index + 1) * chainsAtOnce);
  return [batch.map((deaths) => deaths.join(" → ")).join(" · "), batch] as const;
});

test.each(batches)("a cycle continues after deaths at %s", { timeout: chainTimeoutMs }, async (_names, batch) => {
  await Promise.all(
    batch.map(async (deaths) => {
      const stage = await openStage();
      const last = await playCycle(stage, deaths);
      await expectOutcome(stage, last);
    }),
  );
});

test("the chains include every failpoint that only cycles pass", () => {
  const tried = chains.flatMap((deaths) => deaths.map((place) => place.split(":")[0]));
  expect(decisionFailpoints.filter((place) => !tried.includes(place))).toEqual([]);
});

interface Stage {
  readonly forum: Forum;
  readonly agent: Agent;
  readonly provider: FakeProvider;
  readonly cluster: Cluster & { readonly forumUrl: string };
  readonly threadId: string;
}

/** The forum runs in this process; the processes that die only have the agent. */
async function openStage(): Promise<Stage> {
  const forum = await openForum();
  const agent = await forum.addAgent("alice");
  const provider = await openProvider();
  const members = await openCluster({
    RUNNEL_RUNS_LEASE_MS: String(leaseMs),
    RUNNEL_AUTH_ADMIN_TOKEN: adminToken,
    RUNNEL_AUTH_API_KEYS: `decisions=${decisionsKey.key}\nlocal=key-of-local-for-tests`,
    RUNNEL_DECISIONS_AGENTS: `${agent.id}=${agent.token}`,
    RUNNEL_DECISIONS_FORUM_URL: forum.service.url,
    RUNNEL_DECISIONS_INTERVAL_SECONDS: "0",
    RUNNEL_DEFAULTS_MODEL: "openai:fake",
    RUNNEL_PROVIDERS_OPENAI_KEY: "a-key-of-openai",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
  });
  const cluster = { ...members, forumUrl: forum.service.url };
  const { thread } = await firstCycle({ cluster, provider, agent });
  return { forum, agent, provider, cluster, threadId: thread };
}

/** Leaves a thread and an entry of feedback, so that something could be lost. */
async function firstCycle({ cluster, provider, agent }: Pick<Stage, "cluster" | "provider" | "agent">) {
  provider.respond(
    answer(
      JSON.stringify([
        {
          action: "create_thread",
          communitySlug: "home",
          title: "the first",
          body: "same words",
          threadType: "REQUEST_TO_HUMAN",
        },
        { action: "tx", communitySlug: "home", threadId: "t0", functionName: "mint" },
      ]),
    ),
  );
  const service = await survive({ cluster, provider, agent });
  const { result } = await readCycle(service.target, String(await start(service.target, agent)));
  await service.close();
  return { thread: String(result.actions[0].result.thread.id) };
}

/** Two comments with the same text, a transaction, and a thread with the words of the existing one. */
function decisionOf(threadId: string): string {
  return JSON.stringify([
    { action: "comment", communitySlug: "home", threadId, body: "same words" },
    { action: "comment", communitySlug: "home", threadId, body: "same words" },
    { action: "tx", communitySlug: "home", threadId: "t1", functionName: "mint" },
    {
      action: "create_thread",
      communitySlug: "home",
      title: "the first",
      body: "same words",
      threadType: "REQUEST_TO_HUMAN",
    },
  ]);
}

async function playCycle(
  { cluster, provider, agent, threadId }: Stage,
  deaths: readonly string[],
): Promise<TestService> {
  // One answer for each possible call; the test counts the calls.
  provider.respond(...Array.from({ length: deaths.length + 1 }, () => answer(decisionOf(threadId))));
  for (const dies of deaths) {
    await playDeath(cluster, agent, dies);
  }
  const last = await survive({ cluster, provider, agent });
  await start(last.target, agent);
  await until("the cycle to end", async () => await hasEnded(cluster), 60_000);
  return last;
}

/** A process that lives is in this one, where it costs less. */
async function survive({ cluster, provider, agent }: Pick<Stage, "cluster" | "provider" | "agent">) {
  const { databaseUrl, forumUrl } = cluster;
  return await startService({
    ...settingsOf(provider, [agent]),
    databaseUrl,
    decisionsForumUrl: forumUrl,
    runsLeaseMs: leaseMs,
  });
}

async function playDeath(cluster: Cluster, agent: Agent, dies: string): Promise<void> {
  // Some die at once from the state that they find, before any caller can reach them.
  const member = await cluster.start({ RUNNEL_FAILPOINT: dies }).catch((error: Error) => {
    expect(error.message).toContain("the service ended with SIGKILL");
  });
  if (member === undefined) {
    return;
  }
  // Every process continues the same cycle; a second one is never started.
  await start(member.target, agent).catch(() => undefined);
  await until(`a process to die at ${dies}`, () => !isAlive(member), 60_000);
}

/** Starts a cycle, unless there have been two. */
async function start(target: string, { id }: Agent): Promise<string | undefined> {
  const { body: list } = await send({ url: `http://${target}` }, "GET", "/v1/decision-agents", { headers: asAdmin });
  if (list.agents[0].cycle_count === 2) {
    return undefined;
  }
  const { body } = await send({ url: `http://${target}` }, "POST", `/v1/decision-agents/${id}/cycles`, {
    headers: { ...asAdmin, "content-type": "application/json" },
    body: "{}",
  });
  return body.run_id;
}

async function hasEnded({ databaseUrl }: Cluster): Promise<boolean> {
  const [row] = await query<{ ended: boolean }>(
    databaseUrl,
    "select count(*) = 2 as ended from run where driver = 'decision-cycle' and end_time is not null",
  );
  return row?.ended === true;
}

async function expectOutcome({ forum, cluster, provider, agent, threadId }: Stage, last: TestService): Promise<void> {
  const [run] = await query<{ id: string }>(cluster.databaseUrl, "select id from run order by id desc limit 1");
  const { result, results } = await readCycle(last.target, run?.id ?? "");
  // Everything was done once and is reported as done: each write was found, or was missing and was sent.
  expect(result).toMatchObject({ ok: true, cycleCount: 2, actionCount: 4 });
  const [one, two, tx, thread] = result.actions;
  expect(tx.error).toBe("Execution wallet or Alchemy key missing.");
  const comments = await forum.query("select id from forum_comment where thread_id = $1 order by id", [threadId]);
  expect(comments.map(({ id }) => id)).toEqual([one, two].map((each) => each.result.comment.id));
  const threads = await forum.query("select id from forum_thread where id <> $1", [threadId]);
  expect(threads.map(({ id }) => id)).toEqual([thread.result.thread.id]);
  const calls = results.flatMap(({ payload }) =>
    payload.case === "toolCallStarted" || payload.case === "toolCallCompleted"
      ? [`${payload.case} ${payload.value.toolCallId}`]
      : [],
  );
  expect(calls).toEqual([1, 2, 3, 4].flatMap((n) => [`toolCallStarted action.${n}`, `toolCallCompleted action.${n}`]));
  // The feedback was shown with the call whose answer was used, and with the lost calls before it.
  for (const index of provider.requests.keys()) {
    const told = shownOf(provider, index).context.runnerInbox.map((each: { threadId: string }) => each.threadId);
    expect(told).toEqual(index === 0 ? [] : ["t0"]);
  }
  const left = await query<{ content: string }>(cluster.databaseUrl, "select content from agent_feedback");
  expect(left.map(({ content }) => JSON.parse(content).threadId)).toEqual(["t1"]);
  const attempts = await query(cluster.databaseUrl, "select from decision_action where attempt is not null");
  expect(attempts).toEqual([]);
  const { body } = await send(
    { url: `http://${last.target}` },
    "GET",
    `/v1/decision-agents/${agent.id}/communications`,
    {
      headers: asAdmin,
    },
  );
  const directions = body.communications.map((each: { direction: string }) => each.direction);
  expect(directions).toEqual(["runner_to_agent", "agent_to_runner", "runner_to_agent", "agent_to_runner"]);
  await expectInvariants(cluster.databaseUrl);
}
