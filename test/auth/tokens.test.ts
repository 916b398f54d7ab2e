// Bearer tokens: keys that are made and revoked while the service runs, the admin token, and tickets for one stream.

import { describe, expect } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { test as base } from "../fixtures.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { readSse } from "../harness/sse.ts";

const test = base.extend("stage", () => openStage());

const authAdminToken = "the-admin-token-of-these-tests";
const asAdmin = bearer(authAdminToken);
const { createApiKey, listApiKeys, revokeApiKey, createStreamTicket } = AuthService.method;
const { createSession, listSessions, sendMessage, streamSession } = SessionService.method;

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function openStage() {
  const service = await startService({ authAdminToken });
  return { service, admin: new GrpcClient(service.target, asAdmin), local: new GrpcClient(service.target) };
}

/** A session with a run that has ended. */
async function finishRun(client: GrpcClient): Promise<{ sessionId: string; runId: string }> {
  const { sessionId } = await client.call(createSession, { agent: { name: "ticket" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "hello pace=0 words=5" });
  await Array.fromAsync(client.stream(RunService.method.tailRun, { runId }));
  return { sessionId, runId };
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const response = await fetch(url, { headers });
  if (response.headers.get("content-type") === "application/json") {
    return [response.status, await response.json()];
  }
  await response.body?.cancel();
  return [response.status, undefined];
}

describe("API keys", () => {
  test("of a cell begin with its name, as its tickets do, and work as any others", async () => {
    const service = await startService({ authAdminToken, authCell: "eu1" });
    const { key } = await new GrpcClient(service.target, asAdmin).call(createApiKey, { clientId: "ada" });
    expect(key).toMatch(/^rk_eu1\.[A-Za-z0-9_-]{43}$/);
    const ada = new GrpcClient(service.target, bearer(key));
    const { sessionId, runId } = await finishRun(ada);
    const { ticket } = await ada.call(createStreamTicket, { target: { target: { case: "runId", value: runId } } });
    expect(ticket).toMatch(/^rt_eu1\.[A-Za-z0-9_-]{43}$/);
    const tail = new GrpcClient(service.target, bearer(ticket)).stream(RunService.method.tailRun, { runId });
    expect(await Array.fromAsync(tail)).not.toEqual([]);
    expect((await statusOf(`${service.url}/v1/sessions/${sessionId}`, bearer(`rk_eu2.${key.slice(7)}`)))[0]).toBe(401);
  });

  test("are shown once, work on every surface as their client, and become invalid at once when revoked", async () => {
    const { service, admin } = await openStage();
    const made = await admin.call(createApiKey, { clientId: "ada", displayName: "laptop" });
    expect(made.key).toMatch(/^rk_[A-Za-z0-9_-]{43}$/);
    expect(made.apiKey).toMatchObject({ clientId: "ada", displayName: "laptop" });
    const second = await admin.call(createApiKey, { clientId: "ada" });
    const ada = new GrpcClient(service.target, bearer(made.key));
    const { sessionId } = await ada.call(createSession, { agent: { name: "keyed" } });
    const url = `${service.url}/v1/sessions/${sessionId}`;
    expect((await statusOf(url, bearer(second.key)))[0]).toBe(200);
    expect((await statusOf(url, { ...bearer(made.key), "x-client-id": "ada" }))[0]).toBe(200);
    expect(await statusOf(url, { ...bearer(made.key), "x-client-id": "bob" })).toEqual([
      401,
      { error: "invalid bearer token" },
    ]);
    expect(await statusOf(url, credentialsOf())).toEqual([404, { error: "session not found" }]);

    const keyId = made.apiKey?.keyId ?? "";
    const revoked = await admin.call(revokeApiKey, { keyId });
    expect(revoked.apiKey?.revokeTime).toBeDefined();
    expect(await admin.call(revokeApiKey, { keyId })).toEqual(revoked);
    await expect(ada.call(listSessions, {})).rejects.toMatchObject({ code: 16, details: "the API key was revoked" });
    expect((await statusOf(url, bearer(second.key)))[0]).toBe(200);
    const { apiKeys } = await admin.call(listApiKeys, { clientId: "ada" });
    expect(apiKeys.map((key) => key.keyId)).toEqual([second.apiKey?.keyId, keyId]);
  });

  test("expire at their time", async ({ stage: { service, admin } }) => {
    const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 };
    const { key, apiKey } = await admin.call(createApiKey, { clientId: "ada", expireTime });
    const ada = new GrpcClient(service.target, bearer(key));
    await ada.call(listSessions, {});
    await query(service.databaseUrl, "update api_key set expire_time = now() where id = $1", [apiKey?.keyId]);
    await expect(ada.call(listSessions, {})).rejects.toMatchObject({ code: 16 });
  });

  test("are stored as hashes: no value in the database is a credential", async () => {
    const { service, admin, local } = await openStage();
    const { key } = await admin.call(createApiKey, { clientId: "ada" });
    const { sessionId } = await finishRun(local);
    const target = { target: { case: "sessionId" as const, value: sessionId } };
    const { ticket } = await local.call(createStreamTicket, { target });
    const rows = await query<{ text: string }>(
      service.databaseUrl,
      "select api_key::text as text from api_key union all select stream_ticket::text from stream_ticket",
    );
    const dump = rows.map(({ text }) => text).join("\n");
    for (const secret of [key, ticket, authAdminToken, keyOf()]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(Buffer.from(secret).toString("hex"));
    }
  });

  test("are listed page by page, newest first", async ({ stage: { admin } }) => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.unshift((await admin.call(createApiKey, { clientId: "ada" })).apiKey?.keyId ?? "");
    }
    const first = await admin.call(listApiKeys, { pageSize: 3 });
    const rest = await admin.call(listApiKeys, { pageSize: 3, pageToken: first.nextPageToken });
    expect([...first.apiKeys, ...rest.apiKeys].map(({ keyId }) => keyId)).toEqual(ids);
    expect(rest.nextPageToken).toBe("");
  });
});

