// Which callbacks are written: one for each transition of a session with a callback address, by every actor.

import { status } from "@grpc/grpc-js";
import { test as base, expect } from "vitest";
import { StatusCallback_State } from "#gen/runnel/v1/callback_pb.js";
import { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { answer, callTools, type FakeProvider } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openProvider } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { openHost, rowsOf } from "./stage.ts";

const test = base.extend("stage", () => openService());

const agent = { name: "told", model: "openai:fake" };
/** No server listens here, so each call fails at once. */
const callback = { baseUrl: "http://127.0.0.1:9/hooks" };

async function openService(flags: Partial<Config> = {}) {
  const provider = await openProvider();
  const service = await startService({
    openaiKey: "test-key",
    openaiBaseUrl: provider.baseUrl,
    securityAllowPrivateNetworks: true,
    ...flags,
  });
  return { provider, service, client: new GrpcClient(service.target) };
}

async function statusesOf(databaseUrl: string, sessionId: string): Promise<string[]> {
  return (await rowsOf(databaseUrl, sessionId)).map((row) => row.status);
}

async function ended(client: GrpcClient, runId: string): Promise<bigint> {
  return await until("the run to end", async () => {
    const { run } = await client.call(RunService.method.getRun, { runId });
    return run !== undefined && run.lastSequence > 0n && run.lastSequence;
  });
}

/** A model that never answers. */
function stall(provider: FakeProvider): void {
  provider.respond((wire) => wire.hang());
}

test("a session and its runs send callbacks in order, with run and sequence; the list is newest first", async () => {
  const { provider, client } = await openService({ sessionsMaxConcurrent: 0 });
  provider.respond(answer("one"), fail(400, '{"error":{"message":"no"}}'));
  const host = await openHost();
  const { baseUrl } = host;
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, callback: { baseUrl } });
  const expected: object[] = [{ sessionState: Session_State.CREATED, runId: "", sequence: 0n }];
  for (const end of [Session_State.COMPLETED, Session_State.FAILED]) {
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
    expected.push({ sessionState: Session_State.RUNNING, runId, sequence: 0n });
    expected.push({ sessionState: end, runId, sequence: await ended(client, runId) });
  }
  const { callbacks } = await client.call(CallbackService.method.listCallbacks, { sessionId });
  const common = { sessionId, baseUrl };
  expect(callbacks.toReversed()).toMatchObject(expected.map((each) => ({ ...common, ...each })));
  await until("the host to have all", () => host.requests.length === 5);
  expect(host.told(sessionId)).toEqual(["created", "running", "completed", "running", "failed"]);
  expect(host.requests[4]?.body).toMatchObject({ client_id: "local", error: expect.stringContaining("no") });
});

test("the callback of a failed run contains what the run had done until then", async () => {
  const { provider, client } = await openService();
  provider.respond(callTools({ id: "c", name: "list_dir", arguments: "{}" }), (wire) => {
    wire.text("half a");
    return wire.cut();
  });
  const host = await openHost();
  const { sessionId } = await client.call(SessionService.method.createSession, {
    agent: { ...agent, tools: { builtin: ["list_dir"] } },
    callback: { baseUrl: host.baseUrl },
  });
  await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  const { body } = await host.request(2);
  expect(body).toMatchObject({ status: "failed", output: "half a", turns: 1, duration_ms: expect.any(Number) });
  expect(body.error).toMatch(/ was cut off: /);
});

test("a session without a callback address writes no callback", async ({ stage: { provider, service, client } }) => {
  provider.respond(answer("one"));
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  await ended(client, runId);
  await client.call(SessionService.method.deleteSession, { sessionId });
  expect(await rowsOf(service.databaseUrl)).toEqual([]);
});

test("the service's own address applies to sessions without one", async () => {
  const { client } = await openService({ callbackBaseUrl: "http://127.0.0.1:9/all" });
  await client.call(SessionService.method.createSession, { agent });
  await client.call(SessionService.method.createSession, { agent, callback });
  const { callbacks } = await client.call(CallbackService.method.listCallbacks, {});
  expect(callbacks.map(({ baseUrl }) => baseUrl)).toEqual([callback.baseUrl, "http://127.0.0.1:9/all"]);
});

test("a repeated create writes one callback", async ({ stage: { service, client } }) => {
  const request = { agent, callback, requestId: "again" };
  const first = await client.call(SessionService.method.createSession, request);
  const second = await client.call(SessionService.method.createSession, request);
  expect(second.sessionId).toBe(first.sessionId);
  expect(await statusesOf(service.databaseUrl, first.sessionId)).toEqual(["created"]);
});

