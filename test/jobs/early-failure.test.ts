// Between the acceptance of a job and the start of its run, its key may be revoked or its row changed. The run then fails
// before any work, with the error that portals know.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { answer } from "../fakes/provider.ts";
import { test as base } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { makeSigner, type Signer } from "../jobspec/signer.ts";
import { type JobStage, setJobStage, specOf, trustEntry } from "./stage.ts";

const test = base.extend("stage", () => setNarrowStage());

const { createTrustedKey, updateTrustedKey, revokeTrustedKey } = TrustService.method;
const authAdminToken = "the-admin-token-of-these-tests";
const inOneRegion = { regions: ["US"] };

interface Waiting extends JobStage {
  readonly id: string;
  /** Lets the job's run begin, and waits for the job's end. */
  begin(): Promise<Record<string, unknown>>;
}

/** Adds the signer's key to the database with the key id `kept`. */
async function keepKey({ service }: JobStage, signer: Signer, regions: string[] = []): Promise<GrpcClient> {
  const admin = new GrpcClient(service.target, { authorization: `Bearer ${authAdminToken}` });
  const publicKey = Buffer.from(signer.rawKey).toString("base64");
  await admin.call(createTrustedKey, { key: { kid: "kept", publicKey, regions } });
  return admin;
}

/** A stage with one run at a time, which trusts the stage's own key. */
async function setNarrowStage(flags: Partial<Config> = {}): Promise<JobStage> {
  return await setJobStage({ runsSlots: 1, authAdminToken, ...flags });
}

/** Submits a job that cannot begin yet: a job of the stage's own key has the only slot. */
async function submitBehindAnother(stage: JobStage, signer: Signer): Promise<Waiting> {
  const gate = Promise.withResolvers<void>();
  stage.provider.respond(async (...wire) => {
    await gate.promise;
    await answer("at last")(...wire);
  });
  await submitNow(stage, stage.signer);
  await stage.provider.request(0);
  const id = await submitNow(stage, signer);
  expect((await stage.api.get(id)).body.status).toBe("queued");
  return {
    ...stage,
    id,
    begin: async () => {
      gate.resolve();
      return await stage.api.end(id);
    },
  };
}

async function submitNow({ api }: JobStage, signer: Signer): Promise<string> {
  const { status, body } = await api.submit(signer.signV1(specOf({ constraints: inOneRegion })));
  expect([status, body.error]).toEqual([202, undefined]);
  return String(body.id);
}

async function expectEarlyFailure({ begin, provider }: Waiting, why: string): Promise<void> {
  const job = await begin();
  const code = "RUNNER_EARLY_FAILURE";
  expect(job).toMatchObject({ status: "failed", successful_regions: 0, failed_regions: 1 });
  const [execution] = job.executions as Record<string, unknown>[];
  const message = `jobspec validate: ${why}`;
  expect(execution).toMatchObject({ status: "failed", error: message, error_code: code });
  expect(execution?.output).toEqual({
    error: message,
    error_code: code,
    failure: {
      stage: "job_initialization",
      component: "runner",
      subcomponent: "execution_service",
      code,
      type: "internal",
      region: "unknown",
      message,
      transient: false,
      timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    },
  });
  // The only questions were those of the earlier job.
  expect(provider.requests).toHaveLength(2);
}

describe("a job fails at its start", () => {
  test("when its key was revoked in the database", async ({ stage }) => {
    const signer = makeSigner();
    const admin = await keepKey(stage, signer);
    const waiting = await submitBehindAnother(stage, signer);
    await admin.call(revokeTrustedKey, { kid: "kept" });
    await expectEarlyFailure(waiting, "untrusted signing key: explicitly revoked");
  });

  test("when its key may no longer sign for its region", async ({ stage }) => {
    const signer = makeSigner();
    const admin = await keepKey(stage, signer, ["US"]);
    const waiting = await submitBehindAnother(stage, signer);
    await admin.call(updateTrustedKey, { key: { kid: "kept", regions: ["EU"] } });
    await expectEarlyFailure(waiting, 'untrusted signing key: key "kept" is not trusted for region US');
  });

  test("when its key was revoked in the file of the settings", async ({ folder }) => {
    const trustKeysFile = join(folder, "keys.json");
    const signer = makeSigner();
    const write = (status: string): Promise<void> =>
      writeFile(trustKeysFile, JSON.stringify([trustEntry(signer, { kid: "filed", status })]));
    await write("active");
    const stage = await setNarrowStage({ trustKeysFile, trustReloadSeconds: 1 });
    const waiting = await submitBehindAnother(stage, signer);
    await write("revoked");
    await until("the file to be read", async () => {
      const { body } = await stage.api.submit(signer.signV1(specOf({ questions: [] })));
      return body.error_code === "trust_violation:revoked";
    });
    await expectEarlyFailure(waiting, "untrusted signing key: explicitly revoked");
  });

  test.for([
    [
      "a word of it was changed",
      ({ spec }: Forged) => spec.replace("bias-42", "bias-43"),
      "signature verification failed",
    ],
    ["it is not an object", () => "[]", "a JSON object is expected, at line 1, column 1"],
    [
      "it was signed by somebody else",
      ({ stranger }: Forged) => stranger.signV1(specOf({ constraints: inOneRegion })),
      "untrusted signing key: no match in allowlist",
    ],
    [
      "it is another one by the same key",
      ({ signer }: Forged) => signer.signV1(specOf({ constraints: inOneRegion })),
      "the stored document differs from the accepted one",
    ],
  ] as const)("when its document was changed in the table: %s", async ([_how, forge, why], { stage }) => {
    const { signer } = stage;
    const waiting = await submitBehindAnother(stage, signer);
    const { databaseUrl } = waiting.service;
    const [row] = await query<{ document: Buffer }>(databaseUrl, "select document from job where id = $1", [
      waiting.id,
    ]);
    const forged = forge({ spec: String(row?.document), signer, stranger: makeSigner() });
    await query(databaseUrl, "update job set document = $2 where id = $1", [waiting.id, Buffer.from(forged)]);
    await expectEarlyFailure(waiting, why);
  });
});

interface Forged {
  readonly spec: string;
  readonly signer: Signer;
  readonly stranger: Signer;
}
