// The calls without authentication, however often they come, and what they tell whom.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { RunTokens } from "../../src/platform/auth/run-token.ts";
import { loadSecret } from "../../src/platform/auth/storage/secret.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { listenersMax } from "../../src/surfaces/http/port/listeners.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import { query, testDatabase } from "../harness/database.ts";
import { startService, type TestService } from "../harness/service.ts";
import { signV1, signV2 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";

// The count of the health check waits, because a transaction locks the sessions. The pool has four connections.
test.runIf(process.platform === "linux")(
  "a service in one process has several listeners, so that probes do not wait behind a crowd",
  async () => {
    const { url } = await startService();
    const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
    // The second column is the own address, and 0A in the fourth means that the socket listens.
    const listening = new RegExp(`^ *\\d+: [0-9A-F]+:${port} \\S+ 0A `, "gm");
    expect((await readFile("/proc/net/tcp", "utf8")).match(listening)).toHaveLength(listenersMax);
  },
);

test("many concurrent health checks use one connection, and other requests are served", async () => {
  const service = await startService();
  const { db } = connect(service.databaseUrl);
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction().execute(async (trx) => {
    await sql`lock table session in access exclusive mode`.execute(trx);
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const asked = Array.from({ length: 50 }, () => fetch(`${service.url}/health`));
  await until("the count to wait", async () => {
    const waiting = await query(
      service.databaseUrl,
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    return waiting.length > 0;
  });
  const signal = AbortSignal.timeout(20_000);
  const other = await fetch(`${service.url}/v1/usage`, { headers: credentialsOf(), signal }).finally(release.resolve);
  expect(other.status).toBe(200);
  await holding;
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(50).fill(200));
});

describe("the health check", () => {
  const short = [200, { status: "ok" }];
  const whole = [200, { active_sessions: 0, status: "ok", total_sessions: 0 }];
  const adminToken = "the-admin-token-of-these-tests";
  const signed = { secret: keyOf(), clientId: "local", path: "/health" };

  async function healthOf({ url }: TestService, headers: Record<string, string> = {}): Promise<unknown> {
    const response = await fetch(`${url}/health`, { headers });
    return [response.status, await response.json()];
  }

  test("tells the numbers of sessions to callers with valid credentials alone", async () => {
    const service = await startService({ authAdminToken: adminToken });
    const replayed = signV2(signed);
    for (const headers of [credentialsOf(), { authorization: `Bearer ${adminToken}` }, signV1(signed), replayed]) {
      expect(await healthOf(service, headers), JSON.stringify(headers)).toEqual(whole);
    }
    for (const headers of [
      {},
      { "x-client-id": "local" },
      { authorization: "Bearer" },
      { authorization: "Bearer wrong" },
      { authorization: "Bearer rk_wrong" },
      { authorization: "Bearer rrun_wrong" },
      { authorization: "Basic YTpi" },
      { "x-signature": "junk" },
      { ...signV1(signed), "x-timestamp": "1" },
      signV1({ ...signed, secret: "another secret" }),
      replayed,
      { ...signV1(signed), ...credentialsOf() },
    ]) {
      expect(await healthOf(service, headers), JSON.stringify(headers)).toEqual(short);
    }
    const post = async (path: string, body: object): Promise<{ ticket: string }> => {
      const headers = { ...credentialsOf(), "content-type": "application/json" };
      const answer = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      expect(answer.status).toBe(201);
      return (await answer.json()) as { ticket: string };
    };
    await post("/v1/sessions", { session_id: "s-1", agent: { name: "a" } });
    const { ticket } = await post("/v1/auth/tickets", { target: { session_id: "s-1" } });
    const { db } = connect(service.databaseUrl);
    const runTokens = new RunTokens(await loadSecret(db, "run token"));
    for (const token of [ticket, runTokens.make({ runId: randomUUID(), attempt: 1 })]) {
      expect(await healthOf(service, { authorization: `Bearer ${token}` })).toEqual(short);
    }
  });

  test("tells them to all with the setting, and where no credentials are configured", async () => {
    expect(await healthOf(await startService({ serverHealthCounts: "always" }))).toEqual(whole);
    const open = await startService({ authApiKeys: [] });
    for (const headers of [{}, { authorization: "Bearer wrong" }]) {
      expect(await healthOf(open, headers)).toEqual(whole);
    }
  });

  test("counts a wrong credential as a failed attempt, a missing one never, and answers beyond every rate", async () => {
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const service = await startService({ rateLimitFailuresRps: 1, rateLimitBurst: 2 }, { clock });
    const statusOf = async (): Promise<number> =>
      (await fetch(`${service.url}/v1/sessions`, { headers: { authorization: "Bearer wrong" } })).status;
    for (let count = 0; count < 20; count += 1) {
      expect(await healthOf(service)).toEqual(short);
    }
    expect(await statusOf()).toBe(401);
    for (let count = 0; count < 20; count += 1) {
      expect(await healthOf(service, { authorization: "Bearer wrong" })).toEqual(short);
    }
    expect(await statusOf()).toBe(429);
    expect(await healthOf(service, credentialsOf())).toEqual(whole);
  });

  test("answers 503 without numbers while the database is away, with any credentials", async () => {
    const proxy = await openCuttingProxy(await testDatabase());
    const service = await startService({ databaseUrl: proxy.url });
    proxy.breakDown();
    const away = [503, { status: "unavailable", reason: "the database is not reachable" }];
    for (const headers of [{}, credentialsOf(), { authorization: "Bearer rk_unknown" }, signV1(signed)]) {
      expect(await healthOf(service, headers), JSON.stringify(headers)).toEqual(away);
    }
  });
});
