// Races with one consistent outcome: cancels against a job's end, jobs against each other at the limit, and one nonce from two
// clients.

import { expect } from "vitest";
import { answer } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { query } from "../harness/database.ts";
import { openHolder } from "../harness/holder.ts";
import { until } from "../harness/wait.ts";
import { makeSigner } from "../jobspec/signer.ts";
import { jobApi, setJobStage, specOf, test } from "./stage.ts";

const cancelsMax = 30;

interface Shown {
  readonly status: string;
  readonly successful_regions: number;
  readonly failed_regions: number;
  readonly cancel_request_time?: string;
  readonly executions: readonly { readonly status: string; readonly error_code?: string }[];
}

// The answers of both regions come while thirty callers cancel the job. Each region ends once; the job's state follows from its
// regions, and every later reader sees the same.
test("thirty cancels during the end of a job leave one consistent end", async ({ api, service, signer, provider }) => {
  for (const early of [true, false]) {
    const gate = Promise.withResolvers<void>();
    const held = [0, 1].map(() => async (...wire: Parameters<ReturnType<typeof answer>>) => {
      await gate.promise;
      await answer("said")(...wire);
    });
    provider.respond(...held);
    const asked = provider.requests.length;
    const { body } = await api.submit(signer.signV1(specOf({ questions: ["Who?"] })));
    await Promise.all([provider.request(asked), provider.request(asked + 1)]);
    const cancels = (): Promise<unknown>[] => Array.from({ length: cancelsMax }, () => api.cancel(body.id));
    const answers = early ? cancels() : [];
    gate.resolve();
    const all = await Promise.all([...answers, ...(early ? [] : cancels())]);
    expect(all).toEqual(Array(cancelsMax).fill(expect.objectContaining({ status: 200 })));

    const job = (await api.end(body.id)) as unknown as Shown;
    expectConsistent(job);
    expect((await api.cancel(body.id)).body).toEqual(job);
    expect((await api.get(body.id)).body).toEqual(job);
  }
  await expectInvariants(service.databaseUrl);
});

/** The job needs both of its regions: it is completed when both are, and otherwise cancelled. */
function expectConsistent(job: Shown): void {
  const completed = job.executions.filter(({ status }) => status === "completed");
  const cancelled = job.executions.filter(({ status }) => status === "cancelled");
  expect(completed.length + cancelled.length).toBe(2);
  expect([job.successful_regions, job.failed_regions]).toEqual([completed.length, cancelled.length]);
  expect(cancelled.map(({ error_code: code }) => code)).toEqual(cancelled.map(() => "cancelled"));
  expect(job.status).toBe(completed.length === 2 ? "completed" : "cancelled");
  if (job.status === "cancelled") {
    expect(job.cancel_request_time).toEqual(expect.any(String));
  }
}

// The run has failed and waits to write its end; the cancel comes after it, having seen the run active. The job stays failed,
// because a watcher that saw the failure has left.
test("a cancel just after a job's failure does not make the job cancelled", async () => {
  const { api, service, signer, provider } = await setJobStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (...wire) => {
    await gate.promise;
    await fail(400, '{"error":{"message":"no"}}')(...wire);
  });
  const { body } = await api.submit(signer.signV1(specOf({ constraints: { regions: ["US"] } })));
  await provider.request(0);
  // The first batch of a batch writer reads the run's row, and must not be what waits for it.
  await until("the first results", async () => (await query(service.databaseUrl, "select from run_result")).length > 0);
  const { holder, awaited, release } = await openHolder(service.databaseUrl);
  await holder.query("select from run for update");
  gate.resolve();
  await awaited(1);
  const cancel = api.cancel(body.id);
  await awaited(2);
  await release();
  expect(await cancel).toMatchObject({ status: 200, body: { status: "failed" } });
  const job = await api.end(body.id);
  expect(job).toMatchObject({ status: "failed", executions: [{ status: "failed" }] });
  expect(job.cancel_request_time).toBeUndefined();
});

