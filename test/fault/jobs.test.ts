// kill -9 while a signed job is accepted and while it is worked on. A job exists as a whole or not at all, its spec makes
// exactly one job, and no answered question is asked again.

import { expect, test } from "vitest";
import { answer, type FakeProvider, hangAfter, type Script } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { jobApi, specOf, trustEntry } from "../jobs/stage.ts";
import { makeSigner, type Signer } from "../jobspec/signer.ts";
import { fetchReceipt } from "../receipts/fetched.ts";
import {
  type Cluster,
  getRun,
  type Member,
  type Neighbour,
  openCluster,
  openProvider,
  ownerOf,
  replicaIdsOf,
} from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader, readLog, textOf } from "./log-reader.ts";

interface Ground {
  readonly cluster: Cluster;
  readonly provider: FakeProvider;
  readonly signer: Signer;
}

async function openGround(): Promise<Ground> {
  const { provider, environment } = await openProvider();
  const signer = makeSigner();
  const TRUSTED_KEYS_JSON = JSON.stringify([trustEntry(signer)]);
  return { cluster: await openCluster({ ...environment, TRUSTED_KEYS_JSON }), provider, signer };
}

/** A process that dies at a failpoint. */
async function startDoomed(cluster: Cluster, failpoint: string): Promise<Member> {
  return await cluster.start({ RUNNEL_FAILPOINT: failpoint });
}

