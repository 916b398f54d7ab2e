// GetReceipt: the service signs the log of any run, with any end, and signs nothing for a damaged log.

import { type ServiceError, status } from "@grpc/grpc-js";
import { test as base, describe, expect } from "vitest";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { isActive } from "../../src/engine/storage/run.ts";
import { answer, type Script } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { getRun, linesOf, openCluster, startRun as startConversation } from "../fault/cluster.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { fetchReceipt, listPublishedKids } from "../receipts/fetched.ts";
import { type JobStage, setJobStage, specOf } from "./stage.ts";

const test = base.extend("stage", () => setStage());

const { getReceipt } = ReceiptService.method;
const authAdminToken = "the-admin-token-of-these-tests";
const unknownRun = "00000000-0000-7000-8000-000000000000";

interface Stage extends JobStage {
  readonly url: string;
  readonly client: GrpcClient;
}

async function setStage(): Promise<Stage> {
  const stage = await setJobStage({ authAdminToken });
  return { ...stage, url: stage.service.url, client: new GrpcClient(stage.service.target) };
}

async function startRun({ client }: Stage): Promise<{ sessionId: string; runId: string }> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "receipts" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  return { sessionId, runId };
}

async function untilEnded({ service }: Stage, runId: string): Promise<void> {
  await until("the run to end", async () => {
    const [run] = await query<{ status: Parameters<typeof isActive>[0] }>(
      service.databaseUrl,
      "select status from run where id = $1",
      [runId],
    );
    return run !== undefined && !isActive(run.status);
  });
}

/** Starts a run of a session, and waits for its completion. */
async function completeRun(stage: Stage): Promise<{ sessionId: string; runId: string }> {
  const run = await startRun(stage);
  await untilEnded(stage, run.runId);
  return run;
}

async function reasonFor(client: GrpcClient, runId: string): Promise<string> {
  return await client.call(getReceipt, { runId }).then(
    () => expect.unreachable("there was a receipt"),
    (error: ServiceError) => `${status[error.code]} ${reasonOf(error)}`,
  );
}

const hang: Script = (wire) => wire.hang();
const refuse: Script = (...wire) => fail(400, '{"error":{"message":"no"}}')(...wire);

describe.each([
  ["has completed", answer("done"), { status: "completed", code: "stop" }],
  ["has failed", refuse, { status: "failed", code: "runner.error" }],
  ["was cancelled", hang, { status: "cancelled", code: "cancelled" }],
] as const)("a receipt of a run that %s", (_how, script, end) => {
  test("of a session states the end, and fits its log", async ({ stage }) => {
    stage.provider.respond(script);
    const { runId } = await startRun(stage);
    await stage.provider.request(0);
    if (end.status === "cancelled") {
      expect(await reasonFor(stage.client, runId)).toBe("FAILED_PRECONDITION RUN_ACTIVE");
      await stage.client.call(RunService.method.cancelRun, { runId });
    }
    await untilEnded(stage, runId);
    const { statement } = await fetchReceipt(stage, runId);
    expect(statement).toMatchObject({ iss: "runnel", ...end });
    expect(statement.job_id).toBeUndefined();
  });

  test("of a job states the job, the region, and the hash of the signed spec", async ({ stage }) => {
    stage.provider.respond(script, script);
    const { api, signer, provider } = stage;
    const { body } = await api.submit(signer.signV1(specOf({ questions: ["Who?"] })));
    await Promise.all([provider.request(0), provider.request(1)]);
    if (end.status === "cancelled") {
      await api.cancel(body.id);
    }
    const job = await api.end(body.id);
    for (const { run_id: runId, region } of job.executions as { run_id: string; region: string }[]) {
      const { statement } = await fetchReceipt(stage, runId);
      expect(statement).toMatchObject({
        job_id: body.id,
        region,
        job_spec_sha256: job.canonical_sha256,
        ...end,
      });
    }
  });
});

describe("GetReceipt fails", () => {
  test.for([
    ["a result was changed", "update run_result set payload = payload || '\\x00' where run_id = $1 and sequence = 2"],
    ["a result was removed", "delete from run_result where run_id = $1 and sequence = 2"],
    [
      "the last result was removed",
      "delete from run_result where run_id = $1 and sequence = (select max(sequence) from run_result where run_id = $1)",
    ],
    [
      "two results were swapped",
      `update run_result r set payload = o.payload from run_result o
       where r.run_id = $1 and o.run_id = $1 and r.sequence in (1, 2) and o.sequence = 3 - r.sequence`,
    ],
  ] as const)("when in the table %s", async ([_what, change], { stage }) => {
    const { runId } = await completeRun(stage);
    await fetchReceipt(stage, runId);
    await query(stage.service.databaseUrl, change, [runId]);
    expect(await reasonFor(stage.client, runId)).toBe("DATA_LOSS LOG_DAMAGED");
    const response = await fetch(`${stage.url}/v1/runs/${runId}/receipt`, { headers: credentialsOf() });
    expect([response.status, await response.json()]).toMatchObject([500, { reason: "LOG_DAMAGED" }]);
  });

  test("for a damaged log, and the service logs which one it is", async () => {
    const cluster = await openCluster();
    const member = await cluster.start();
    const { runId } = await startConversation(member.client, "words=3");
    await until("the run to end", async () => (await getRun(member.client, runId)).state === Run_State.COMPLETED);
    await query(cluster.databaseUrl, "delete from run_result where run_id = $1 and sequence = 2", [runId]);
    expect(await reasonFor(member.client, runId)).toBe("DATA_LOSS LOG_DAMAGED");
    const [line] = await until("the line", () => {
      const lines = linesOf(member, "log.damaged");
      return lines.length > 0 && lines;
    });
    expect(line).toMatchObject({ runId });
  });

  test("for a run whose session was purged", async ({ stage }) => {
    const { sessionId, runId } = await completeRun(stage);
    await fetchReceipt(stage, runId);
    await stage.client.call(SessionService.method.purgeSession, { sessionId });
    expect(await reasonFor(stage.client, runId)).toBe("FAILED_PRECONDITION RECEIPT_UNAVAILABLE");
  });

  test("for a run without a log hash", async ({ stage }) => {
    const { runId } = await completeRun(stage);
    await query(stage.service.databaseUrl, "update run set log_hash = null where id = $1", [runId]);
    expect(await reasonFor(stage.client, runId)).toBe("FAILED_PRECONDITION RECEIPT_UNAVAILABLE");
  });

  test("for other clients, and for an unknown run", async ({ stage }) => {
    const { runId } = await completeRun(stage);
    const stranger = new GrpcClient(stage.service.target, credentialsOf("stranger"));
    expect(await reasonFor(stranger, runId)).toBe("NOT_FOUND RUN_NOT_FOUND");
    expect(await reasonFor(stage.client, unknownRun)).toBe("NOT_FOUND RUN_NOT_FOUND");
  });
});

test("receipts from before a key rotation stay verifiable, and later ones are signed by the new key", async () => {
  const stage = await setStage();
  const { runId } = await completeRun(stage);
  const before = await fetchReceipt(stage, runId);
  const admin = new GrpcClient(stage.service.target, { authorization: `Bearer ${authAdminToken}` });
  await admin.call(TrustService.method.rotateReceiptKey, {});
  const after = await fetchReceipt(stage, runId);
  expect(after.kid).not.toBe(before.kid);
  expect(await listPublishedKids(stage.url)).toEqual([after.kid, before.kid]);
  expect({ ...after.statement, issued_at: "" }).toEqual({ ...before.statement, issued_at: "" });
});
