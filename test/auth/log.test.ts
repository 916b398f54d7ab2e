// What the service logs about a request, and what it never logs.

import { expect, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { authEnvironment, credentialsOf, keyOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";

test("every request leaves one line with its id and its client or the reason of its refusal, and without secrets", async () => {
  const secrets = { RUNNEL_AUTH_ADMIN_TOKEN: "canary-admin-token-000", RUNNEL_AUTH_HMAC_SECRET: "canary-hmac-secret" };
  const service = await startProcess({ ...authEnvironment, ...secrets, DATABASE_URL: await testDatabase() });
  const linesOf = (path: string) =>
    service
      .log()
      .split("\n")
      .filter((line) => line.includes("request.finished"))
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter((line) => line.path === path);

  const client = new GrpcClient(service.target);
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "log" } });
  const target = { target: { case: "sessionId" as const, value: sessionId } };
  const { ticket } = await client.call(AuthService.method.createStreamTicket, { target });
  const streamPath = `/v1/sessions/${sessionId}/stream`;
  const leaving = new AbortController();
  await fetch(`${service.url}${streamPath}?ticket=${ticket}`, { signal: leaving.signal });
  leaving.abort();
  const guessed = signV1({ secret: "guessed", clientId: "local", path: "/v1/sessions" });
  const headers = { ...guessed, "x-request-id": "mine" };
  expect((await fetch(`${service.url}/v1/sessions`, { headers })).status).toBe(401);
  await fetch(`${service.url}/v1/sessions`, { headers: { authorization: "Bearer canary-admin-token-001" } });
  await fetch(`${service.url}/v1/auth/keys`, { headers: { authorization: "Bearer canary-admin-token-000" } });

  // A secret in the wrong place is in the path, and the service logs the path.
  for (const misplaced of [keyOf(), ...Object.values(secrets)]) {
    await fetch(`${service.url}/misplaced/${encodeURIComponent(misplaced)}`);
  }

  await until("the misplaced", () => linesOf("/misplaced/[redacted]").length === 3);
  await until("all lines", () => linesOf(streamPath).length === 1 && linesOf("/v1/auth/keys").length === 1);
  const common = { requestId: expect.stringMatching(/^[0-9a-f]{32}$/), address: "127.0.0.1" };
  expect(linesOf("/runnel.v1.SessionService/CreateSession")).toMatchObject([
    {
      ...common,
      method: "POST",
      rpc: "runnel.v1.SessionService/CreateSession",
      status: 200,
      client: "key/local",
      durationMs: expect.any(Number),
    },
  ]);
  expect(linesOf(streamPath)).toMatchObject([{ ...common, method: "GET", status: 200, client: "key/local" }]);
  expect(linesOf("/v1/sessions")).toMatchObject([
    { requestId: "mine", status: 401, reason: "SIGNATURE_INVALID" },
    { ...common, status: 401, reason: "TOKEN_INVALID" },
  ]);
  const secretTexts = [ticket, keyOf(), credentialsOf().authorization ?? "", ...Object.values(secrets)];
  for (const secret of [...secretTexts, "canary-admin-token-001", guessed["x-signature"] ?? ""]) {
    expect(service.log()).not.toContain(secret);
  }
});
