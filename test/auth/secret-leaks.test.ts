// Puts a canary in the place of every secret, uses and misuses the service, and then searches everything that the service
// wrote, answered, sent, stored and started. One hit is a leak.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openConnections } from "../../src/platform/database/database.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/open.ts";
import { ownFolder, runCommand, startCommand } from "../cli/command.ts";
import { openCollector } from "../fakes/otlp-collector.ts";
import type { Script, WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { until } from "../harness/wait.ts";

const names = [
  "hmac-secret",
  "previous-secret",
  "client-key",
  "admin-token",
  "openai-key",
  "gemini-key",
  "anthropic-key",
  "compatible-key",
  "mcp-key",
  "agents-mcp-key",
  "connector-key",
  "a2a-key",
  "acp-key",
  "collector-token",
  "wrong-token",
  "ticket-in-query",
] as const;
type Name = (typeof names)[number];

const canaries = Object.fromEntries(names.map((name) => [name, `canary-${name}-5f0c2b9e`])) as Record<Name, string>;

/** Each canary with the forms in which it might be found. */
function findIn(text: string, allowed: readonly string[] = []): string[] {
  const secrets = Object.values(canaries).filter((value) => !allowed.includes(value));
  const forms = secrets.flatMap((value) => {
    const base64 = Buffer.from(value).toString("base64").replace(/=+$/, "");
    // Cut at both ends, because it may be in the middle of something that was encoded as a whole.
    return [value, Buffer.from(value).toString("hex"), base64.slice(2, -2)];
  });
  return forms.filter((form) => text.includes(form));
}

/** A provider, and an MCP server, that sends back all headers that it receives. */
const echo: Script = (wire, { headers }) =>
  wire.reply(401, JSON.stringify({ error: { message: JSON.stringify(headers) } }));

test("no secret leaves its place", async () => {
  const folder = await ownFolder();
  const directory = join(folder, "database");
  const provider = await openWireServer(() => echo);
  const collector = await openCollector();
  const secretFile = join(folder, "anthropic-key");
  await writeFile(secretFile, `${canaries["anthropic-key"]}\n`);
  const serve = startCommand(["serve", "--port", "0"], {
    directory: folder,
    environment: {
      RUNNEL_DATABASE_DIR: directory,
      RUNNEL_SERVER_HOST: "127.0.0.1",
      RUNNEL_LOG_LEVEL: "debug",
      RUNNEL_METRICS_PORT: "0",
      RUNNEL_AUTH_HMAC_SECRET: canaries["hmac-secret"],
      RUNNEL_AUTH_HMAC_SECRET_PREVIOUS: canaries["previous-secret"],
      RUNNEL_AUTH_API_KEYS: `tester=${canaries["client-key"]}`,
      RUNNEL_AUTH_ADMIN_TOKEN: canaries["admin-token"],
      RUNNEL_PROVIDERS_OPENAI_KEY: canaries["openai-key"],
      RUNNEL_PROVIDERS_OPENAI_BASE_URL: `${provider.origin}/openai`,
      RUNNEL_PROVIDERS_GEMINI_KEY: canaries["gemini-key"],
      RUNNEL_PROVIDERS_GEMINI_BASE_URL: `${provider.origin}/gemini`,
      RUNNEL_PROVIDERS_ANTHROPIC_KEY_FILE: secretFile,
      RUNNEL_PROVIDERS_ANTHROPIC_BASE_URL: `${provider.origin}/anthropic`,
      RUNNEL_PROVIDERS_COMPATIBLE_KEY: canaries["compatible-key"],
      RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: `${provider.origin}/compatible`,
      RUNNEL_MCP_SERVERS: `srv=${JSON.stringify({
        url: `${provider.origin}/mcp`,
        headers: { authorization: `Bearer ${canaries["mcp-key"]}` },
      })}`,
      RUNNEL_ACP_AGENTS: `coder=${JSON.stringify({ command: "false", env: { KEY: canaries["acp-key"] } })}`,
      RUNNEL_A2A_AGENTS: `helper=${JSON.stringify({
        url: `${provider.origin}/a2a`,
        headers: { authorization: `Bearer ${canaries["a2a-key"]}` },
      })}`,
      RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${canaries["collector-token"]}`,
    },
  });
  const url = await until("the service to serve", () => /serves on (http:\/\/\S+)/.exec(serve.stderr())?.[1]);
  const told: string[] = [];
  const call = caller(url, told);

  for (const model of ["gpt-4o", "gemini-2.5-pro", "claude-sonnet-4", "compatible:any"]) {
    const failure = await failingRun(call, model);
    // The provider was asked and refused; otherwise this test would have tried nothing.
    expect(failure).toMatch(/API error \(status 401\).*\[redacted\]/);
  }
  expect(await failingRun(call, "gpt-4o-mini", { mcp: [{ name: "srv" }] })).toMatch(/mcp server "srv": .*401/);
  const headers = [{ name: "authorization", value: `Bearer ${canaries["agents-mcp-key"]}` }];
  const connector = { type: "mcp", connector_id: "c", authorization: canaries["connector-key"] };
  const named = {
    mcp: [{ name: "own", url: `${provider.origin}/agents-mcp`, headers }],
    provider: [{ provider: "openai", tool: { ...connector, headers: { "x-key": canaries["connector-key"] } } }],
  };
  expect(await failingRun(call, "gpt-4o-nano", named)).toMatch(/mcp server "own": .*401/);
  expect(await failingRun(call, "helper", {}, "helper")).toContain("the agent helper is not available");
  expect(await failingRun(call, "coder", {}, "coder")).not.toBe("");
  const { runs } = (await call("GET", "/v1/runs?agent_name=tester&model=gpt-4o-nano", canaries["client-key"])) as {
    runs: { run_id: string }[];
  };
  expect(await call("GET", `/v1/runs/${runs[0]?.run_id}/input`, canaries["client-key"])).toMatchObject({
    agent: {
      tools: {
        mcp: [{ name: "own", headers: [{ name: "authorization" }] }],
        provider: [{ tool: { type: "mcp", connector_id: "c", headers: { "x-key": "" } } }],
      },
    },
  });
  expect(sentKeys(provider)).toEqual([
    ...["openai-key", "gemini-key", "anthropic-key", "compatible-key"],
    ...["mcp-key", "agents-mcp-key", "a2a-key"],
  ]);
  await misuse(url, call);
  const { key } = (await call("POST", "/v1/auth/keys", canaries["admin-token"], { client_id: "made" })) as {
    key: string;
  };
  await call("GET", "/v1/sessions", key);
  const { ticket } = (await call("POST", "/v1/auth/tickets", canaries["client-key"], {
    target: { session_id: "gpt-4o" },
  })) as { ticket: string };
  await call("GET", `/v1/sessions/gpt-4o/stream?ticket=${ticket}`, undefined);
  await call("GET", "/openapi.json", undefined);
  const metricsPort = /"metricsPort":(\d+)/.exec(serve.stderr())?.[1];
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  expect(metrics).toContain("runnel_llm_requests_total");
  await until("traces to arrive", () => collector.spans.some(({ name }) => name.startsWith("chat ")));

  const children = await environmentsBeside(serve.child.pid ?? 0, directory);
  expect(children.length).toBeGreaterThan(3);
  const database = await dump(directory);
  expect(database).toContain("tester");
  serve.child.kill("SIGTERM");
  const { stderr, stdout } = await serve.ended;

  const made = [key, ticket];
  const hits = {
    log: [...findIn(stderr + stdout), ...made.filter((each) => stderr.includes(each))],
    answers: findIn(told.join("\n")),
    metrics: [...findIn(metrics), ...made.filter((each) => metrics.includes(each))],
    traces: collector.requests.flatMap(({ body }) => findIn(body.toString("latin1"))),
    // A session keeps the credentials of its agent's servers: every run of it sends them.
    database: [
      ...findIn(database, [canaries["agents-mcp-key"], canaries["connector-key"]]),
      ...made.filter((each) => database.includes(each)),
    ],
    children: children.flatMap((environment) => findIn(environment)),
    provider: provider.requests.flatMap((request) => findIn(JSON.stringify(request), [ownKey(request.path)])),
  };
  expect(hits).toEqual({ log: [], answers: [], metrics: [], traces: [], database: [], children: [], provider: [] });
});

test("no error about an unreachable database has its password", async () => {
  const DATABASE_URL = "postgres://runnel:canary-password-5f0c2b9e@127.0.0.1:1/none?application_name=x";
  for (const words of [
    ["serve", "--port", "0"],
    ["migrate"],
    ["doctor"],
    ["doctor", "--json"],
    ["config", "explain"],
  ]) {
    const { stdout, stderr } = await runCommand(words, { environment: { DATABASE_URL, RUNNEL_LOG_LEVEL: "debug" } });
    expect(stdout + stderr).not.toContain("canary-password");
    expect(stdout + stderr).not.toBe("");
  }
});

type Call = (method: string, path: string, token: string | undefined, body?: object) => Promise<unknown>;

/** Keeps every answer, including its headers. */
function caller(url: string, told: string[]): Call {
  return async (method, path, token, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    told.push(JSON.stringify([...response.headers]), text);
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  };
}

/** Returns the error message of a run of this model. */
async function failingRun(call: Call, model: string, tools: object = {}, runner = ""): Promise<string> {
  const id = model.replaceAll(/[^\w-]/g, "-");
  const token = canaries["client-key"];
  await call("POST", "/v1/sessions", token, { session_id: id, agent: { name: "tester", model, tools, runner } });
  await call("POST", `/v1/sessions/${id}/messages`, token, { message: "hello" });
  await call("GET", `/v1/sessions/${id}/stream`, token);
  const { error } = (await call("GET", `/v1/sessions/${id}`, token)) as { error: string };
  return error;
}

/** Puts secrets where they do not belong, as callers do by mistake. */
async function misuse(url: string, call: Call): Promise<void> {
  await call("GET", "/v1/sessions", canaries["wrong-token"]);
  await call("GET", `/v1/sessions/x/stream?ticket=${canaries["ticket-in-query"]}`, undefined);
  await call("GET", `/v1/nowhere?token=${canaries["client-key"]}`, canaries["client-key"]);
  await call("POST", "/v1/auth/keys", canaries["wrong-token"], { client_id: "x" });
  await fetch(`${url}/v1/sessions`, {
    headers: {
      "x-client-id": "tester",
      "x-signature": canaries["hmac-secret"],
      "x-timestamp": canaries["hmac-secret"],
      "x-nonce": canaries["hmac-secret"],
    },
  });
}

function ownKey(path: string): string {
  const [, provider = ""] = path.split("/");
  return canaries[`${provider}-key` as Name] ?? "";
}

function sentKeys(provider: WireServer): Name[] {
  const sent = provider.requests.map((request) => JSON.stringify(request.headers));
  return names.filter((name) => sent.some((headers) => headers.includes(canaries[name])));
}

/**
 * The environment of every process that the service started, including Postgres. The service's own environment is left out: it
 * holds the secrets.
 */
async function environmentsBeside(pid: number, directory: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const processes = await Promise.all(
    pids.map(async (each) => ({
      pid: Number(each),
      parent: Number(/^PPid:\s+(\d+)/m.exec(await readProc(each, "status"))?.[1]),
      command: await readProc(each, "cmdline"),
      environment: await readProc(each, "environ"),
    })),
  );
  const kin = new Set([pid, ...processes.filter(({ command }) => command.includes(directory)).map((each) => each.pid)]);
  for (let known = 0; known < kin.size; ) {
    known = kin.size;
    for (const each of processes) {
      if (kin.has(each.parent)) {
        kin.add(each.pid);
      }
    }
  }
  return processes.filter((each) => each.pid !== pid && kin.has(each.pid)).map(({ environment }) => environment);
}

async function readProc(pid: string, file: string): Promise<string> {
  return await readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "");
}

/** Every row of every table as text. Bytes appear as hexadecimal and as the text that they may hold. */
async function dump(directory: string): Promise<string> {
  const embedded = await openEmbeddedPostgres({ directory });
  const { db, close } = openConnections(embedded.login, { poolSize: 1, onConnectionError: () => {} });
  try {
    const { rows: tables } = await sql<{ name: string }>`
      select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`.execute(
      db,
    );
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(db);
        return rows.map(({ row }) => row + Buffer.from(row.replaceAll(/[^0-9a-f]/g, ""), "hex").toString("latin1"));
      }),
    );
    return texts.flat().join("\n");
  } finally {
    await close();
    await embedded.stop();
  }
}
