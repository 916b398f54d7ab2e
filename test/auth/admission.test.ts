// The checks before every call, whichever client it is from: rate limits, pages of other origins, request ids, unknown routes.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { describe, expect } from "vitest";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { sendRaw } from "../harness/raw-http.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

describe("a client over its rate limit", () => {
  const flags: Partial<Config> = { rateLimitRps: 20, rateLimitFailuresRps: 20, rateLimitBurst: 5 };
  /** Stands still for the rate limit; all other clocks run. */
  const stillClock = { ...systemClock, monotonicMs: () => 0 };

  test("gets the document's 429 over REST and RESOURCE_EXHAUSTED over gRPC; other clients are served", async () => {
    const service = await startService(flags, { clock: stillClock });
    const url = `${service.url}/v1/sessions`;
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      statuses.push((await fetch(url, { headers: credentialsOf() })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    const refused = await fetch(url, { headers: credentialsOf() });
    expect([refused.status, refused.headers.get("retry-after"), await refused.text()]).toEqual([
      429,
      "1",
      '{"error":"rate limit exceeded"}',
    ]);
    expect(refused.headers.get("content-type")).toBe("application/json");
    const grpc = new GrpcClient(service.target);
    await expect(grpc.call(SessionService.method.listSessions, {})).rejects.toMatchObject({
      code: 8,
      details: "rate limit exceeded",
    });
    expect((await fetch(url, { headers: credentialsOf("stranger") })).status).toBe(200);
  });

  test("cannot guess credentials without a limit, and locks no other client out", async () => {
    const service = await startService(flags, { clock: stillClock });
    const url = `${service.url}/v1/sessions`;
    const guess = async () => (await fetch(url, { headers: { authorization: "Bearer guess" } })).status;
    expect([await guess(), await guess(), await guess(), await guess(), await guess()]).toEqual(Array(5).fill(401));
    expect(await guess()).toBe(429);
    expect((await fetch(url, { headers: credentialsOf("stranger") })).status).toBe(200);
  });
});

test("callers who could not be authenticated because the database is down do not count as guessing", async () => {
  const proxy = await openCuttingProxy(await testDatabase());
  const clock = { ...systemClock, monotonicMs: () => 0 };
  const limits = { rateLimitFailuresRps: 20, rateLimitBurst: 5, databaseUrl: proxy.url };
  const service = await startService(limits, { clock });
  const url = `${service.url}/v1/sessions`;
  const statusOf = async (token: string) =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
  proxy.breakDown();
  for (let count = 0; count < 8; count += 1) {
    expect(await statusOf("rk_made-while-it-ran")).toBe(503);
  }
  proxy.mend();
  await until("the database to be back", async () => (await statusOf("rk_made-while-it-ran")) === 401);
  expect(await statusOf("rk_made-while-it-ran")).toBe(401);
});

describe("pages of other origins", () => {
  const page = { origin: "https://app.example" };
  const preflight = {
    ...page,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,connect-protocol-version,content-type",
  };

  test("may call when their origin is listed: preflight, answer, refusal", async () => {
    const service = await startService({ serverCorsOrigins: ["https://app.example"] });
    const rpc = `${service.url}/runnel.v1.SessionService/ListSessions`;
    const asked = await fetch(rpc, { method: "OPTIONS", headers: preflight });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(asked.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("authorization");
    expect(asked.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("x-grpc-web");
    expect(asked.headers.get("access-control-allow-methods")).toContain("POST");
    const answered = await fetch(`${service.url}/v1/sessions`, { headers: { ...credentialsOf(), ...page } });
    expect([answered.status, answered.headers.get("access-control-allow-origin")]).toEqual([200, page.origin]);
    expect(answered.headers.get("vary")).toContain("Origin");
    expect(answered.headers.get("access-control-expose-headers")?.toLowerCase()).toMatch(
      /grpc-status.*www-authenticate/,
    );
    expect((await fetch(`${service.url}/version`)).headers.get("vary")).toBe("Origin");
    const refused = await fetch(`${service.url}/v1/sessions`, { headers: page });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, page.origin]);
    const other = await fetch(rpc, { method: "OPTIONS", headers: { ...preflight, origin: "https://evil.example" } });
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("get no CORS headers when no origin is listed", async ({ service }) => {
    const answered = await fetch(`${service.url}/v1/sessions`, { headers: { ...credentialsOf(), ...page } });
    expect([answered.status, answered.headers.get("access-control-allow-origin")]).toEqual([200, null]);
  });

  test("cannot use a service without authentication, even through a name that resolves to it", async () => {
    const service = await startService({ authApiKeys: [], serverCorsOrigins: ["https://app.example"] });
    const url = `${service.url}/v1/sessions`;
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url, { headers: page })).status).toBe(200);
    expect((await fetch(url, { headers: { origin: service.url } })).status).toBe(200);
    expect((await fetch(url, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await fetch(url, { headers: { origin: "null" } })).status).toBe(403);
    const rebound = await new Promise<IncomingMessage>((resolve) => {
      httpRequest(url, { headers: { host: "evil.example" } }, resolve).end();
    });
    expect(rebound.statusCode).toBe(403);
    expect(await json(rebound)).toMatchObject({ error: expect.stringContaining("no other host name than localhost") });
  });
});

describe("a service without authentication", () => {
  const open: Partial<Config> = { authApiKeys: [], rateLimitFailuresRps: 1, rateLimitBurst: 1 };
  const clientId = { "x-client-id": "ada" };
  const signature = { "x-signature": "junk", "x-timestamp": "junk", "x-nonce": "junk" };
  const useless: readonly Record<string, string>[] = [
    { authorization: "Bearer" },
    { authorization: "Bearer " },
    { authorization: "Bearer wrong" },
    { authorization: "Bearer rk_wrong" },
    { authorization: "Bearer rt_wrong" },
    { authorization: "Bearer rrun_wrong" },
    { authorization: "Basic YTpi" },
    { "x-api-key": "wrong" },
    signature,
    { ...signature, authorization: "Bearer wrong" },
  ];

  test("ignores credentials, and identifies each caller by its id", async () => {
    const service = await startService(open);
    const url = `${service.url}/v1/sessions`;
    const body = JSON.stringify({ session_id: "of-ada", agent: { name: "open" } });
    const made = await fetch(url, { method: "POST", body, headers: clientId });
    expect(made.status).toBe(201);
    for (const headers of useless) {
      const { status } = await fetch(`${url}/of-ada`, { headers: { ...headers, ...clientId } });
      expect({ headers, status }).toEqual({ headers, status: 200 });
    }
    // The stream of a session without a run answers 204.
    const { status } = await fetch(`${url}/of-ada/stream?ticket=wrong`, { headers: clientId });
    expect(status).toBe((await fetch(`${url}/of-ada/stream`, { headers: clientId })).status);
  });

  test("ignores credentials over gRPC, and repeated headers", async () => {
    const service = await startService(open);
    for (const headers of useless) {
      const { sessions } = await new GrpcClient(service.target, headers).call(SessionService.method.listSessions, {});
      expect(sessions).toEqual([]);
    }
    for (const name of ["Authorization", "X-Client-ID", "X-Signature"]) {
      const headers = [
        [name, "one"],
        [name, "two"],
      ] as const;
      expect(await sendRaw(service.url, { method: "GET", path: "/v1/sessions", headers })).toMatchObject({
        status: 200,
      });
    }
  });

  test("still requires a run token where only a run may call", async () => {
    const service = await startService(open);
    const wrong = new GrpcClient(service.target, { authorization: "Bearer rrun_wrong" });
    await expect(wrong.call(HostStorageService.method.getState, { key: "k" })).rejects.toMatchObject({
      code: 7,
      details: "access denied: the method needs the token of a run",
    });
  });
});

describe("request ids", () => {
  test("are in every answer: the caller's own, cut to the maximum, or a new one", async ({ service }) => {
    const idOf = async (path: string, id?: string) => {
      const headers: Record<string, string> = id === undefined ? {} : { "x-request-id": id };
      return (await fetch(service.url + path, { headers })).headers.get("x-request-id");
    };
    for (const path of ["/health", "/livez", "/v1/sessions", "/nowhere", "/openapi.json", "/version"]) {
      expect(await idOf(path)).toMatch(/^[0-9a-f]{32}$/);
      expect(await idOf(path, "mine-42")).toBe("mine-42");
    }
    expect(await idOf("/livez", "x".repeat(300))).toBe("x".repeat(256));
  });
});

describe("below /v1/", () => {
  test("no route is revealed without credentials", async ({ service }) => {
    const answers = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(service.url + path, { headers });
      return [response.status, await response.text()];
    };
    const missing = [401, '{"error":"missing signature, timestamp, or nonce"}\n'];
    expect(await answers("/v1/nothing", {})).toEqual(missing);
    expect(await answers("/v1/sessions/x", {})).toEqual(missing);
    expect(await answers("/v1/nothing", credentialsOf())).toEqual([404, "404 page not found\n"]);
    expect(await answers("/nothing", {})).toEqual([404, "404 page not found\n"]);
    expect(await answers("/metrics", {})).toEqual([404, "404 page not found\n"]);
  });

  test("a repeated credential header is refused", async ({ service }) => {
    for (const name of ["Authorization", "X-Client-ID", "X-Signature", "X-Timestamp", "X-Nonce"]) {
      const headers = [
        [name, "one"],
        [name, "two"],
      ] as const;
      const { status, body } = await sendRaw(service.url, { method: "GET", path: "/v1/sessions", headers });
      expect([status, body]).toEqual([401, expect.stringContaining(`${name.toLowerCase()} is given twice`)]);
    }
  });
});
