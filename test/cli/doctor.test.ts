// `doctor`: the test really breaks each thing. `doctor` finds it, suggests a fix, and changes nothing.

import { once } from "node:events";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/open.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { databaseUrl, emptyDatabase, query, testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { until } from "../harness/wait.ts";
import { type CommandPlace, ownFolder, runCommand, runShell, startCommand } from "./command.ts";

interface Check {
  readonly name: string;
  readonly outcome: "ok" | "warn" | "fail";
  readonly found: string;
  readonly fix?: string;
}

const inOrder = { RUNNEL_DEFAULTS_MODEL: "demo", RUNNEL_SESSIONS_WORK_DIRS: "/srv/agents/{client}" };
/** Avoids a port that another service on this machine uses, which is not the subject of these tests. */
const anyPort = ["--port", "0"];

/** Returns the findings, after a check that the exit code agrees. */
async function examine(environment: Record<string, string>, words: readonly string[] = anyPort, place?: CommandPlace) {
  const options = { ...place, environment: { ...inOrder, ...environment } };
  const { code, stdout, stderr } = await runCommand(["doctor", "--json", ...words], options);
  expect(stderr).toBe("");
  const { healthy, checks } = JSON.parse(stdout) as { healthy: boolean; checks: Check[] };
  expect({ code, healthy }).toEqual(
    checks.some(({ outcome }) => outcome === "fail") ? { code: 1, healthy: false } : { code: 0, healthy: true },
  );
  for (const { name, outcome, fix } of checks) {
    expect({ name, outcome, hasFix: fix !== undefined && fix !== "" }).toEqual({
      name,
      outcome,
      hasFix: outcome !== "ok",
    });
  }
  return { checks, find: (name: string) => checks.find((check) => check.name === name) };
}

test("a healthy installation is reported as in order, in text and JSON", async () => {
  const environment = { DATABASE_URL: await testDatabase() };
  const { checks } = await examine(environment);
  const odd = checks.filter(({ outcome }) => outcome !== "ok").map(({ name }) => name);
  expect(odd).toEqual(inject("hasJail") ? [] : ["jail"]);
  const names = [
    "node",
    "settings",
    "disk-work",
    "work-root",
    "work-dirs",
    "open-files",
    "jail",
    "database",
    "durability",
    "replication",
    "schema",
  ];
  const more = ["clock", "connections", "port", "tls", "credentials", "providers"];
  expect(checks.map(({ name }) => name)).toEqual([...names, ...more]);
  const { code, stdout } = await runCommand(["doctor", ...anyPort], { environment: { ...inOrder, ...environment } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^✓ node +Node \d+/);
  expect(stdout).toMatch(/^✓ durability +fsync on, synchronous_commit on, full_page_writes on$/m);
  expect(stdout).toMatch(
    new RegExp(`\n\n${checks.length - odd.length} in order, ${odd.length} to look at, 0 wrong\n$`),
  );
});

test("a list of directories that is empty, or reaches into the system, is worth a look", async () => {
  const folder = await ownFolder();
  await symlink("/etc", join(folder, "link"));
  const look = async (list: string, more: Record<string, string> = {}) =>
    (await examine({ DATABASE_URL: await testDatabase(), RUNNEL_SESSIONS_WORK_DIRS: list, ...more })).find("work-dirs");
  const fix = expect.stringContaining("RUNNEL_SESSIONS_WORK_DIRS");
  const none = expect.stringContaining("none is listed");
  expect(await look("")).toMatchObject({ outcome: "warn", found: none, fix });
  expect(await look("", { RUNNEL_AUTH_API_KEYS: "" })).toMatchObject({ outcome: "ok", found: none });
  for (const list of ["/", "/srv/agents/{client},/usr/local/{client}", join(folder, "link/{client}")]) {
    const found = expect.stringMatching(/^sessions may name directories of the system, or around them: /);
    expect(await look(list)).toMatchObject({ outcome: "warn", found, fix });
  }
  const around = expect.stringMatching(/^\/srv holds the directories of an entry with \{client\}, /);
  expect(await look("/srv/agents/{client},/srv")).toMatchObject({ outcome: "fail", found: around, fix });
  expect(await look("/srv/agents/{client}")).toMatchObject({
    outcome: "ok",
    found: "sessions may name /srv/agents/{client}",
  });
});

test("a database that is down is reported with exit code 1 and without its password", async () => {
  const environment = { DATABASE_URL: "postgres://user:canary-password@127.0.0.1:1/runnel" };
  const { find } = await examine(environment);
  expect(find("database")).toMatchObject({ outcome: "fail", found: expect.stringContaining("ECONNREFUSED") });
  expect(find("schema")).toBeUndefined();
  const { code, stdout } = await runCommand(["doctor", ...anyPort], { environment });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ database .*ECONNREFUSED.*\n +fix start it, or check DATABASE_URL/m);
  expect(stdout).not.toContain("canary");
});

test("commits that do not wait for the disk are reported", async () => {
  const url = new URL(await testDatabase());
  url.searchParams.set("options", "-c synchronous_commit=off");
  const { find } = await examine({ DATABASE_URL: url.href });
  expect(find("durability")).toMatchObject({
    outcome: "fail",
    found: expect.stringContaining("synchronous_commit off"),
    fix: expect.stringContaining("synchronous_commit"),
  });
});

test("an empty database is reported without its schema, and stays empty", async () => {
  const DATABASE_URL = await emptyDatabase();
  const { find } = await examine({ DATABASE_URL });
  expect(find("schema")).toMatchObject({
    outcome: "warn",
    found: expect.stringMatching(/not applied yet: 0001_\w+, 0002/),
  });
  const tables = await query(DATABASE_URL, "select 1 from pg_class where relnamespace = 'public'::regnamespace");
  expect(tables).toEqual([]);
});

test("a schema of a newer version is reported", async () => {
  const DATABASE_URL = await testDatabase();
  await query(DATABASE_URL, "insert into kysely_migration (name, timestamp) values ('9999_future', 'now')");
  const { find } = await examine({ DATABASE_URL });
  expect(find("schema")).toMatchObject({ outcome: "fail", found: expect.stringContaining("9999_future") });
});

test("pools larger than the server's free connections are reported", async () => {
  const DATABASE_URL = await testDatabase();
  const [{ max = "" } = {}] = await query<{ max: string }>(
    DATABASE_URL,
    "select current_setting('max_connections') as max",
  );
  const { find } = await examine({ DATABASE_URL, RUNNEL_DATABASE_POOL_SIZE: String(Math.min(100, Number(max))) });
  expect(find("connections")).toMatchObject({ outcome: Number(max) <= 108 ? "fail" : "ok" });
  expect((await examine({ DATABASE_URL })).find("connections")).toMatchObject({ outcome: "ok" });
});

test("a port is free, taken by a Runnel, or taken by another program", async () => {
  const DATABASE_URL = await testDatabase();
  const { url } = await startProcess({ DATABASE_URL });
  const port = async (number: number) => (await examine({ DATABASE_URL }, ["--port", String(number)])).find("port");
  expect(await port(Number(new URL(url).port))).toMatchObject({
    outcome: "ok",
    found: expect.stringContaining("Runnel"),
  });
  const talks = await listenHttp((_request, response) => response.end("hello"));
  expect(await port(talks.port)).toMatchObject({ outcome: "fail", fix: expect.stringContaining("RUNNEL_SERVER_PORT") });
  const silent = await listen(createServer());
  expect(await port(silent.port)).toMatchObject({ outcome: "fail", found: expect.stringContaining("taken") });
  await silent.close();
  expect(await port(silent.port)).toMatchObject({ outcome: "ok", found: expect.stringContaining("is free") });
});

test("the ports of HTTP/2 and of metrics are checked too", async () => {
  const ports = { RUNNEL_METRICS_PORT: String(await freePort()), RUNNEL_SERVER_H2_PORT: String(await freePort()) };
  const DATABASE_URL = await testDatabase();
  const { find } = await examine({ DATABASE_URL, ...ports });
  expect([find("h2-port")?.found, find("metrics-port")?.found]).toEqual([
    `127.0.0.1:${ports.RUNNEL_SERVER_H2_PORT} is free`,
    `127.0.0.1:${ports.RUNNEL_METRICS_PORT} is free`,
  ]);
  await startProcess({ DATABASE_URL, ...ports });
  const running = await examine({ DATABASE_URL, ...ports });
  for (const name of ["h2-port", "metrics-port"]) {
    expect(running.find(name)).toMatchObject({ outcome: "ok", found: expect.stringContaining("Runnel") });
  }
});

test("an unreachable provider is reported; a reachable one is not called", async () => {
  const DATABASE_URL = await testDatabase();
  let calls = 0;
  const provider = await listenHttp((_request, response) => {
    calls++;
    response.end();
  });
  const { find } = await examine({
    DATABASE_URL,
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
    RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
  });
  expect(find("provider-openai")).toMatchObject({
    outcome: "fail",
    found: expect.stringContaining("127.0.0.1:1 cannot"),
  });
  expect(find("provider-compatible")).toMatchObject({ outcome: "ok", found: expect.stringContaining("no key is set") });
  expect(find("provider-anthropic")).toBeUndefined();
  expect(calls).toBe(0);
});

test("--deep requests the models of providers with their keys, and shows no key even when a provider quotes it", async () => {
  const DATABASE_URL = await testDatabase();
  const asked: unknown[] = [];
  const provider = await listenHttp((request, response) => {
    const { authorization = "", "x-api-key": apiKey = "" } = request.headers;
    asked.push([request.method, request.url]);
    response.statusCode = authorization === "Bearer canary-good-key" ? 200 : 401;
    response.end(`Incorrect API key provided: ${authorization}${apiKey}`);
  });
  const baseUrl = `http://127.0.0.1:${provider.port}/v1`;
  const environment = {
    DATABASE_URL,
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: baseUrl,
    RUNNEL_PROVIDERS_OPENAI_KEY: "canary-good-key",
    RUNNEL_PROVIDERS_ANTHROPIC_BASE_URL: baseUrl,
    RUNNEL_PROVIDERS_ANTHROPIC_KEY: "canary-wrong-key",
  };
  const { checks, find } = await examine(environment, [...anyPort, "--deep"]);
  expect(find("provider-openai")).toMatchObject({ outcome: "ok", found: expect.stringContaining("accepts the key") });
  expect(find("provider-anthropic")).toMatchObject({ outcome: "fail", fix: expect.stringContaining("ANTHROPIC_KEY") });
  expect(asked).toEqual([
    ["GET", "/v1/models"],
    ["GET", "/v1/models"],
  ]);
  expect(JSON.stringify(checks)).not.toContain("canary");
});

test("unusable TLS files are reported", async () => {
  const folder = await ownFolder();
  const { server, client } = await makeCertificates();
  const files = { cert: server.cert, key: server.key, otherKey: client.key, none: "no PEM" };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const tls = async (cert: string, key: string) => {
    const names = { RUNNEL_TLS_CERT_FILE: join(folder, cert), RUNNEL_TLS_KEY_FILE: join(folder, key) };
    return (await examine({ DATABASE_URL, ...names })).find("tls");
  };
  const DATABASE_URL = await testDatabase();
  expect(await tls("cert", "key")).toMatchObject({ outcome: "ok", found: expect.stringMatching(/good until \d{4}-/) });
  expect(await tls("cert", "otherKey")).toMatchObject({ outcome: "fail", found: "the key is not the certificate's" });
  expect(await tls("none", "key")).toMatchObject({ outcome: "fail" });
  expect(await tls("missing", "key")).toMatchObject({ outcome: "fail", found: expect.stringContaining("ENOENT") });
});

test("a service that requires client certificates cannot be queried, and the report says so", async () => {
  const folder = await ownFolder();
  const { server, ca } = await makeCertificates();
  const files = { cert: server.cert, key: server.key, ca };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const environment = {
    DATABASE_URL: await testDatabase(),
    RUNNEL_TLS_CERT_FILE: join(folder, "cert"),
    RUNNEL_TLS_KEY_FILE: join(folder, "key"),
  };
  const port = await freePort();
  const words = ["--port", String(port)];
  const serve = startCommand(["serve", ...words], { environment: { ...inOrder, ...environment } });
  await until("the service to serve", () => serve.stderr().includes("serves on https://"));
  const { find } = await examine(environment, words);
  expect(find("port")).toMatchObject({ outcome: "ok", found: expect.stringContaining("Runnel") });
  serve.child.kill("SIGINT");
  await serve.ended;
  const closed = { ...environment, RUNNEL_TLS_CLIENT_CA_FILE: join(folder, "ca") };
  const second = startCommand(["serve", ...words], { environment: { ...inOrder, ...closed } });
  await until("the service to serve", () => second.stderr().includes("serves on https://"));
  expect((await examine(closed, words)).find("port")).toMatchObject({
    outcome: "warn",
    found: expect.stringContaining("client certificates"),
  });
});

test("a low limit of open files and an invalid work root are reported", async () => {
  const DATABASE_URL = await testDatabase();
  const folder = await ownFolder();
  await writeFile(join(folder, "file"), "");
  const { find } = await examine({ DATABASE_URL, RUNNEL_SESSIONS_WORK_ROOT: join(folder, "file/work") });
  expect(find("work-root")).toMatchObject({ outcome: "fail", found: expect.stringContaining("is not a directory") });
  const script = `ulimit -n 512; $runnel doctor --json ${anyPort.join(" ")}`;
  const limited = await runShell(script, { environment: { ...inOrder, DATABASE_URL } });
  expect(limited.code).toBe(0);
  const { checks } = JSON.parse(limited.stdout) as { checks: Check[] };
  expect(checks.find(({ name }) => name === "open-files")).toMatchObject({
    outcome: "warn",
    found: "512 may be open at a time",
  });
});

test("invalid settings are findings, and all other checks still run", async () => {
  const { checks, find } = await examine({ DATABASE_URL: await testDatabase(), RUNNEL_RUNS_SLOTS: "0" });
  expect(checks.filter(({ name }) => name === "settings")).toMatchObject([
    { outcome: "fail", found: expect.stringContaining("RUNNEL_RUNS_SLOTS") },
  ]);
  expect(find("database")).toMatchObject({ outcome: "ok" });
  const open = await examine({ DATABASE_URL: await testDatabase(), RUNNEL_AUTH_API_KEYS: "" });
  expect(open.find("settings")).toMatchObject({ outcome: "fail", found: expect.stringContaining("auth.hmac_secret") });
  expect(open.find("credentials")).toMatchObject({ outcome: "ok", found: expect.stringMatching(/^none/) });
});

test.each([
  [{ RUNNEL_DEFAULTS_MODEL: "" }, "at least one provider key/url"],
  [{ RUNNEL_AGENTS_PRESETS: 'poet={"modl": "demo"}' }, "agents.presets: poet is no agent"],
  [{ RUNNEL_PROVIDERS_RERANK_KEY: "sk-test" }, "providers.rerank_key is set but providers.rerank_base_url is not"],
])("%j keeps serve from starting, so doctor ends with 1", async (wrong, found) => {
  const environment = { ...inOrder, DATABASE_URL: await testDatabase(), ...wrong };
  const { find } = await examine(environment);
  expect(find("settings")).toMatchObject({ outcome: "fail", found: expect.stringContaining(found) });
  expect(await runCommand(["serve", ...anyPort], { environment })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(found),
  });
});

