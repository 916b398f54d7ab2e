// kill -9 at each step of a cycle, of several processes one after the other. Whoever comes next goes on: the model is not asked
// again once its answer was acted upon, nothing is written twice, feedback is told once, and what nobody can know is told.

import { expect, onTestFinished, test } from "vitest";
import { decisionFailpoints } from "../../../src/platform/base/failpoint.ts";
import { decisionsKey, readCycle, settingsOf, shownOf } from "../../drivers/decision-cycle/stage.ts";
import { answer, type FakeProvider, startFakeProvider } from "../../fakes/provider.ts";
import { type Agent, adminToken, asAdmin, type Forum, openForum, send } from "../../forum/stage.ts";
import { query } from "../../harness/database.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { type Cluster, openCluster } from "../cluster.ts";
import { isAlive } from "../crash-matrix/crew.ts";
import { expectInvariants } from "../invariants.ts";

/** A few processes one after the other, on a machine on which much else is tried. */
const chainTimeoutMs = 180_000;
/** A busy machine must not end the lease of a process that lives. */
const leaseMs = 3_000;

/**
 * Where one process after the other dies; the last one lives. Passes are counted in each process by itself, and a run may lose
 * its replica three times.
 */
const chains: readonly (readonly string[])[] = [
  // The caller asks again as long as nothing is there.
  ["cycle.written", "start.committed", "run.loaded", "context.read"],
  ["cycle.committed", "model.finished", "decided.written"],
  // The first write is begun, and had not arrived.
  ["checkpoint.written", "decision.committed", "action.begun"],
  // It had arrived, and its end is not written: twice.
  ["action.sent", "decided.written", "action.settled:2"],
  // The second one, which has the words of the first; a thread, which has the words of one that was there before.
  ["action.sent:2", "action.begun", "action.sent"],
  ["action.settled:3", "terminal.writing", "terminal.committed"],
];

/** Two cores start few processes at a time. */
const chainsAtOnce = 3;
const batches = Array.from({ length: Math.ceil(chains.length / chainsAtOnce) }, (_, index) => {
  const batch = chains.slice(index * chainsAtOnce, (index + 1) * chainsAtOnce);
  return [batch.map((deaths) => deaths.join(" → ")).join(" · "), batch] as const;
});

test.each(batches)("a cycle goes on after deaths at %s", { timeout: chainTimeoutMs }, async (_names, batch) => {
  await Promise.all(
    batch.map(async (deaths) => {
      const stage = await openStage();
      const last = await playCycle(stage, deaths);
      await expectOutcome(stage, last);
    }),
  );
});

test("every place that only cycles pass is among them", () => {
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

/** The forum lives on in this process; those that die only have the agent. */
async function openStage(): Promise<Stage> {
  const forum = await openForum();
  const agent = await forum.addAgent("alice");
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
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

/** Leaves a thread and an entry of feedback, so that there is something to lose. */
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

/** Two writes with the same words as what is there, a transaction, and a status. */
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
  // As often as it is asked, which is for the test to count.
  provider.respond(...Array.from({ length: deaths.length + 1 }, () => answer(decisionOf(threadId))));
  for (const dies of deaths) {
    await playDeath(cluster, agent, dies);
  }
  const last = await survive({ cluster, provider, agent });
  await start(last.target, agent);
  await until("the cycle to end", async () => await hasEnded(cluster), 60_000);
  return last;
}

/** One that lives is in this process, where it costs less. */
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
  // Some die of what they find before anybody can ask them.
  const member = await cluster.start({ RUNNEL_FAILPOINT: dies }).catch((error: Error) => {
    expect(error.message).toContain("the service ended with SIGKILL");
  });
  if (member === undefined) {
    return;
  }
  // The same cycle for whoever goes on with it; a second one is never started.
  await start(member.target, agent).catch(() => undefined);
  await until(`a process to die at ${dies}`, () => !isAlive(member), 60_000);
}

/** A cycle, unless there have been two. */
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
  // Everything was done, once, and is told as done: each write was found or was not there and was sent.
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
  // The entry that was there was told with the call whose answer counted, and with those before it that were lost.
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
