// TrustService: keys, the audit of their changes, and the keys of receipts, over gRPC and REST.

import { sign as signBytes, verify as verifyBytes } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { test as base, describe, expect } from "vitest";
import { TrustedKey_State } from "#gen/runnel/job/v1/trust_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { loadSigningKey } from "../../src/engine/receipts/receipt-keys.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { importPublicKey, thumbprint } from "../../src/platform/base/public-key.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { recordRefusal } from "../../src/protocols/jobspec/jobs/audit.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { freshKey, openKeyFile } from "../jobs/trust-stage.ts";
import { connect } from "../runlog/store.ts";

const test = base.extend("stage", () => openStage());

const authAdminToken = "the-admin-token-of-these-tests";
const asAdmin = { authorization: `Bearer ${authAdminToken}` };
const { createTrustedKey, listTrustedKeys, updateTrustedKey, revokeTrustedKey, listTrustEvents } = TrustService.method;
const { rotateReceiptKey, verifyJobSpec } = TrustService.method;
const { getJwks } = ReceiptService.method;

async function openStage(flags: Partial<Config> = {}) {
  const service = await startService({ authAdminToken, trustVerifyIntervalSec: 0, ...flags });
  const rest = async (httpMethod: string, path: string, body?: object, headers: Record<string, string> = asAdmin) => {
    const response = await fetch(`${service.url}${path}`, {
      method: httpMethod,
      headers: { ...headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  return { service, rest, admin: new GrpcClient(service.target, asAdmin) };
}

type Admin = GrpcClient;

async function eventsOf(admin: Admin, type = "") {
  return (await admin.call(listTrustEvents, { type })).events;
}

/** Returns the state of a key in the trust list, as a submission would find it. */
async function trustOf(admin: Admin, key: Buffer): Promise<string> {
  const data = Buffer.from(JSON.stringify({ public_key: key.toString("base64"), signature: `${"A".repeat(86)}==` }));
  return (await admin.call(verifyJobSpec, { document: { data } })).trust;
}

describe("a trusted key", () => {
  test("is added, changed and revoked over REST, and each change is in the audit", async () => {
    const { rest, admin } = await openStage();
    const key = freshKey();
    const publicKey = key.toString("base64");
    const wanted = { kid: "portal-1", public_key: publicKey, not_after: "2031-12-31T00:00:00Z", client_ids: ["ada"] };
    const made = await rest("POST", "/v1/trust/keys", wanted);
    expect(made).toEqual({
      status: 201,
      body: {
        ...wanted,
        status: "active",
        thumbprint: thumbprint(key),
        create_time: expect.any(String),
        update_time: made.body.create_time,
      },
    });
    const changed = await rest("PUT", "/v1/trust/keys/portal-1", {
      regions: ["EU"],
      not_before: "2020-01-01T00:00:00Z",
    });
    expect(changed).toMatchObject({ status: 200, body: { kid: "portal-1", public_key: publicKey, regions: ["EU"] } });
    expect(changed.body).not.toHaveProperty("not_after");
    expect(changed.body).not.toHaveProperty("client_ids");
    // Again, as a retry would do it: nothing changes, and the audit gets no entry.
    expect(
      await rest("PUT", "/v1/trust/keys/portal-1", { regions: ["EU"], not_before: "2020-01-01T00:00:00Z" }),
    ).toEqual(changed);
    expect(await trustOf(admin, key)).toBe("trusted");
    // PUT replaces all terms; PATCH changes only the given terms, and so does a call with a mask.
    const patched = await rest("PATCH", "/v1/trust/keys/portal-1", { client_ids: ["bob"] });
    expect(patched.body).toMatchObject({ regions: ["EU"], client_ids: ["bob"] });
    const late = timestampFromDate(new Date("2019-01-01T00:00:00Z"));
    const change = { key: { kid: "portal-1", notAfter: late }, updateMask: { paths: ["not_after"] } };
    const refusal = await admin.call(updateTrustedKey, change).catch((error: Error) => error.message);
    expect(refusal).toContain("invalid key.not_after: it is before not_before");
    await admin.call(updateTrustedKey, { key: { kid: "portal-1" }, updateMask: { paths: ["client_ids"] } });
    const revoked = await rest("POST", "/v1/trust/keys/portal-1:revoke", {});
    expect(revoked).toMatchObject({ status: 200, body: { status: "revoked" } });
    expect(await rest("POST", "/v1/trust/keys/portal-1:revoke", {})).toEqual(revoked);
    expect(await trustOf(admin, key)).toBe("revoked");
    const events = await rest("GET", "/v1/trust/events");
    const told = events.body.events.map((event: { type: string; actor: string; kid: string; detail: unknown }) => [
      event.type,
      event.actor,
      event.kid,
      event.detail,
    ]);
    const [first, second] = [
      { status: "active", not_after: "2031-12-31T00:00:00.000Z", client_ids: ["ada"], regions: [], runners: [] },
      { status: "active", not_before: "2020-01-01T00:00:00.000Z", client_ids: [], regions: ["EU"], runners: [] },
    ];
    expect(told).toEqual([
      ["key.revoked", "admin", "portal-1", { before: second, after: { ...second, status: "revoked" } }],
      ["key.updated", "admin", "portal-1", { before: { ...second, client_ids: ["bob"] }, after: second }],
      ["key.updated", "admin", "portal-1", { before: second, after: { ...second, client_ids: ["bob"] } }],
      ["key.updated", "admin", "portal-1", { before: first, after: second }],
      ["key.created", "admin", "portal-1", { after: first }],
    ]);
    expect(events.body.events[0]).toMatchObject({ public_key: publicKey, event_id: expect.any(String) });
  });

  test("has a unique name and unique bytes, even when twins come at once", async () => {
    const { service, rest, admin } = await openStage();
    const [key, other] = [freshKey().toString("base64"), freshKey().toString("base64")];
    const twins = Array.from({ length: 8 }, (_, at) =>
      admin.call(createTrustedKey, { key: { kid: `twin-${at}`, publicKey: key } }).then(
        () => "made",
        (error: unknown) => reasonOf(error as Parameters<typeof reasonOf>[0]),
      ),
    );
    expect((await Promise.all(twins)).toSorted()).toEqual([...Array(7).fill("KEY_EXISTS"), "made"]);
    const [{ kid = "" } = {}] = await query<{ kid: string }>(service.databaseUrl, "select kid from trusted_key");
    expect(await rest("POST", "/v1/trust/keys", { kid, public_key: other })).toMatchObject({
      status: 409,
      body: { code: "ALREADY_EXISTS", reason: "KEY_EXISTS", error: expect.stringContaining("ListTrustedKeys") },
    });
    expect(await eventsOf(admin)).toHaveLength(1);
  });

  test.each([
    ["kid", { kid: "a b" }],
    ["kid", { kid: "" }],
    ["kid", { kid: "x".repeat(129) }],
    ["public_key", { publicKey: "" }],
    ["public_key", { publicKey: "AQID" }],
    ["public_key", { publicKey: freshKey().toString("base64url") }],
    ["public_key", { publicKey: freshKey().toString("hex") }],
    ["public_key", { publicKey: Buffer.alloc(32).toString("base64") }],
    ["public_key", { publicKey: Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString("base64") }],
    ["not_after", { notBefore: time(10), notAfter: time(9) }],
    ["not_before", { notBefore: time(-1) }],
    ["not_after", { notAfter: time(10 ** 12) }],
    ["regions", { regions: ["MARS"] }],
    ["regions", { regions: ["EU", "EU"] }],
    ["client_ids", { clientIds: [""] }],
    ["client_ids", { clientIds: ["a\0"] }],
    ["client_ids", { clientIds: Array.from({ length: 101 }, String) }],
  ])("whose %s is invalid is refused by that name, and nothing is stored (%#)", async (field, wrong) => {
    const { admin } = await openStage();
    const key = { kid: "k", publicKey: freshKey().toString("base64"), ...wrong };
    const refused: unknown = await admin.call(createTrustedKey, { key }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 3, details: expect.stringContaining(field) });
    expect((await admin.call(listTrustedKeys, {})).keys).toEqual([]);
    expect(await eventsOf(admin)).toEqual([]);
  });

  test("that is weak is refused with the reason", async ({ stage: { admin } }) => {
    const publicKey = Buffer.alloc(32).toString("base64");
    const details = "invalid key.public_key: weak public key: with it one signature fits any text; make a new key pair";
    await expect(admin.call(createTrustedKey, { key: { kid: "k", publicKey } })).rejects.toMatchObject({ details });
    await expect(admin.call(createTrustedKey, {})).rejects.toMatchObject({ code: 3 });
  });

  test("that is unknown gives KEY_NOT_FOUND, and a revoked one cannot be changed", async () => {
    const { rest, admin } = await openStage();
    expect(await rest("PUT", "/v1/trust/keys/nobody", {})).toMatchObject({
      status: 404,
      body: { reason: "KEY_NOT_FOUND" },
    });
    expect(await rest("POST", "/v1/trust/keys/nobody:revoke", {})).toMatchObject({ status: 404 });
    await admin.call(createTrustedKey, { key: { kid: "k", publicKey: freshKey().toString("base64") } });
    const { key } = await admin.call(revokeTrustedKey, { kid: "k" });
    expect(await rest("PUT", "/v1/trust/keys/k", { regions: ["EU"] })).toMatchObject({
      status: 409,
      body: { code: "FAILED_PRECONDITION", reason: "KEY_REVOKED" },
    });
    expect((await admin.call(listTrustedKeys, {})).keys).toEqual([key]);
  });

  test("can be changed only with the admin token", async ({ stage: { service, rest } }) => {
    const client = new GrpcClient(service.target);
    const denied = { code: 7, details: "access denied: the method needs the admin token" };
    for (const method of [createTrustedKey, listTrustedKeys, updateTrustedKey, revokeTrustedKey, listTrustEvents]) {
      await expect(client.call(method, {})).rejects.toMatchObject(denied);
    }
    await expect(client.call(rotateReceiptKey, {})).rejects.toMatchObject(denied);
    expect((await rest("GET", "/v1/trust/keys", undefined, {})).status).toBe(401);
  });

  test("is written in one transaction with its audit event: neither exists without the other", async () => {
    const { service, admin } = await openStage();
    await query(service.databaseUrl, "alter table trust_event rename to gone");
    const key = freshKey();
    const adding = admin.call(createTrustedKey, { key: { kid: "k", publicKey: key.toString("base64") } });
    await expect(adding).rejects.toMatchObject({ code: 13 });
    await query(service.databaseUrl, "alter table gone rename to trust_event");
    expect(await trustOf(admin, key)).toBe("unknown");
  });
});

describe("a key of the settings", () => {
  test("is listed first, cannot be changed by a call, and reserves its name and bytes", async () => {
    const key = freshKey().toString("base64");
    const entries = [
      { kid: "z", public_key: key, not_after: "2031-01-01T00:00:00Z" },
      { kid: "b", public_key: freshKey().toString("base64"), status: "revoked" },
    ];
    const { admin, rest } = await openStage({ trustKeysJson: JSON.stringify(entries) });
    await admin.call(createTrustedKey, { key: { kid: "a", publicKey: freshKey().toString("base64") } });
    const { body } = await rest("GET", "/v1/trust/keys");
    expect(body.keys).toMatchObject([
      { kid: "b", status: "revoked", is_configured: true },
      { kid: "z", public_key: key, status: "active", is_configured: true, not_after: "2031-01-01T00:00:00Z" },
      { kid: "a", status: "active" },
    ]);
    expect(body.keys[0]).not.toHaveProperty("create_time");
    for (const twin of [
      { kid: "z", public_key: freshKey().toString("base64") },
      { kid: "c", public_key: key },
    ]) {
      expect(await rest("POST", "/v1/trust/keys", twin)).toMatchObject({ status: 409, body: { reason: "KEY_EXISTS" } });
    }
    expect(await rest("POST", "/v1/trust/keys/z:revoke", {})).toMatchObject({
      status: 404,
      body: { error: "the key comes from the settings: change it there" },
    });
  });

  test("that cannot be read stops the start, before anything is opened", async () => {
    const trustKeysJson = '[{"kid":"a"}]';
    await expect(startService({ trustKeysJson })).rejects.toMatchObject({
      reason: "CONFIG_INVALID",
      message: 'Invalid config: trust.keys_json is not a valid trust list: entry 0 (kid "a") has no public_key',
    });
  });

  test("whose file becomes invalid makes the replica unready, with the reason, until the file is valid again", async () => {
    const file = await openKeyFile("[]");
    const { service } = await openStage({ trustKeysFile: file.path, trustReloadSeconds: 1 });
    const ready = async () => {
      const response = await fetch(`${service.url}/readyz`);
      return { status: response.status, body: await response.json() };
    };
    await until("the replica to be ready", async () => (await ready()).status === 200);
    await file.write("{}");
    const unready = await until("the replica to be unready", async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(unready.body).toEqual({
      status: "unavailable",
      reason: expect.stringMatching(/^trust\.keys_file \(.*\) is not a valid trust list: must be a JSON array/),
    });
    await file.write("[]");
    await until("the replica to be ready again", async () => (await ready()).status === 200);
  });
});

describe("lists", () => {
  test("are paged: keys by name, events newest first and by type", async ({ stage: { admin } }) => {
    const names = ["a", "B", "c-1", "c.1", "C"];
    for (const kid of names) {
      await admin.call(createTrustedKey, { key: { kid, publicKey: freshKey().toString("base64") } });
    }
    await admin.call(rotateReceiptKey, {});
    const first = await admin.call(listTrustedKeys, { pageSize: 3 });
    const rest = await admin.call(listTrustedKeys, { pageSize: 3, pageToken: first.nextPageToken });
    expect([...first.keys, ...rest.keys].map(({ kid }) => kid)).toEqual(["B", "C", "a", "c-1", "c.1"]);
    expect(rest.nextPageToken).toBe("");
    const newest = await admin.call(listTrustEvents, { pageSize: 2 });
    expect(newest.events.map(({ type, kid }) => [type, kid])).toEqual([
      ["receipt_key.rotated", expect.stringMatching(/^[\w-]{43}$/)],
      ["key.created", "C"],
    ]);
    const older = await admin.call(listTrustEvents, { pageSize: 250, pageToken: newest.nextPageToken });
    expect(older.events.map(({ kid }) => kid)).toEqual(["c.1", "c-1", "B", "a"]);
    expect(await eventsOf(admin, "key.created")).toHaveLength(5);
    expect(await eventsOf(admin, "nonsense\0")).toEqual([]);
    const wrongList = admin.call(listTrustedKeys, { pageToken: newest.nextPageToken });
    await expect(wrongList).rejects.toMatchObject({ code: 3 });
  });
});

test("a refused JobSpec is in the audit with only its hash, its key and the reason", async () => {
  const { service, admin } = await openStage();
  const { db } = connect(service.databaseUrl);
  const key = freshKey();
  const body = Buffer.from(JSON.stringify({ public_key: key.toString("base64"), secret: "the prompt" }));
  const fault = new SpecFault("timestamp_invalid", `too old ${"\u{1f511}".repeat(600)}\0`, { reason: "too_old" });
  const clock = systemClock;
  await recordRefusal({ db, clock }, { client: "key/ada", body, document: readDocument(body), kid: "portal", fault });
  const broken = new SpecFault("invalid_json", "no\0 JSON");
  await recordRefusal({ db, clock }, { client: "shared/bob", body: Buffer.from("{"), fault: broken });
  const [second, first] = await eventsOf(admin, "jobspec.refused");
  expect(first).toMatchObject({
    type: "jobspec.refused",
    actor: "ada",
    kid: "portal",
    publicKey: key.toString("base64"),
    errorCode: "timestamp_invalid",
    documentSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const detail = JSON.parse(first?.detail ?? "");
  expect(detail).toEqual({ message: expect.stringMatching(/^too old/), realm: "key", reason: "too_old" });
  expect(detail.message).toHaveLength(500);
  expect(JSON.stringify(first, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
    "prompt",
  );
  expect(second).toMatchObject({ actor: "bob", kid: "", publicKey: "", errorCode: "invalid_json" });
  expect(JSON.parse(second?.detail ?? "")).toEqual({ message: "no\0 JSON", realm: "shared" });
});

describe("keys of receipts", () => {
  test("are public, the newest first, and the first one is created once for many concurrent requests", async () => {
    const { service, rest, admin } = await openStage();
    const beside = await startService({ databaseUrl: service.databaseUrl });
    const asked = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        const { url } = at % 2 === 0 ? service : beside;
        return JSON.parse(await (await fetch(`${url}/.well-known/jwks.json`)).text());
      }),
    );
    expect(asked[0]).toEqual({
      keys: [
        {
          kty: "OKP",
          crv: "Ed25519",
          x: expect.stringMatching(/^[\w-]{43}$/),
          kid: expect.stringMatching(/^[\w-]{43}$/),
          use: "sig",
          alg: "EdDSA",
        },
      ],
    });
    expect(new Set(asked.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const [first] = asked[0].keys;
    expect(thumbprint(Buffer.from(first.x, "base64url"))).toBe(first.kid);

    const rotated = await rest("POST", "/v1/trust/receipt-keys:rotate", {});
    expect(rotated).toMatchObject({ status: 200, body: { kty: "OKP" } });
    const { keys } = await new GrpcClient(service.target, {}).call(getJwks, {});
    expect(keys.map(({ kid }) => kid)).toEqual([rotated.body.kid, first.kid]);
    expect(await eventsOf(admin)).toMatchObject([{ type: "receipt_key.rotated", kid: rotated.body.kid }]);
  });

  test("sign with the newest key, and the published keys still verify what the previous one signed", async () => {
    const { service, admin } = await openStage();
    const { db } = connect(service.databaseUrl);
    const text = Buffer.from("what ran");
    const before = await loadSigningKey(db);
    const signature = signBytes(null, text, before.privateKey);
    const { key } = await admin.call(rotateReceiptKey, {});
    const now = await loadSigningKey(db);
    expect([now.kid, now.kid === before.kid]).toEqual([key?.kid, false]);
    const { keys } = await admin.call(getJwks, {});
    const published = keys.find(({ kid }) => kid === before.kid)?.x ?? "";
    expect(verifyBytes(null, text, importPublicKey(Buffer.from(published, "base64url")), signature)).toBe(true);
    const rows = await query<{ text: string }>(
      service.databaseUrl,
      "select trust_event::text as text from trust_event",
    );
    const secret = now.privateKey.export({ format: "der", type: "pkcs8" });
    expect(JSON.stringify(rows)).not.toContain(secret.toString("hex"));
  });
});

test("the status of a key in a request is ignored", async ({ stage: { admin } }) => {
  const key = { kid: "k", publicKey: freshKey().toString("base64"), status: TrustedKey_State.REVOKED };
  expect((await admin.call(createTrustedKey, { key })).key?.status).toBe(TrustedKey_State.ACTIVE);
});

function time(seconds: number): { seconds: bigint; nanos: number } {
  return { seconds: BigInt(seconds), nanos: 0 };
}