test("an embedded database is not created, started, migrated or stopped", async () => {
  const folder = await ownFolder();
  const directory = join(folder, "database");
  const environment = { RUNNEL_DATABASE_DIR: directory, DATABASE_URL: "" };
  const before = await examine(environment);
  expect(before.find("database")).toMatchObject({
    outcome: "ok",
    found: expect.stringContaining("the first start makes"),
  });
  expect(before.find("disk-data")).toMatchObject({ outcome: "ok" });
  expect(await readdir(folder)).toEqual([]);
  const postgres = await openEmbeddedPostgres({ directory });
  const running = await examine(environment);
  expect(running.find("database")).toMatchObject({ outcome: "ok", found: expect.stringContaining("is Postgres 18") });
  expect(running.find("schema")).toMatchObject({ outcome: "warn" });
  expect(await query(postgres.connectionString, "select 1 as one")).toEqual([{ one: 1 }]);
  await postgres.stop();
  const files = (await readdir(join(directory, "postgres"))).sort();
  const stopped = await examine(environment);
  expect(stopped.find("database")).toMatchObject({ outcome: "ok", found: expect.stringContaining("does not run now") });
  expect((await readdir(join(directory, "postgres"))).sort()).toEqual(files);
  await writeFile(join(directory, "postgres", "PG_VERSION"), "12\n");
  expect((await examine(environment)).find("database")).toMatchObject({
    outcome: "fail",
    found: expect.stringContaining("12"),
  });
});

