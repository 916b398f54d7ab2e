// Streams end with the credential that opened them, on every replica, and say why. Streams of other credentials go on.

import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { OpenCredentials } from "../../src/platform/auth/open-credentials.ts";
import { insertApiKey } from "../../src/platform/auth/storage/api-key.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { errorInfoOf, GrpcClient } from "../harness/grpc.ts";
import { createMovedClock } from "../harness/moved-clock.ts";
import { startService, type TestService } from "../harness/service.ts";
import { readSse } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { hurriedClock, openStore } from "../runlog/store.ts";
import { clients, exceptions, issuer, openKeys, pairOf, resource, tokenOf } from "./authorization-server.ts";

const authAdminToken = "the-admin-token-of-these-tests";
const { createApiKey, revokeApiKey, createStreamTicket } = AuthService.method;
const { createSession, sendMessage } = SessionService.method;
const { tailRun, watchRuns, cancelRun } = RunService.method;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const revoked = "the API key was revoked";

async function openStage(flags: Partial<Config> = {}, options: Parameters<typeof startService>[1] = {}) {
  const service = await startService({ authAdminToken, ...flags }, options);
  const admin = new GrpcClient(service.target, bearer(authAdminToken));
  const makeKey = async (more: object = {}) => {
    const { key, apiKey } = await admin.call(createApiKey, { clientId: "local", ...more });
    return { key, revoke: () => admin.call(revokeApiKey, { keyId: apiKey?.keyId ?? "" }) };
  };
  return { service, makeKey, ...(await startRun(service)) };
}