async function expectDead({ pid }: Member): Promise<void> {
  await until("the process to be gone", () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
}

async function countRows(databaseUrl: string): Promise<unknown> {
  const tables = ["job", "job_nonce", "session", "run", "idempotency", "trust_event"];
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`);
  return (await query(databaseUrl, `select ${counts.join(", ")}`))[0];
}

const retry = { "idempotency-key": "the-one" };

// All rows of the job are written and the transaction is still open. The caller got no answer, so it tries again elsewhere
// with the same spec: a job that does not exist must not use up the nonce.
test("a process that dies before a job is committed leaves nothing of it, and the same spec makes the job elsewhere", async () => {
  const { cluster, signer } = await openGround();
  const doomed = await startDoomed(cluster, "job.written");
  const signed = signer.signV1(specOf());
  await expect(jobApi(doomed.url).submit(signed, retry)).rejects.toThrow("fetch failed");
  await expectDead(doomed);
  expect(await countRows(cluster.databaseUrl)).toEqual({
    job: 0,
    job_nonce: 0,
    session: 0,
    run: 0,
    idempotency: 0,
    trust_event: 0,
  });

  const other = await cluster.startHere();
  const api = jobApi(other.url);
  const { status, body } = await api.submit(signed, retry);
  expect(status).toBe(202);
  expect(await api.end(body.id)).toMatchObject({ status: "completed", successful_regions: 2 });
  await expectInvariants(cluster.databaseUrl);
});

// The job is committed and its caller got no answer. A retry with the idempotency key gets the id; the spec alone is a replay.
// No wake-up was sent for the runs, and their process is gone: another one finds them.
test("a process that dies after a job is committed has made it once, and another process completes it", async () => {
  const { cluster, signer } = await openGround();
  const doomed = await startDoomed(cluster, "job.committed");
  const signed = signer.signV1(specOf());
  await expect(jobApi(doomed.url).submit(signed, retry)).rejects.toThrow("fetch failed");
  await expectDead(doomed);
  const [row] = await query<{ id: string }>(cluster.databaseUrl, "select id from job");

  const other = await cluster.startHere();
  const api = jobApi(other.url);
  expect(await api.submit(signed, retry)).toMatchObject({ status: 200, body: { id: row?.id, idempotent: true } });
  expect(await api.submit(signed)).toMatchObject({ status: 400, body: { error_code: "replay_detected" } });
  expect(await api.end(row?.id)).toMatchObject({ status: "completed", successful_regions: 2 });
  expect(await countRows(cluster.databaseUrl)).toEqual({
    job: 1,
    job_nonce: 1,
    session: 2,
    run: 2,
    idempotency: 1,
    trust_event: 1,
  });
  await expectInvariants(cluster.databaseUrl);
});

const questions = ["one?", "two?", "three?", "four?"];

// The process dies as it writes the second answer. If the answer was durable, the next question follows, and readers need no
// turn.restarted. If it was not, the same question is asked again. No other question is asked twice, and the output has every
// answer in its place.
test.each([
  ["committed", "commit.committed:2", ["one?", "two?", "three?", "four?"], []],
  ["in an open transaction", "checkpoint.written:2", ["one?", "two?", "two?", "three?", "four?"], [2]],
] as const)(
  "a region's run whose process dies with its second answer %s continues in another process",
  async (_state, failpoint, asked, restarted) => {
    const ground = await openGround();
    ground.provider.respond(...asked.map(() => echo));
    const doomed = await startDoomed(ground.cluster, failpoint);
    const job = await submitQuestions(ground, doomed);
    await expectDead(doomed);
    await expectAnswered(ground, await ground.cluster.startHere(), { ...job, asked, restarted });
  },
);

// The process dies while the model streams, and readers have seen half an answer. They learn that it is void.
test("a region's run whose process dies in the middle of an answer reports it and asks again", async () => {
  const ground = await openGround();
  const { cluster, provider } = ground;
  provider.respond(echo, hangAfter("half of a "), ...[echo, echo, echo]);
  const [first, other] = await Promise.all([cluster.start(), cluster.start()]);
  const { id, runId } = await submitQuestions(ground, first);
  const reader = new LogReader(runId);
  const following = reader.follow(other.client);
  await until("half of the second answer", () => textOf(reader.results).includes("half of a "));
  const owner = await ownerOf(cluster.databaseUrl, runId);
  const [doomed, survivor] = replicaIdsOf(first).includes(owner ?? "") ? [first, other] : [other, first];
  await doomed.kill();
  await following;
  const asked = ["one?", "two?", "two?", "three?", "four?"];
  await expectAnswered(ground, survivor, { id, runId, asked, restarted: [2] });
});

const echo: Script = (wire, request) => answer(`answer to ${questionOf(request)}`)(wire, request);

function questionOf({ body }: FakeProvider["requests"][number]): string {
  return String(body.messages.at(-1)?.content);
}

/** Submits a job for one region, which has one run. The answer may be lost with the process. */
async function submitQuestions({ cluster, signer }: Ground, { url }: Member): Promise<{ id: string; runId: string }> {
  const spec = specOf({ questions, constraints: { regions: ["US"] } });
  await jobApi(url)
    .submit(signer.signV1(spec))
    .catch(() => {});
  const [row] = await query<{ id: string; runId: string }>(
    cluster.databaseUrl,
    `select job as id, latest_run_id as "runId" from session`,
  );
  return row ?? expect.unreachable("there is no job");
}

interface Expected {
  readonly id: string;
  readonly runId: string;
  readonly asked: readonly string[];
  readonly restarted: readonly number[];
}

async function expectAnswered(
  { cluster, provider }: Ground,
  member: Neighbour,
  { id, runId, asked, restarted }: Expected,
): Promise<void> {
  const job = await jobApi(member.url).end(id);
  const responses = questions.map((question) => ({
    model: "openai:fake",
    question,
    response: `answer to ${question}`,
  }));
  expect(job).toMatchObject({ status: "completed", executions: [{ output: { region: "US", responses } }] });
  expect(provider.requests.map(questionOf)).toEqual(asked);

  const log = await readLog(member.client, runId);
  expect(log.flatMap(({ payload }) => (payload.case === "turnRestarted" ? [payload.value.turn] : []))).toEqual(
    restarted,
  );
  expect((await getRun(member.client, runId)).takeovers).toBe(1);
  const { statement } = await fetchReceipt(member, runId);
  expect(statement).toMatchObject({
    job_id: id,
    region: "US",
    job_spec_sha256: job.canonical_sha256,
    status: "completed",
    entries: log.length,
    counts: { "message.completed": questions.length, "run.completed": 1 },
  });
  await expectInvariants(cluster.databaseUrl);
}