test("no character of a secret is shown, in text or JSON, for any finding", async () => {
  const environment = {
    RUNNEL_AUTH_HMAC_SECRET: "canary-hmac-secret",
    RUNNEL_AUTH_HMAC_SECRET_PREVIOUS: "canary-hmac-before",
    RUNNEL_AUTH_API_KEYS: "billing=canary-client-key-0001",
    RUNNEL_AUTH_ADMIN_TOKEN: "canary-admin-token",
    RUNNEL_PROVIDERS_OPENAI_KEY: "canary-openai-key",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
    RUNNEL_PROVIDERS_GEMINI_KEY: "canary gemini, which is not valid",
    DATABASE_URL: "postgres://canary-password:canary-password@127.0.0.1:1/canary-password",
  };
  // Postgres quotes the name of a database that does not exist.
  const quoted = databaseUrl(inject("databaseUrl"), environment.RUNNEL_AUTH_HMAC_SECRET);
  const told = await examine({ ...environment, DATABASE_URL: quoted });
  expect(told.find("database")?.found).toContain('database "[secret]" does not exist');
  for (const flags of [[], ["--json"], ["--deep"]]) {
    const { code, stdout, stderr } = await runCommand(["doctor", ...anyPort, ...flags], { environment });
    expect(code).toBe(1);
    expect(stdout).toMatch(/the shared secret of signatures, the secret before, keys of 1 client, the admin token/);
    expect(stdout + stderr).not.toContain("canary");
  }
});

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

function listenHttp(onRequest: RequestListener): Promise<Listening> {
  return listen(createHttpServer(onRequest));
}

async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    for (const socket of sockets) {
      socket.destroy();
    }
    if (server.listening) {
      server.close();
      await once(server, "close");
    }
  };
  onTestFinished(close);
  return { port, close };
}

async function freePort(): Promise<number> {
  const held = await listen(createServer());
  await held.close();
  return held.port;
}