describe("an administrative method", () => {
  test("requires the admin token, which is valid for no other method", async ({ stage: { service, admin, local } }) => {
    const denied = { code: 7, details: "access denied: the method needs the admin token" };
    await expect(local.call(createApiKey, { clientId: "ada" })).rejects.toMatchObject(denied);
    await expect(local.call(listApiKeys, {})).rejects.toMatchObject(denied);
    await expect(admin.call(listSessions, {})).rejects.toMatchObject({ code: 7 });
    expect((await statusOf(`${service.url}/v1/auth/keys`, asAdmin))[0]).toBe(200);
    expect((await statusOf(`${service.url}/v1/auth/keys`, credentialsOf()))[0]).toBe(403);
    expect((await statusOf(`${service.url}/v1/auth/keys`, bearer(`${authAdminToken}x`)))[0]).toBe(401);
    expect((await statusOf(`${service.url}/v1/auth/keys`))[0]).toBe(401);
    const unknown = { keyId: "01890000-0000-7000-8000-000000000000" };
    await expect(admin.call(revokeApiKey, unknown)).rejects.toMatchObject({ code: 5, details: "API key not found" });
  });

  test("is refused to all callers when no admin token is set", async ({ service }) => {
    for (const headers of [bearer(""), credentialsOf()]) {
      expect((await statusOf(`${service.url}/v1/auth/keys`, headers))[0]).toBe(503);
    }
  });
});

