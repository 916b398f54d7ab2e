// kill -9 while a signed job is taken in and while it is worked on. A job is there as a whole or not at all, its spec makes one
// job and no second one, and what was answered is not asked again.

import { expect, test } from "vitest";
import { answer, type FakeProvider, type Script } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { jobApi, specOf, trustEntry } from "../jobs/stage.ts";
import { makeSigner, type Signer } from "../jobspec/signer.ts";
import { fetchReceipt } from "../receipts/fetched.ts";
import { type Cluster, getRun, type Member, openCluster, openProvider, ownerOf, replicaIdsOf } from "./cluster.ts";
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

/** A process that dies at a place. */
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

// Everything of the job is written and the transaction is still open. Nobody was answered, so the caller tries again, with the
// same spec and elsewhere: the nonce must not be used up by a job that is not there.
test("a process that dies before a job is committed leaves nothing of it, and the same spec makes it elsewhere", async () => {
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

  const other = await cluster.start();
  const api = jobApi(other.url);
  const { status, body } = await api.submit(signed, retry);
  expect(status).toBe(202);
  expect(await api.end(body.id)).toMatchObject({ status: "completed", successful_regions: 2 });
  await expectInvariants(cluster.databaseUrl);
});

// The job is committed and its caller never heard of it. A retry that says that it is one gets the id; the spec alone is a
// replay. Nobody was woken for the runs, and their process is gone: another one finds them.
test("a process that dies after a job is committed has made it, once, and another process works it to the end", async () => {
  const { cluster, signer } = await openGround();
  const doomed = await startDoomed(cluster, "job.committed");
  const signed = signer.signV1(specOf());
  await expect(jobApi(doomed.url).submit(signed, retry)).rejects.toThrow("fetch failed");
  await expectDead(doomed);
  const [row] = await query<{ id: string }>(cluster.databaseUrl, "select id from job");

  const other = await cluster.start();
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

// The process that asks dies as it writes the second answer. Where the answer was durable, the next question comes next, and
// nothing was lost that readers would have to be told of; where it was not, the same question is asked for again. No other one is
// asked twice, and the output has every answer in its place.
test.each([
  ["committed", "commit.committed:2", ["one?", "two?", "three?", "four?"], []],
  ["in an open transaction", "checkpoint.written:2", ["one?", "two?", "two?", "three?", "four?"], [2]],
] as const)(
  "a region's run whose process dies with its second answer %s goes on in another one",
  async (_state, failpoint, asked, restarted) => {
    const ground = await openGround();
    ground.provider.respond(...asked.map(() => echo));
    const doomed = await startDoomed(ground.cluster, failpoint);
    const job = await submitQuestions(ground, doomed);
    await expectDead(doomed);
    await expectAnswered(ground, await ground.cluster.start(), { ...job, asked, restarted });
  },
);

// The process dies while the model speaks, and readers have seen half an answer. They are told that it is void.
test("a region's run whose process dies in the middle of an answer says so and asks for it again", async () => {
  const ground = await openGround();
  const { cluster, provider } = ground;
  provider.respond(
    echo,
    async (wire) => {
      wire.text("half of a ");
      await wire.hang();
    },
    ...[echo, echo, echo],
  );
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

/** In one region, which has one run. The answer may be lost with the process that gives it. */
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
  member: Member,
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
