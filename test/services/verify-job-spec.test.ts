// VerifyJobSpec: what it answers and refuses, over REST in the exact bytes of the signing contract, and over gRPC.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { makeSigner } from "../jobspec/signer.ts";
import { smallSpec } from "../jobspec/specs.ts";

const authAdminToken = "the-admin-token-of-these-tests";
const asAdmin = { authorization: `Bearer ${authAdminToken}` };
const { verifyJobSpec } = TrustService.method;
const signer = makeSigner();
const publicKey = Buffer.from(signer.rawKey).toString("base64");
const trusting = { trustKeysJson: JSON.stringify([{ kid: "portal", public_key: publicKey }]) };

/** Without a rate limit, unless a test is about that. */
async function openStage(flags: Partial<Config> = {}, clock?: Clock) {
  const options = clock === undefined ? {} : { clock };
  const service = await startService({ authAdminToken, trustVerifyIntervalSec: 0, ...flags }, options);
  const verify = async (body: string | Buffer, headers: Record<string, string> = asAdmin) => {
    const response = await fetch(`${service.url}/api/v1/debug/verify`, { method: "POST", headers, body });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  return { service, verify };
}

/** A spec that was signed a moment ago. */
function freshSpec(): object {
  return { ...smallSpec, metadata: { timestamp: new Date().toISOString(), nonce: "n-1" } };
}

describe("a spec", () => {
  test("that is valid is ok in the contract's fields, followed by ours", async () => {
    const { service, verify } = await openStage(trusting);
    const spec = { ...freshSpec(), created_at: "2026-01-31T12:00:00Z" };
    const { status, text } = await verify(signer.signV1(spec));
    const answer = JSON.parse(text);
    const digest = createHash("sha256").update(answer.canonical).digest("hex");
    expect(status).toBe(200);
    expect(answer).toEqual({
      verify: "ok",
      server_canonical_len: answer.canonical.length,
      server_canonical_sha256: digest,
      has_execution_type: false,
      has_estimated_cost: false,
      has_created_at: true,
      canonical: expect.stringMatching(/^\{"benchmark":/),
      trust: "trusted",
      kid: "portal",
      signature_version: 1,
    });
    expect(Object.keys(answer).slice(0, 6)).toEqual([
      "verify",
      "server_canonical_len",
      "server_canonical_sha256",
      "has_execution_type",
      "has_estimated_cost",
      "has_created_at",
    ]);
    expect(await query(service.databaseUrl, "select 1 from job_nonce union all select 1 from trust_event")).toEqual([]);
  });

  test("of an untrusted key has a valid signature, and the answer says what the trust gate would decide", async () => {
    const stranger = makeSigner().signV1(freshSpec());
    const strict = await openStage(trusting);
    expect(JSON.parse((await strict.verify(stranger)).text)).toMatchObject({
      verify: "ok",
      trust: "unknown",
      error_code: "trust_violation:unknown",
      reason: "untrusted signing key: no match in allowlist",
    });
    const open = await openStage({ trustEnforce: false });
    const answer = JSON.parse((await open.verify(stranger)).text);
    expect(answer).toMatchObject({ verify: "ok", trust: "unknown" });
    expect(answer).not.toHaveProperty("error_code");
    const bare = makeSigner().signV1({ ...smallSpec, metadata: {} });
    expect(JSON.parse((await open.verify(bare)).text)).not.toHaveProperty("error_code");
    expect(JSON.parse((await strict.verify(bare)).text)).toMatchObject({ error_code: "trust_violation:unknown" });
  });

  test("with a wrong signature is explained, with the place where the signer's bytes differ", async () => {
    const { service } = await openStage(trusting);
    const admin = new GrpcClient(service.target, asAdmin);
    const spec = JSON.stringify(freshSpec()).replace("}", `,"public_key":"${publicKey}"}`);
    const right = signer.signV1(freshSpec());
    const { canonical } = await admin.call(verifyJobSpec, { document: { data: Buffer.from(right) } });
    const object = JSON.parse(right);
    const wrong = JSON.stringify({ ...object, signature: signer.signBytes(`${canonical}\n`) });
    const signedBytes = Buffer.from(`${canonical}\n`);
    const answer = await admin.call(verifyJobSpec, { document: { data: Buffer.from(wrong) }, signedBytes });
    expect(answer).toMatchObject({
      verify: "failed",
      errorCode: "signature_mismatch",
      reason: "signature verification failed",
      pitfalls: ["trailing_newline"],
      advice: [expect.any(String)],
      canonical,
      difference: { offset: BigInt(canonical.length), given: expect.stringMatching(/\n$/) },
    });
    const unsigned = await admin.call(verifyJobSpec, { document: { data: Buffer.from(spec) } });
    expect(unsigned).toMatchObject({
      verify: "failed",
      errorCode: "missing_field:signature",
      reason: "signature is required",
    });
  });
});

describe("a call is refused with the contract's error", () => {
  const spec = signer.signV1(freshSpec());

  test("when there is no admin token", async () => {
    const { verify } = await openStage({ authAdminToken: "" });
    for (const headers of [{}, asAdmin, { authorization: "nonsense" }] as Record<string, string>[]) {
      const { status, text } = await verify(spec, headers);
      expect([status, text]).toEqual([
        503,
        '{"error":"admin_auth_not_configured","message":"there is no admin token: set RUNNEL_AUTH_ADMIN_TOKEN for the service"}\n',
      ]);
    }
  });

  test.each([
    [{}, 401, "unauthorized"],
    [{ authorization: "" }, 401, "unauthorized"],
    [{ authorization: authAdminToken }, 401, "invalid_auth_format"],
    [{ authorization: "Bearer" }, 401, "invalid_auth_format"],
    [{ authorization: `Basic ${authAdminToken}` }, 401, "invalid_auth_format"],
    [{ authorization: "Bearer another-token-of-somebody" }, 403, "invalid_token"],
    [{ authorization: "Bearer key-of-local-for-tests" }, 403, "invalid_token"],
  ] as [Record<string, string>, number, string][])("with the headers %j: %d %s", async (headers, status, error) => {
    const { verify } = await openStage();
    const answer = await verify(spec, headers);
    expect([answer.status, answer.text]).toEqual([
      status,
      `${JSON.stringify({ error, message: JSON.parse(answer.text).message })}\n`,
    ]);
    expect(answer.text).not.toContain(authAdminToken);
  });

  test("when it comes a second time within ten seconds, even after a refused one", async () => {
    let atMs = 0;
    // Stands still for the rate limit; all other clocks run.
    const clock = { ...systemClock, monotonicMs: () => atMs };
    const { service, verify } = await openStage({ trustVerifyIntervalSec: 10 }, clock);
    expect((await verify(spec, {})).status).toBe(401);
    expect((await verify("not JSON")).status).toBe(400);
    atMs = 0.25;
    const { status, text, headers } = await verify(spec);
    expect([status, headers.get("retry-after")]).toEqual([429, "10"]);
    expect(text).toBe(
      '{"error":"rate_limit_exceeded","message":"Admin operations are rate limited","retry_after":10}\n',
    );
    const admin = new GrpcClient(service.target, asAdmin);
    const request = { document: { data: Buffer.from(spec) } };
    const refused = admin.call(verifyJobSpec, request);
    await expect(refused).rejects.toMatchObject({ code: 8, details: "Admin operations are rate limited" });
    atMs = 10_000;
    expect(await admin.call(verifyJobSpec, request)).toMatchObject({ verify: "ok" });
  });

  test.each([
    ["an empty body", "", "invalid_body"],
    ["more than a mebibyte", Buffer.alloc(1_048_577, 0x20), "invalid_body"],
    ["no JSON", "{", "invalid_json"],
    ["a list", "[]", "invalid_json"],
    ["no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "invalid_json"],
    ["a jobspec with invalid JSON", '{"jobspec":{"a":1e999}}', "invalid_json"],
  ] as [string, string | Buffer, string][])("when the body is %s", async (_, body, error) => {
    const { service, verify } = await openStage();
    const { status, text } = await verify(body);
    const { message } = JSON.parse(text);
    const details = error === "invalid_json" ? { details: message } : {};
    expect([status, text]).toEqual([400, `${JSON.stringify({ error, message, ...details })}\n`]);
    expect(message).toMatch(/\w/);
    const admin = new GrpcClient(service.target, asAdmin);
    const refused: unknown = await admin
      .call(verifyJobSpec, { document: { data: Buffer.from(body) } })
      .catch((failure: unknown) => failure);
    expect(refused).toMatchObject({ code: 3 });
    expect(reasonOf(refused as Parameters<typeof reasonOf>[0])).toBe("JOBSPEC_INVALID");
  });
});