/** A run that waits between two words for longer than a test. */
async function startRun({ target }: TestService) {
  const client = new GrpcClient(target);
  const { sessionId } = await client.call(createSession, { agent: { name: "slow" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "hello pace=60000 words=50" });
  return { sessionId, runId, end: () => client.call(cancelRun, { runId }) };
}

type Ids = Pick<Awaited<ReturnType<typeof openStage>>, "sessionId" | "runId">;

/** Opens a stream; resolves once it is open, with what its end was. */
type Open = (service: TestService, key: string, ids: Ids) => Promise<{ readonly ended: Promise<unknown> }>;

/** Reads a stream to its end. Resolves after the first message. */
async function follow(messages: AsyncIterable<unknown>, tell: (error: unknown) => unknown) {
  const opened = Promise.withResolvers<void>();
  const read = async (): Promise<unknown> => {
    try {
      for await (const _ of messages) {
        opened.resolve();
      }
      return "a good end";
    } catch (error) {
      opened.reject(error);
      return tell(error);
    }
  };
  const ended = read();
  await opened.promise;
  return { ended };
}

function overGrpc(open: (client: GrpcClient, ids: Ids) => AsyncIterable<unknown>): Open {
  return ({ target }, key, ids) =>
    follow(open(new GrpcClient(target, bearer(key)), ids), (error) => {
      const { code, details } = error as { code: number; details: string };
      return { code, message: details, state: errorInfoOf(error as never)?.metadata.token_state };
    });
}

function overConnect(make: typeof createConnectTransport | typeof createGrpcWebTransport): Open {
  return ({ url }, key, { runId }) => {
    const authenticate: Interceptor = (next) => (request) => {
      request.header.set("authorization", `Bearer ${key}`);
      return next(request);
    };
    const transport = make({ baseUrl: url, httpVersion: "1.1", interceptors: [authenticate] });
    return follow(createClient(RunService, transport).tailRun({ runId }), (error) => {
      const { code, rawMessage } = ConnectError.from(error);
      return { code, message: rawMessage, state: "revoked" };
    });
  };
}

/** The last event of a stream has the error. */
function overSse(pathOf: (ids: Ids) => string): Open {
  return async ({ url }, key, ids) => {
    const events = readSse(`${url}${pathOf(ids)}`, bearer(key), null);
    let last = (await events.next()).value;
    const read = async () => {
      for await (const event of events) {
        last = event;
      }
      return { event: last?.event, data: last?.data };
    };
    return { ended: read() };
  };
}

const refusal = { code: Code.Unauthenticated, message: revoked, state: "revoked" };

describe("a stream of a revoked API key ends at once, on another replica too", () => {
  test.each<[string, Open, unknown, Partial<Config>?]>([
    ["over gRPC", overGrpc((client, { runId }) => client.stream(tailRun, { runId })), refusal],
    ["over gRPC, of a list", overGrpc((client) => client.stream(watchRuns, {})), refusal],
    ["over Connect", overConnect(createConnectTransport), refusal],
    ["over gRPC-Web", overConnect(createGrpcWebTransport), refusal],
    [
      "over SSE",
      overSse(({ runId }) => `/v1/runs/${runId}/results:tail`),
      { event: "error", data: expect.stringContaining(revoked) },
    ],
    [
      "over SSE, of a session",
      overSse(({ sessionId }) => `/v1/sessions/${sessionId}/stream`),
      // In the form of the document's event.
      { event: "error", data: JSON.stringify({ message: revoked, reason: "TOKEN_INVALID" }) },
    ],
  ])("%s", async (_, open, expected) => {
    const { service, makeKey, end, ...ids } = await openStage();
    const replica = await startService({ databaseUrl: service.databaseUrl, authAdminToken });
    const [key, other] = [await makeKey(), await makeKey()];
    const streams = [await open(service, key.key, ids), await open(replica, key.key, ids)];
    const kept = await open(service, other.key, ids);
    await key.revoke();
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([expected, expected]);
    expect(await Promise.race([kept.ended, "open"])).toBe("open");
    await end();
    await other.revoke();
    await kept.ended;
  });

  test("without feeds, as its handler serves it", async () => {
    const { service, makeKey, ...ids } = await openStage({}, { plainStreams: true });
    const { key, revoke } = await makeKey();
    const { ended } = await overGrpc((client, { runId }) => client.stream(tailRun, { runId }))(service, key, ids);
    await revoke();
    expect(await ended).toEqual(refusal);
  });

  const slow = "hello pace=60000 words=50";
  const asUser = { model: "demo", stream: true, messages: [{ role: "user", content: slow }] };
  const a2aMessage = { messageId: "m", role: "ROLE_USER", parts: [{ text: slow }] };

  test.each<[string, string, object, Readonly<Record<string, string>>?]>([
    ["OpenAI's Chat Completions", "/v1/chat/completions", asUser],
    ["OpenAI's Responses", "/v1/responses", { model: "demo", stream: true, input: slow }],
    ["Anthropic's Messages", "/v1/messages", { ...asUser, max_tokens: 1_000 }],
    [
      "AG-UI",
      "/v1/ag-ui/default",
      { threadId: "t", runId: "r", messages: [{ id: "u", role: "user", content: slow }], tools: [], context: [] },
    ],
    [
      "A2A's JSON-RPC",
      "/a2a",
      { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: a2aMessage } },
      { "a2a-version": "1.0" },
    ],
    ["A2A's HTTP and JSON", "/a2a/message:stream", { message: a2aMessage }, { "a2a-version": "1.0" }],
  ])("of %s, in its form", async (_, path, body, headers = {}) => {
    const { service, makeKey } = await openStage();
    const { key, revoke } = await makeKey();
    const response = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { ...bearer(key), "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    await revoke();
    expect(await response.text()).toContain(revoked);
  });
});

test("a stream whose ticket was made with a revoked key ends, and the ticket opens nothing more", async () => {
  const { service, makeKey, runId } = await openStage();
  const { key, revoke } = await makeKey();
  const maker = new GrpcClient(service.target, bearer(key));
  const { ticket } = await maker.call(createStreamTicket, { target: { target: { case: "runId", value: runId } } });
  const url = `${service.url}/v1/runs/${runId}/results:tail?ticket=${ticket}`;
  const events = readSse(url, {}, null);
  await events.next();
  await revoke();
  expect((await Array.fromAsync(events)).at(-1)).toMatchObject({ data: expect.stringContaining(revoked) });
  await expect(readSse(url, {}, null).next()).rejects.toThrow("401: ");
});

test("a revocation whose wake-up was lost is found by the look, which begins with the first stream", async () => {
  const { db } = await openStore();
  const credentials = new OpenCredentials({
    db,
    clock: hurriedClock(20),
    events: { databaseTroubled: () => {} },
    toError: (fault) => fault,
  });
  credentials.open();
  onTestFinished(() => credentials.close());
  const id = newUuid(0);
  const key = { id, client: "key/local", displayName: "", hash: new Uint8Array(32), expireTime: undefined };
  await insertApiKey(db, key);
  using end = credentials.watch({ keyId: id, endMs: undefined });
  await db.updateTable("api_key").set({ revoke_time: new Date() }).execute();
  await until("the end of the stream", () => end.signal.aborted);
  expect(end.signal.reason).toMatchObject({ reason: "TOKEN_INVALID", message: revoked });
});

test("a call with a revoked key says that it was revoked", async () => {
  const { service, makeKey } = await openStage();
  const { key, revoke } = await makeKey();
  await revoke();
  const response = await fetch(`${service.url}/v1/sessions`, { headers: bearer(key) });
  expect([response.status, await response.json()]).toEqual([401, { error: revoked }]);
});

describe("a stream ends when its credential expires", () => {
  const minutes = 60_000;

  test("an API key", async () => {
    const clock = createMovedClock();
    const { service, makeKey, ...ids } = await openStage({}, { clock });
    const seconds = BigInt(Math.floor((clock.nowMs() + 10 * minutes) / 1_000));
    const { key } = await makeKey({ expireTime: { seconds, nanos: 0 } });
    const { ended } = await overGrpc((client, { runId }) => client.stream(tailRun, { runId }))(service, key, ids);
    clock.advance(11 * minutes);
    expect(await ended).toEqual({ code: 16, message: "the API key has expired", state: "expired" });
  });

  test("an access token", async () => {
    const clock = createMovedClock();
    const pair = pairOf("k1");
    const { url: jwksUrl } = await openKeys([pair]);
    const flags = {
      authAuthorizationServer: { issuer, jwksUrl, resource, clients },
      securityCallbackAllow: exceptions,
    };
    const { service, makeKey: _, ...ids } = await openStage(flags, { clock });
    const open = overGrpc((client, { runId }) => client.stream(tailRun, { runId }));
    const { ended } = await open(service, tokenOf(pair), ids);
    clock.advance(7 * minutes);
    expect(await ended).toEqual({ code: 16, message: "the access token has expired", state: "expired" });
  });
});
