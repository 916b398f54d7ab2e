// Signed requests as callers send them, over REST, SSE and gRPC: which client they authenticate, and what a captured request is
// good for.

import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { CreateSessionRequestSchema, SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { authEnvironment, keyOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type SignedCall, signV1, signV2 } from "../harness/signing.ts";
import { readSse } from "../harness/sse.ts";

const secret = "the shared secret of these tests";
const createBody = '{"agent":{"name":"signed"}}';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function send(
  service: Pick<TestService, "url">,
  call: Omit<SignedCall, "path"> & { path?: string; headers?: Record<string, string> },
  sign: (call: SignedCall) => Record<string, string> = signV2,
): Promise<Answer> {
  const { method = "POST", path = "/v1/sessions", body = createBody } = call;
  const isBodiless = method === "GET" || method === "DELETE";
  const whole = { ...call, method, path, body: isBodiless ? "" : body };
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: call.headers ?? sign(whole),
    ...(!isBodiless && { body: body as string }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

function sharedSecret(flags: Partial<Config> = {}): Promise<TestService> {
  return startService({ authHmacSecret: secret, authApiKeys: [], ...flags });
}

describe("with one secret for all clients", () => {
  test("the client is the id in the header, or the peer's address without one", async () => {
    const service = await sharedSecret();
    const { body } = await send(service, { secret, clientId: "ada" }, signV1);
    const path = `/v1/sessions/${body.session_id}`;
    expect((await send(service, { secret, clientId: "ada", method: "GET", path }, signV1)).status).toBe(200);
    expect(await send(service, { secret, clientId: "bob", method: "GET", path }, signV1)).toEqual({
      status: 404,
      body: { error: "session not found" },
    });
    const own = await send(service, { secret }, signV1);
    const ownPath = `/v1/sessions/${own.body.session_id}`;
    expect((await send(service, { secret, method: "GET", path: ownPath }, signV1)).status).toBe(200);
    expect((await send(service, { secret, clientId: "127.0.0.1", method: "GET", path: ownPath })).status).toBe(200);
  });

  test("an id with a key of its own cannot be claimed with the shared secret", async () => {
    const authApiKeys = [{ client: "ada", key: "adas-own-key-0000" }];
    const databaseUrl = await testDatabase();
    const before = await sharedSecret({ databaseUrl });
    const claimed = await send(before, { secret, clientId: "ada" });
    const after = await sharedSecret({ databaseUrl, authApiKeys });
    const path = `/v1/sessions/${claimed.body.session_id}`;
    expect((await send(after, { secret, clientId: "ada", method: "GET", path })).status).toBe(401);
    expect((await send(after, { secret: "adas-own-key-0000", clientId: "ada", method: "GET", path })).status).toBe(404);
    expect((await send(after, { secret, clientId: "bob" })).status).toBe(201);
    expect(await send(after, { secret })).toMatchObject({ status: 401, body: { error: /missing X-Client-ID/ } });
  });

  test("the previous secret is valid during its replacement", async () => {
    const service = await sharedSecret({ authHmacSecretPrevious: "the secret before this one" });
    expect((await send(service, { secret: "the secret before this one", clientId: "ada" })).status).toBe(201);
    expect((await send(service, { secret, clientId: "ada" })).status).toBe(201);
    expect((await send(service, { secret: "an older secret", clientId: "ada" })).status).toBe(401);
  });
});

test("two keys of one client overlap, and a key is valid for no other client", async () => {
  const authApiKeys = [
    { client: "ada", key: "first-key-of-ada-0" },
    { client: "ada", key: "second-key-of-ada" },
    { client: "bob", key: "the-one-key-of-bob" },
  ];
  const service = await startService({ authApiKeys });
  for (const key of ["first-key-of-ada-0", "second-key-of-ada"]) {
    expect((await send(service, { secret: key, clientId: "ada" })).status).toBe(201);
  }
  const wrong = await send(service, { secret: "the-one-key-of-bob", clientId: "ada" });
  expect(wrong).toEqual({ status: 401, body: { error: "invalid signature" } });
  expect(await send(service, { secret: "the-one-key-of-bob", clientId: "eve" })).toEqual(wrong);
});

describe("a captured request", () => {
  test("is refused on a replay, on another path, with another method or as another client", async () => {
    const service = await sharedSecret();
    for (const sign of [signV1, signV2]) {
      const { body } = await send(service, { secret, clientId: "ada" }, sign);
      const path = `/v1/sessions/${body.session_id}`;
      const headers = sign({ secret, clientId: "ada", method: "GET", path });
      expect((await send(service, { secret, method: "GET", path, headers })).status).toBe(200);
      for (const moved of [
        { method: "GET", path, headers },
        { method: "GET", path: "/v1/sessions", headers },
        { method: "DELETE", path, headers },
        { method: "GET", path, headers: { ...headers, "x-client-id": "bob" } },
      ]) {
        expect((await send(service, { secret, ...moved })).status).toBe(401);
      }
      expect((await send(service, { secret, clientId: "ada", method: "GET", path }, sign)).status).toBe(200);
    }
  });

  test("of v2 is invalid for any other request even before its use", async () => {
    const service = await sharedSecret();
    const { body } = await send(service, { secret, clientId: "ada" });
    const path = `/v1/sessions/${body.session_id}`;
    const headers = signV2({ secret, clientId: "ada", method: "GET", path });
    for (const moved of [
      { method: "GET", path: "/v1/sessions", headers },
      { method: "GET", path: `${path}?page_size=1`, headers },
      { method: "DELETE", path, headers },
      { method: "GET", path, headers: { ...headers, "x-client-id": "bob" } },
      { method: "POST", path: `${path}/messages`, headers, body: '{"message":"x"}' },
    ]) {
      expect(await send(service, { secret, ...moved })).toEqual({ status: 401, body: { error: "invalid signature" } });
    }
    // A refused signature does not use up its nonce.
    expect((await send(service, { secret, method: "GET", path, headers })).status).toBe(200);
  });

  test("is refused after kill -9 and a restart", async () => {
    const environment = {
      ...authEnvironment,
      RUNNEL_AUTH_HMAC_SECRET: secret,
      RUNNEL_AUTH_API_KEYS: "",
      DATABASE_URL: await testDatabase(),
    };
    const first = await startProcess(environment);
    const headers = signV1({ secret, clientId: "ada", path: "/v1/sessions", body: createBody });
    expect((await send(first, { secret, headers })).status).toBe(201);
    await first.kill();
    const second = await startProcess(environment);
    expect(await send(second, { secret, headers })).toEqual({ status: 401, body: { error: "replayed request" } });
  });
});

test("of 200 simultaneous uses of one nonce over two processes exactly one succeeds", async () => {
  const environment = { ...authEnvironment, DATABASE_URL: await testDatabase() };
  const processes = await Promise.all([startProcess(environment), startProcess(environment)]);
  const headers = signV1({ secret: keyOf(), clientId: "local", path: "/v1/sessions", body: createBody });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => send(processes[index % 2] ?? processes[0], { secret, headers })),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 401)).toHaveLength(199);
  const list = await send(processes[0], { secret: keyOf(), clientId: "local", method: "GET" });
  expect(list.body.sessions).toHaveLength(1);
});