describe("a stream ticket", () => {
  async function makeTicket(service: TestService, target: object): Promise<string> {
    const response = await fetch(`${service.url}/v1/auth/tickets`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": "application/json" },
      body: JSON.stringify({ target }),
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { ticket: string }).ticket;
  }

  test("opens its session's stream without any header, again after a broken connection too", async () => {
    const { service, local } = await openStage();
    const { sessionId } = await finishRun(local);
    const ticket = await makeTicket(service, { session_id: sessionId });
    const url = `${service.url}/v1/sessions/${sessionId}/stream?ticket=${ticket}`;
    const events = await Array.fromAsync(readSse(url, {}, null));
    expect(events.at(-1)?.event).toBe("done");
    const [first, ...others] = events;
    expect(await Array.fromAsync(readSse(`${url}&after=${first?.id}`, {}, null))).toEqual(others);
    const overRpc = new GrpcClient(service.target, bearer(ticket));
    expect(await Array.fromAsync(overRpc.stream(streamSession, { sessionId }))).not.toEqual([]);
  });

  test("opens no other stream", async ({ stage: { service, local } }) => {
    const mine = await finishRun(local);
    const other = await finishRun(local);
    const ticket = await makeTicket(service, { run_id: mine.runId });
    const tail = (runId: string) => `${service.url}/v1/runs/${runId}/results:tail?ticket=${ticket}`;
    expect((await statusOf(tail(mine.runId)))[0]).toBe(200);
    expect((await statusOf(tail(other.runId)))[0]).toBe(401);
    const stream = `${service.url}/v1/sessions/${mine.sessionId}/stream?ticket=${ticket}`;
    expect((await statusOf(stream))[0]).toBe(401);
    // Only streams accept a ticket. Elsewhere it is an unknown parameter of a caller without credentials.
    expect((await statusOf(`${service.url}/v1/runs/${mine.runId}?ticket=${ticket}`))[0]).toBe(401);
    const holder = new GrpcClient(service.target, bearer(ticket));
    await expect(holder.call(RunService.method.getRun, { runId: mine.runId })).rejects.toMatchObject({ code: 7 });
    await expect(holder.call(createStreamTicket, {})).rejects.toMatchObject({ code: 7 });
    expect((await statusOf(`${tail(mine.runId)}&ticket=${ticket}`))[0]).toBe(401);
    expect((await statusOf(tail(mine.runId), credentialsOf()))[0]).toBe(401);
  });

  test("must be used within a minute and ends after a quarter of an hour", async ({ stage: { service, local } }) => {
    const { sessionId } = await finishRun(local);
    const age = (minutes: number) =>
      query(service.databaseUrl, "update stream_ticket set create_time = create_time - $1 * interval '1 minute'", [
        minutes,
      ]);
    const url = async () => {
      const ticket = await makeTicket(service, { session_id: sessionId });
      return `${service.url}/v1/sessions/${sessionId}/stream?ticket=${ticket}`;
    };
    const unopened = await url();
    await age(1);
    expect(await statusOf(unopened)).toEqual([401, { error: "invalid ticket: unknown or expired, ask for a new one" }]);
    const opened = await url();
    expect((await statusOf(opened))[0]).toBe(200);
    await age(14);
    expect((await statusOf(opened))[0]).toBe(200);
    await age(1);
    expect((await statusOf(opened))[0]).toBe(401);
  });

  test("is refused for sessions and runs of other clients", async ({ stage: { service, local } }) => {
    const { sessionId, runId } = await finishRun(local);
    const stranger = new GrpcClient(service.target, credentialsOf("stranger"));
    const session = { target: { target: { case: "sessionId" as const, value: sessionId } } };
    const run = { target: { target: { case: "runId" as const, value: runId } } };
    await expect(stranger.call(createStreamTicket, session)).rejects.toMatchObject({ details: "session not found" });
    await expect(stranger.call(createStreamTicket, run)).rejects.toMatchObject({ details: "run not found" });
    await expect(local.call(createStreamTicket, {})).rejects.toMatchObject({ code: 3 });
    await expect(local.call(createStreamTicket, { target: {} })).rejects.toMatchObject({ code: 3 });
    expect((await query(service.databaseUrl, "select 1 from stream_ticket")).length).toBe(0);
  });
});

test("several credentials in one request are refused as ambiguous", async ({ stage: { service } }) => {
  const url = `${service.url}/v1/sessions`;
  const error = /^several credentials: /;
  for (const headers of [
    { ...credentialsOf(), "x-signature": "sha256=00" },
    { authorization: `Bearer ${keyOf()}`, "x-signature": "x", "x-nonce": "x" },
  ]) {
    const [status, body] = await statusOf(url, headers as Record<string, string>);
    expect([status, (body as { error: string }).error]).toEqual([401, expect.stringMatching(error)]);
  }
});
