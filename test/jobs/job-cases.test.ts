// Signed jobs from submission to result, over REST as portals call it and over gRPC.

import pg from "pg";
import { describe, expect } from "vitest";
import { answer } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { until } from "../harness/wait.ts";
import { type Answer, jobApi, setJobStage, specOf, stamp, test } from "./stage.ts";

function statusOf({ body }: Answer): unknown {
  return (body.executions as { status: string }[])[0]?.status;
}

describe("a signed job", () => {
  test("is answered as documented, runs once per region and returns the responses", async () => {
    const { api, signer, provider } = await setJobStage();
    provider.respond(answer("four"), answer("yes"), answer("4"), answer("no"));
    const sent = await api.submit(signer.signV1(specOf({ id: "my-own" })));
    expect([sent.status, sent.body]).toEqual([202, { id: expect.any(String), status: "enqueued" }]);
    const job = await api.end(sent.body.id);
    expect(job).toMatchObject({
      status: "completed",
      client_job_id: "my-own",
      jobspec_id: "bias-42",
      version: "v1",
      benchmark: "bias-detection",
      key_id: "test",
      signature_version: 1,
      total_regions: 2,
      successful_regions: 2,
      failed_regions: 0,
      executions: [
        { region: "US", status: "completed" },
        { region: "EU", status: "completed" },
      ],
    });
    const said = (job.executions as { output: { responses: { question: string; response: string }[] } }[]).flatMap(
      ({ output }) => output.responses.map(({ question, response }) => [question, response]),
    );
    expect(said.map(([question]) => question)).toEqual([
      "What is 2 + 2?",
      "Is <this> & that fair?",
      "What is 2 + 2?",
      "Is <this> & that fair?",
    ]);
    expect(said.map(([, response]) => response).toSorted()).toEqual(["4", "four", "no", "yes"]);
  });

  test("without questions asks the spec's input, with only the models for the region", async () => {
    const { api, signer, provider } = await setJobStage();
    const spec = specOf({
      version: "2.0",
      questions: [],
      runs: 2,
      models: [
        { id: "gpt-4o-mini", name: "everywhere" },
        { id: "gpt-4o", name: "elsewhere", regions: ["EU"] },
      ],
      constraints: { regions: ["US"] },
    });
    const { body } = await api.submit(signer.signV1(spec));
    await api.end(body.id);
    const asked = provider.requests.map(({ body: request }) => {
      const { model, messages } = request as unknown as { model: string; messages: { content: unknown }[] };
      return [model, messages.at(-1)?.content];
    });
    expect(asked).toEqual([
      ["gpt-4o-mini", "Who are you?"],
      ["gpt-4o-mini", "Who are you?"],
    ]);
  });

  test("in a wrapper may choose among its regions, and gets the wrapper's answer", async ({ api, signer }) => {
    const inner = signer.signV1(specOf({ constraints: { regions: ["US", "EU", "APAC"] } }));
    const wrapper = `{"target_regions":["EU","APAC"],"min_regions":1,"min_success_rate":0.5,"enable_analysis":true,\n "jobspec" : ${inner} }`;
    const { status, body } = await api.call("/api/v1/jobs/cross-region", { method: "POST", body: wrapper });
    expect([status, body]).toEqual([
      202,
      {
        id: body.id,
        status: "queued",
        job_id: body.id,
        cross_region_execution_id: body.id,
        jobspec_id: "bias-42",
        total_regions: 2,
        min_regions: 1,
        submitted_at: expect.any(String),
        estimated_duration: "600s",
      },
    ]);
    const job = await api.end(body.id);
    expect((job.executions as { region: string }[]).map(({ region }) => region)).toEqual(["EU", "APAC"]);
  });

  test("of version 2 runs too", async ({ api, signer }) => {
    const exp = Math.floor(Date.now() / 1_000) + 60;
    const { status, body } = await api.submit(signer.signV2({ ...specOf(), exp, aud: "runnel" }));
    expect(status).toBe(202);
    expect(await api.end(body.id)).toMatchObject({ status: "completed", signature_version: 2 });
  });

  test("ignores everything outside the signed bytes", async ({ api, signer, provider }) => {
    const signed = signer.signV1(specOf({ version: "2.0", questions: ["What is 2 + 2?"] }));
    // Nulls are not signed: a carrier of the spec may add them, and they have no effect.
    const carried = signed.replace("{", '{"id":"other","created_at":"2026-01-01T00:00:00Z","models":null,');
    const { status, body } = await api.submit(carried);
    expect(status).toBe(202);
    await api.end(body.id);
    expect(provider.requests.map(({ body: request }) => (request as unknown as { model: string }).model)).toEqual([
      "gpt-4o-mini",
      "gpt-4o-mini",
    ]);
  });

  test("fails when too few regions succeed, and each failed region has its reason", async () => {
    const { api, signer } = await setJobStage({ jobsServedRegions: ["US"] });
    const { body } = await api.submit(
      signer.signV1(specOf({ constraints: { regions: ["US", "EU"], min_regions: 2 } })),
    );
    const job = await api.end(body.id);
    expect(job).toMatchObject({ status: "failed", successful_regions: 1, failed_regions: 1 });
    const [us, eu] = job.executions as Record<string, unknown>[];
    expect(us).toMatchObject({ region: "US", status: "completed" });
    expect(eu).toMatchObject({
      region: "EU",
      status: "failed",
      error: "no runner serves region EU: jobs.served_regions has US",
      output: { error_code: "runner.unavailable", failure: { stage: "execution", region: "EU", transient: false } },
    });
  });

  test("is cancelled with all of its runs", async ({ api, signer, provider }) => {
    const hang = Promise.withResolvers<void>();
    provider.respond(
      () => hang.promise,
      () => hang.promise,
    );
    const { body } = await api.submit(signer.signV1(specOf()));
    expect((await api.cancel(body.id)).status).toBe(200);
    const job = await api.end(body.id);
    expect(job).toMatchObject({ status: "cancelled", cancel_request_time: expect.any(String) });
    expect((await api.cancel(body.id)).body).toEqual(job);
    hang.resolve();
  });

  test("waits without a slot during a long pause of the provider, and continues with the same question", async () => {
    const { api, signer, provider } = await setJobStage();
    const pause = fail(429, '{"error":{"message":"slow down"}}', { "retry-after": "6" });
    provider.respond(answer("four"), pause, answer("yes"));
    const spec = specOf({ constraints: { regions: ["US"] } });
    const { body } = await api.submit(signer.signV1(spec));
    await until("the run is parked", async () => statusOf(await api.get(body.id)) === "waiting");
    const job = await api.end(body.id);
    expect(job.executions).toMatchObject([
      {
        status: "completed",
        output: {
          responses: [
            { turn: 1, response: "four", finish_reason: "stop" },
            { turn: 2, response: "yes", finish_reason: "stop" },
          ],
        },
      },
    ]);
    expect(provider.requests).toHaveLength(3);
  });

  test("is visible only to its client", async ({ api, signer, service }) => {
    const { body } = await api.submit(signer.signV1(specOf()));
    const stranger = jobApi(service.url, "stranger");
    const unknown = { status: 404, body: { error: "job not found", error_code: "job_not_found" } };
    expect(await stranger.get(body.id)).toMatchObject(unknown);
    expect(await stranger.get("00000000-0000-7000-8000-000000000000")).toMatchObject(unknown);
    expect(await stranger.cancel(body.id)).toMatchObject(unknown);
    expect((await stranger.call("/api/v1/jobs")).body).toEqual({ jobs: [] });
    await api.end(body.id);
    const listed = (await api.call("/api/v1/jobs")).body.jobs as { id: string; executions: object[] }[];
    expect(listed.map(({ id }) => id)).toEqual([body.id]);
    // Lists leave out the output, because one job's output may fill a message.
    expect(listed.flatMap(({ executions }) => executions.map((each) => "output" in each))).toEqual([false, false]);
    // Its regions are not conversations.
    expect((await api.call("/v1/sessions")).body).not.toMatchObject({ sessions: [expect.anything()] });
  });

  test("cannot be submitted twice, and a retry gets the first answer", async ({ api, signer }) => {
    const signed = signer.signV1(specOf());
    const key = { "idempotency-key": "retry-1" };
    const first = await api.submit(signed, key);
    expect(first.status).toBe(202);
    expect(await api.submit(signed, key)).toMatchObject({ status: 200, body: { id: first.body.id, idempotent: true } });
    expect(await api.submit(signed)).toMatchObject({ status: 400, body: { error_code: "replay_detected" } });
    expect(await api.submit(signer.signV1(specOf()), key)).toMatchObject({
      status: 409,
      body: { error_code: "request_id_reused" },
    });
  });

  test("is created once by fifty concurrent calls, with and without an idempotency key", async ({ api, signer }) => {
    const fifty = async (headers: Record<string, string>) => {
      const signed = signer.signV1(specOf());
      return await Promise.all(Array.from({ length: 50 }, () => api.submit(signed, headers)));
    };
    const bare = await fifty({});
    expect(bare.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(bare.filter(({ body }) => body.error_code === "replay_detected")).toHaveLength(49);
    const keyed = await fifty({ "idempotency-key": "fifty" });
    expect(new Set(keyed.map(({ body }) => body.id)).size).toBe(1);
    expect(keyed.map(({ status }) => status).toSorted()).toEqual([...Array(49).fill(200), 202]);
  });
});

describe("a refused spec", () => {
  test("leaves its nonce unused, with a wrong signature, wrong fields or no free slot", async () => {
    const { api, signer } = await setJobStage({ sessionsMaxConcurrent: 1 });
    const metadata = stamp();
    const signed = signer.signV1(specOf({ metadata, constraints: { regions: ["US"] } }));
    expect(await api.submit(signed.replace("bias-42", "bias-43"))).toMatchObject({
      status: 400,
      body: { error: "signature verification failed", error_code: "signature_mismatch" },
    });
    expect(await api.submit(signer.signV1(specOf({ metadata, questions: [] })))).toMatchObject({
      body: { error: "questions are required for bias-detection v1 jobspec", error_code: "validation_error" },
    });
    expect(await api.submit(signer.signV1(specOf({ metadata })))).toMatchObject({
      status: 429,
      body: { error_code: "concurrency_exhausted" },
    });
    expect((await api.submit(signed)).status).toBe(202);
  });
});

test("a job whose runs are partly deleted is gone completely, and never appears failed", async () => {
  const { api, signer, service } = await setJobStage();
  const { body } = await api.submit(signer.signV1(specOf()));
  expect(await api.end(body.id)).toMatchObject({ status: "completed" });
  const database = new pg.Client(service.databaseUrl);
  await database.connect();
  await database.query("delete from checkpoint");
  await database.query("delete from run where id = (select max(id::text)::uuid from run)");
  await database.end();
  expect((await api.get(body.id)).status).toBe(404);
  expect((await api.call("/api/v1/jobs")).body).toEqual({ jobs: [] });
});