test("a refused create writes no callback", async ({ stage: { service, client } }) => {
  await client.call(SessionService.method.createSession, { sessionId: "taken", agent, callback });
  const second = client.call(SessionService.method.createSession, { sessionId: "taken", agent, callback });
  await expect(second).rejects.toMatchObject({ code: status.ALREADY_EXISTS });
  expect(await statusesOf(service.databaseUrl, "taken")).toEqual(["created"]);
});

test("deleting a running session writes one cancelled callback", async ({ stage: { provider, service, client } }) => {
  stall(provider);
  const host = await openHost();
  const { baseUrl } = host;
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, callback: { baseUrl } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  await provider.request(0);
  await client.call(SessionService.method.deleteSession, { sessionId });
  await ended(client, runId);
  await until("the host to hear of the end", () => host.requests.length === 3);
  expect(host.told(sessionId)).toEqual(["created", "running", "cancelled"]);
  expect(await statusesOf(service.databaseUrl, sessionId)).toEqual(host.told(sessionId));
});

test("cancels that race with the end and with each other write one final callback", async () => {
  const { provider, service, client } = await openService();
  const count = 12;
  provider.respond(...Array.from({ length: count }, () => answer("one")));
  const sessions = await Promise.all(
    Array.from({ length: count }, () => client.call(SessionService.method.createSession, { agent, callback })),
  );
  await Promise.all(
    sessions.map(async ({ sessionId }) => {
      const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
      await Promise.all([
        client.call(RunService.method.cancelRun, { runId }),
        client.call(SessionService.method.deleteSession, { sessionId }),
        client.call(RunService.method.cancelRun, { runId }),
      ]);
      await ended(client, runId);
    }),
  );
  for (const { sessionId } of sessions) {
    const told = await statusesOf(service.databaseUrl, sessionId);
    expect(told).toEqual(["created", "running", expect.stringMatching(/^(completed|cancelled)$/)]);
  }
});

test("a run that its replica lost for good has a failed callback", async () => {
  const { provider, service, client } = await openService({ runsLeaseMs: 300 });
  stall(provider);
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, callback });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  await provider.request(0);
  await query(
    service.databaseUrl,
    "update run set owner = '00000000-0000-0000-0000-000000000000', takeovers = 3 where id = $1",
    [runId],
  );
  await ended(client, runId);
  expect(await statusesOf(service.databaseUrl, sessionId)).toEqual(["created", "running", "failed"]);
});

test("the list of callbacks pages, filters by state, and shows a client only its own", async () => {
  const { service, client } = await openService();
  const stranger = new GrpcClient(service.target, credentialsOf("stranger"));
  for (const sessionId of ["one", "two", "three"]) {
    await client.call(SessionService.method.createSession, { sessionId, agent, callback });
  }
  await stranger.call(SessionService.method.createSession, { sessionId: "one", agent, callback });
  const list = CallbackService.method.listCallbacks;
  const first = await client.call(list, { pageSize: 2 });
  const second = await client.call(list, { pageSize: 2, pageToken: first.nextPageToken });
  const sessions = [...first.callbacks, ...second.callbacks].map(({ sessionId }) => sessionId);
  expect(sessions).toEqual(["three", "two", "one"]);
  expect(second.nextPageToken).toBe("");
  await expect(stranger.call(list, { pageToken: first.nextPageToken })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
  const dead = await client.call(list, { state: StatusCallback_State.DEAD });
  expect(dead.callbacks).toEqual([]);
  const foreign = stranger.call(CallbackService.method.redeliverCallback, {
    callbackId: String(first.callbacks[0]?.callbackId),
  });
  await expect(foreign).rejects.toMatchObject({ code: status.NOT_FOUND, details: "callback not found" });
});

test("over REST the list and the redelivery look as documented", async ({ stage: { service, client } }) => {
  await client.call(SessionService.method.createSession, { sessionId: "shown", agent, callback });
  const headers = credentialsOf();
  const callbacks = await until("a failure", async () => {
    const listed = await fetch(`${service.url}/v1/callbacks?session_id=shown&state=pending`, { headers });
    const body = (await listed.json()) as { callbacks: Record<string, unknown>[] };
    return "last_error" in (body.callbacks[0] ?? {}) && body.callbacks;
  });
  expect(callbacks).toEqual([
    {
      callback_id: expect.any(String),
      session_id: "shown",
      session_state: "created",
      sequence: 0,
      state: "pending",
      base_url: callback.baseUrl,
      attempts: expect.any(Number),
      last_error: "connection refused",
      create_time: expect.any(String),
      next_attempt_time: expect.any(String),
    },
  ]);
  await query(service.databaseUrl, "update callback set state = 'dead', end_time = now(), attempts = 9");
  const path = `/v1/callbacks/${callbacks[0]?.callback_id}:redeliver`;
  const again = await fetch(`${service.url}${path}`, { method: "POST", headers });
  expect(again.status).toBe(200);
  expect(await again.json()).toMatchObject({ state: "pending", session_id: "shown" });
});