describe("gRPC calls are signed over their one message", () => {
  const createPath = "/runnel.v1.SessionService/CreateSession";
  const request = { agent: { name: "signed" } };
  const message = toBinary(CreateSessionRequestSchema, create(CreateSessionRequestSchema, request));

  test("a unary call and a stream are accepted, with lower-case metadata", async () => {
    const service = await sharedSecret();
    const client = new GrpcClient(service.target, {});
    const call = { secret, clientId: "ada", method: "POST" };
    const { sessionId } = await client.call(
      SessionService.method.createSession,
      request,
      signV2({ ...call, path: createPath, body: message }),
    );
    const sendRequest = { sessionId, message: "hello pace=0 words=5" };
    const sendMessage = SessionService.method.sendMessage;
    const { runId } = await client.call(sendMessage, sendRequest, {
      ...signV2({
        ...call,
        path: "/runnel.v1.SessionService/SendMessage",
        body: toBinary(sendMessage.input, create(sendMessage.input, sendRequest)),
      }),
    });
    const tail = RunService.method.tailRun;
    const signed = signV2({
      ...call,
      path: "/runnel.v1.RunService/TailRun",
      body: toBinary(tail.input, create(tail.input, { runId })),
    });
    const results = (await Array.fromAsync(client.stream(tail, { runId }, signed))).flatMap((each) => each.results);
    expect(results.at(-1)?.payload.case).toBe("runCompleted");
    await expect(Array.fromAsync(client.stream(tail, { runId }, signed))).rejects.toMatchObject({
      details: "replayed request",
    });
    const path = `/v1/sessions/${sessionId}/stream`;
    const headers = signV2({ ...call, method: "GET", path });
    const events = await Array.fromAsync(readSse(service.url + path, headers, null));
    expect(events.at(-1)?.event).toBe("done");
  });

  test("a call that was changed on the way or is not signed is UNAUTHENTICATED", async () => {
    const service = await sharedSecret();
    const client = new GrpcClient(service.target, {});
    const headers = signV2({ secret, clientId: "ada", method: "POST", path: createPath, body: message });
    const other = { agent: { name: "changed" } };
    await expect(client.call(SessionService.method.createSession, other, headers)).rejects.toMatchObject({
      code: 16,
      details: "invalid signature",
    });
    await expect(client.call(SessionService.method.createSession, request)).rejects.toMatchObject({
      code: 16,
      details: "missing signature, timestamp, or nonce",
    });
    await expect(client.call(SessionService.method.createSession, request, headers)).resolves.toBeDefined();
  });
});