// A read of the job gets its row; before it reads the runs, a cancel of all of them commits. A reader that sees cancelled runs
// must see the cancel request too: a watcher that saw the job fail instead would leave with that.
test("a job that is read during its cancel shows all of it or nothing", async ({ api, service, signer, provider }) => {
  provider.respond((wire) => wire.hang());
  const { body } = await api.submit(signer.signV1(specOf({ constraints: { regions: ["US"] } })));
  await provider.request(0);
  const { holder, awaited, release } = await openHolder(service.databaseUrl);
  await holder.query("lock table session in access exclusive mode");
  const reading = api.get(body.id);
  await awaited(1);
  await holder.query("update job set cancel_request_time = now()");
  await holder.query("update run set status = 'cancelled', owner = null, end_time = now()");
  await holder.query("commit");
  expect(await reading).toMatchObject({ body: { status: "cancelled", cancel_request_time: expect.any(String) } });
  await release();
});

test("a second cancel, and a cancel of an ended job, change nothing", async ({ api, signer, provider }) => {
  provider.respond(...[0, 1].map(() => (wire: { hang(): Promise<void> }) => wire.hang()));
  const { body } = await api.submit(signer.signV1(specOf()));
  await Promise.all([provider.request(0), provider.request(1)]);
  const first = await api.cancel(body.id);
  const second = await api.cancel(body.id);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body.cancel_request_time).toBe(first.body.cancel_request_time);
  const job = await api.end(body.id);
  expect(job).toMatchObject({ status: "cancelled", cancel_request_time: first.body.cancel_request_time });
  expect((await api.cancel(body.id)).body).toEqual(job);

  const done = await api.submit(signer.signV1(specOf()));
  const completed = await api.end(done.body.id);
  expect(completed).toMatchObject({ status: "completed" });
  expect((await api.cancel(done.body.id)).body).toEqual(completed);
});

// Three runs may be active. Of jobs with two regions each, sent at once, one fits: the others are refused completely, and take
// no slots.
test("at the limit of active runs a job is accepted completely or not at all", async () => {
  const { api, service, signer, provider } = await setJobStage({ sessionsMaxConcurrent: 3 });
  provider.respond(...[0, 1].map(() => (wire: { hang(): Promise<void> }) => wire.hang()));
  const specs = Array.from({ length: 8 }, () => signer.signV1(specOf()));
  const answers = await Promise.all(specs.map((spec) => api.submit(spec)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array(7).fill(429)]);
  for (const { body } of answers.filter(({ status }) => status === 429)) {
    expect(body).toMatchObject({ error_code: "concurrency_exhausted" });
  }
  const wide = specOf({ constraints: { regions: ["US", "EU", "APAC", "CA"] } });
  expect((await api.submit(signer.signV1(wide))).status).toBe(429);
  const [counts] = await query(
    service.databaseUrl,
    `select (select count(*)::int from job) as jobs, (select count(*)::int from run) as runs,
      (select count(*)::int from session) as sessions, (select count(*)::int from job_nonce) as nonces`,
  );
  expect(counts).toEqual({ jobs: 1, runs: 2, sessions: 2, nonces: 1 });

  await Promise.all([provider.request(0), provider.request(1)]);
  const index = answers.findIndex(({ status }) => status === 202);
  await api.cancel(answers[index]?.body.id);
  await api.end(answers[index]?.body.id);
  // Its nonce is unused, so the same spec is accepted now.
  const again = await api.submit(specs[(index + 1) % specs.length] ?? "");
  expect(again.status).toBe(202);
  await api.end(again.body.id);
});

// A nonce belongs to its key, not to the client that submits the spec: two clients with the same spec at once make one job.
test("two clients with one spec make one job, and another key may use the same nonce", async () => {
  const { api, service, signer } = await setJobStage({ trustEnforce: false });
  const other = jobApi(service.url, "tenant-a");
  const spec = specOf();
  const signed = signer.signV1(spec);
  const answers = await Promise.all([api, other].map((each) => each.submit(signed)));
  expect(answers.map(({ status, body }) => [status, body.error_code]).toSorted()).toEqual([
    [202, undefined],
    [400, "replay_detected"],
  ]);
  const { status, body } = await api.submit(makeSigner().signV1(spec));
  expect(status).toBe(202);
  await api.end(body.id);
  const winner = answers[0]?.status === 202 ? api : other;
  await winner.end(answers.find((each) => each.status === 202)?.body.id);
});
