// What the administrator reads about a replica: its model providers, and the settings that it started with.

import { expect, onTestFinished, test } from "vitest";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { providerNames } from "../../src/agent/models/providers.ts";
import { openApp } from "../../src/app/app.ts";
import { settings } from "../../src/app/settings.ts";
import { readConfig } from "../../src/platform/config/load.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { makeTempConfig } from "../config/temp-config.ts";
import { openConnect } from "../conformance/connect-surface.ts";
import { connectJsonTransport } from "../conformance/transports.ts";
import { fail, startWireServer } from "../fakes/wire-server.ts";
import { credentialsOf, testKeys } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";

const adminToken = "an-admin-token-of-tests";
const asAdmin = { authorization: `Bearer ${adminToken}` };

test("only the administrator can list the providers, in matching order, with their breakers", async () => {
  await using server = await startWireServer(() => fail(503, "down"));
  const service = await startService({
    authAdminToken: adminToken,
    anthropicKey: "a-key",
    anthropicBaseUrl: server.origin,
    compatibleBaseUrl: server.origin,
    circuitMaxFailures: 2,
    circuitResetTimeoutSec: 60,
  });
  const ask = async (token: Record<string, string>): Promise<[number, unknown]> => {
    const response = await fetch(`${service.url}/v1/providers`, { headers: token });
    return [response.status, await response.json()];
  };
  const closed = { configured: true, circuit: "closed", failures: 0 };
  expect(await ask(asAdmin)).toEqual([
    200,
    {
      providers: providerNames.map((name) =>
        ["anthropic", "compatible"].includes(name) ? { name, ...closed } : { name, configured: false, failures: 0 },
      ),
    },
  ]);
  expect((await ask({}))[0]).toBe(401);
  expect(await ask(credentialsOf())).toEqual([403, expect.objectContaining({ reason: "ACCESS_DENIED" })]);

  const call = (path: string, body: object) =>
    fetch(`${service.url}${path}`, { method: "POST", headers: credentialsOf(), body: JSON.stringify(body) });
  await call("/v1/sessions", { session_id: "s", agent: { name: "x", model: "claude-sonnet-4" } });
  await call("/v1/sessions/s/messages", { message: "hello" });
  await (await fetch(`${service.url}/v1/sessions/s/stream`, { headers: credentialsOf() })).text();
  const asked = await ask(asAdmin);
  expect(asked).toEqual([200, expect.anything()]);
  const [, after] = (await ask(asAdmin)) as [number, { providers: { name: string; retry_time?: string }[] }];
  const { anthropic, compatible } = Object.fromEntries(after.providers.map((provider) => [provider.name, provider]));
  expect(anthropic).toMatchObject({ circuit: "open", failures: 2 });
  expect(Date.parse(anthropic?.retry_time ?? "")).toBeGreaterThan(Date.now());
  expect(compatible).toEqual({ name: "compatible", ...closed });
});

/** Starts a replica with settings from each source. Every secret contains `canary`, or is the URL of the database. */
async function openConfigured() {
  const databaseUrl = await testDatabase();
  const { sources: found, write } = await makeTempConfig({
    RUNNEL_DATABASE_URL: databaseUrl,
    RUNNEL_AUTH_ADMIN_TOKEN_FILE: "admin-token",
    RUNNEL_PROVIDERS_OPENAI_KEY: "canary-of-openai",
    RUNNEL_RUNS_SLOTS: "12",
    RUNNEL_TRUST_AUDIENCE: "https://reader:canary-in-a-url@audience.example",
    RUNNEL_DECISIONS_MODEL: "canary-of-openai",
  });
  await write("admin-token", adminToken);
  const file = await write("config.yaml", "retention: {days: 30}\nsessions: {ttl_minutes: 5}\n");
  const sources = {
    ...found,
    flags: { serverHost: "127.0.0.1", serverPort: 0, databasePoolSize: 4, authApiKeys: testKeys },
    settings: ["sessions.ttl_minutes=7"],
  };
  const app = await openApp({ config: readConfig(sources), sources, logger: createLogger("silent") });
  onTestFinished(() => app.close());
  const target = `${app.host}:${app.port}`;
  return { url: `http://${target}`, target, databaseUrl, file, write };
}

test("only the administrator can list the settings, with the origin of each and without a secret, over every surface", async () => {
  const { url, target, databaseUrl, file, write } = await openConfigured();
  // The replica shows what it started with.
  await write("config.yaml", "retention: {days: 60}\n");
  const { listSettings } = SystemService.method;
  const overGrpc = await new GrpcClient(target, asAdmin).call(listSettings, {});
  const overConnect = await openConnect(connectJsonTransport(url), asAdmin).call(listSettings, {});
  const response = await fetch(`${url}/v1/settings`, { headers: asAdmin });
  const text = await response.text();
  const overRest = (JSON.parse(text) as { readonly settings: readonly Record<string, unknown>[] }).settings;
  expect(overConnect).toEqual(overGrpc);
  expect(overRest.map(({ key, value, origin }) => ({ key, value, origin }))).toEqual(
    overGrpc.settings.map(({ key, value, origin }) => ({ key, value, origin })),
  );
  expect(overRest.map(({ key }) => key)).toEqual(Object.values(settings.keys).map(({ path }) => path));

  const shown = (key: string) => {
    const { value, default_value, origin, is_secret } = overRest.find((each) => each.key === key) ?? {};
    return [value, default_value, origin, is_secret];
  };
  expect(shown("runs.lease_ms")).toEqual(["5000", "5000", "default", false]);
  expect(shown("runs.slots")).toEqual(["12", "256", "environment RUNNEL_RUNS_SLOTS", false]);
  expect(shown("retention.days")).toEqual(["30", "7", `file ${file}`, false]);
  expect(shown("sessions.ttl_minutes")).toEqual(["7", "30", "flag", false]);
  expect(shown("server.port")).toEqual(["0", "8090", "flag", false]);
  expect(shown("database.url")).toEqual(["(set)", "(unset)", "environment RUNNEL_DATABASE_URL", true]);
  expect(shown("auth.admin_token")).toEqual(["(set)", "(unset)", "file of RUNNEL_AUTH_ADMIN_TOKEN_FILE", true]);
  expect(shown("auth.api_keys")).toEqual(["(set)", "(unset)", "flag", true]);
  expect(shown("auth.hmac_secret")).toEqual(["(unset)", "(unset)", "default", true]);
  expect(shown("trust.audience")[0]).toBe("https://[redacted]@audience.example");
  expect(shown("decisions.model")[0]).toBe("[redacted]");
  for (const secret of ["canary", adminToken, databaseUrl, ...testKeys.map(({ key }) => key)]) {
    expect(text).not.toContain(secret);
  }

  const asClient = new GrpcClient(target).call(listSettings, {});
  await expect(asClient).rejects.toMatchObject({ code: 7, details: "access denied: the method needs the admin token" });
  const byConnect = openConnect(connectJsonTransport(url), credentialsOf()).call(listSettings, {});
  await expect(byConnect).rejects.toMatchObject({ grpcCode: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
  expect((await fetch(`${url}/v1/settings`, { headers: credentialsOf() })).status).toBe(403);
  expect((await fetch(`${url}/v1/settings`)).status).toBe(401);
});
