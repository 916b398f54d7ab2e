// Settings from the environment.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig, settings } from "../../src/app/settings.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { maxTokensOf } from "../../src/platform/context.ts";
import { openFolder } from "../fixtures.ts";
import { faultOf } from "../harness/fault-of.ts";

const refusal = (environment: Record<string, string>) => faultOf(() => loadConfig(environment));

test("without any setting every key has its default, and every default is a valid value", () => {
  const config = loadConfig({});
  for (const [name, key] of Object.entries(settings.keys)) {
    expect(config[name as keyof Config]).toBe(key.fallback);
    const isNothing = key.fallback === undefined || String(key.fallback) === "";
    expect(isNothing ? key.fallback : key.read(String(key.fallback)), name).toEqual(key.fallback);
    expect(key.path, name).toMatch(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/);
  }
});

const namesOfSigningContract = [
  "TRUST_ENFORCE",
  "TRUSTED_KEYS_JSON",
  "TRUSTED_KEYS_FILE",
  "TRUSTED_KEYS_RELOAD_SECONDS",
];

test("no two keys share a variable, and all are ours or documented names", () => {
  const names = Object.values(settings.keys).flatMap((key) => key.variables);
  expect(new Set(names).size).toBe(names.length);
  const others = ["DATABASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", ...namesOfSigningContract];
  for (const name of names) {
    expect(others.includes(name) || /^(RUNNEL|AGENT_RUNNER)_[A-Z0-9_]+$/.test(name), name).toBe(true);
  }
});

test("the environment sets a key, its first variable wins, and flags override it", () => {
  const environment = { RUNNEL_SERVER_PORT: "1234", DATABASE_URL: "b", RUNNEL_LOG_LEVEL: "debug" };
  expect(loadConfig(environment)).toMatchObject({ serverPort: 1234, databaseUrl: "b", logLevel: "debug" });
  expect(loadConfig({ ...environment, RUNNEL_DATABASE_URL: "a" }).databaseUrl).toBe("a");
  expect(loadConfig(environment, { serverPort: 99 }).serverPort).toBe(99);
});

test("a documented setting may use its documented name, which gives way to ours", () => {
  const environment = { AGENT_RUNNER_SERVER_PORT: "1", AGENT_RUNNER_AUTH_HMAC_SECRET: "a", RUNNEL_SERVER_PORT: "2" };
  expect(loadConfig(environment)).toMatchObject({ serverPort: 2, authHmacSecret: "a" });
});

test("a secret may come from a file, trimmed; the variable itself wins, and no other setting reads files", async () => {
  const folder = await openFolder();
  const file = join(folder, "secret");
  await writeFile(file, "  from-a-file\n");
  expect(loadConfig({ RUNNEL_AUTH_HMAC_SECRET_FILE: file }).authHmacSecret).toBe("from-a-file");
  expect(loadConfig({ AGENT_RUNNER_PROVIDERS_OPENAI_KEY_FILE: file }).openaiKey).toBe("from-a-file");
  const both = { RUNNEL_AUTH_HMAC_SECRET_FILE: file, AGENT_RUNNER_AUTH_HMAC_SECRET: "direct" };
  expect(loadConfig(both).authHmacSecret).toBe("direct");
  expect(loadConfig({ DATABASE_URL_FILE: file }).databaseUrl).toBe("from-a-file");
  expect(refusal({ RUNNEL_SERVER_HOST_FILE: file }).message).toContain("unknown variable RUNNEL_SERVER_HOST_FILE");
  const missing = refusal({ RUNNEL_AUTH_HMAC_SECRET_FILE: join(folder, "nothing") });
  expect(missing.violations).toMatchObject([{ field: "RUNNEL_AUTH_HMAC_SECRET_FILE" }]);
  expect(missing.message).toContain("names a file that cannot be read");
});

test("keys of clients are read line by line, and an invalid line is reported without its key", () => {
  const text = "ada=a-key-of-16-chars\n\n ada=another-key-with=equals \r\nbob=the-one-key-of-bob\n";
  expect(loadConfig({ RUNNEL_AUTH_API_KEYS: text }).authApiKeys).toEqual([
    { client: "ada", key: "a-key-of-16-chars" },
    { client: "ada", key: "another-key-with=equals" },
    { client: "bob", key: "the-one-key-of-bob" },
  ]);
  for (const bad of ["ada", "=a-key-of-16-chars", "ada=short", "ada=two words in a key", "ada:a-key-of-16-chars"]) {
    const fault = refusal({ RUNNEL_AUTH_API_KEYS: `${text}${bad}` });
    expect(fault.message).toContain("RUNNEL_AUTH_API_KEYS is not valid: expected lines of client=key");
    expect(fault.message).not.toContain("a-key-of-16-chars");
  }
});

test.each([
  ["RUNNEL_SERVER_CORS_ORIGINS", "app.example"],
  ["RUNNEL_SERVER_CORS_ORIGINS", "https://app.example/path"],
  ["RUNNEL_SERVER_REFLECTION", "yes"],
  ["RUNNEL_AUTH_ADMIN_TOKEN", "short"],
  ["RUNNEL_AUTH_ADMIN_TOKEN", "long enough but with spaces"],
])("%s is refused with the value %j", (name, value) => {
  expect(refusal({ [name]: value }).violations).toMatchObject([{ field: name }]);
});

test("an empty variable counts as unset", () => {
  expect(loadConfig({ RUNNEL_SERVER_PORT: "", RUNNEL_DATABASE_URL: "", DATABASE_URL: "b" })).toMatchObject({
    serverPort: settings.keys.serverPort?.fallback,
    databaseUrl: "b",
  });
});

test.each(["80.5", "8e3", "0x50", " 80", "eighty"])("a port of %j is refused with the valid range", (port) => {
  const fault = refusal({ RUNNEL_SERVER_PORT: port });
  expect(fault.reason).toBe("CONFIG_INVALID");
  expect(fault.message).toBe(
    `Invalid config: RUNNEL_SERVER_PORT is "${port}": expected a whole number from 1 to 65535`,
  );
});

test("a long value is quoted in part, on one line", () => {
  const { message } = refusal({ RUNNEL_LOG_LEVEL: `a\n${"b".repeat(10_000)}` });
  expect(message).toMatch(/RUNNEL_LOG_LEVEL is "a\\nb{78}…": expected one of/);
});

test("of many mistakes the first 20 are listed, with the number of the rest", () => {
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`RUNNEL_X${index}_OF_NO_USE`, "1"]));
  const { message, violations } = refusal(many);
  expect(message.match(/unknown variable/g)).toHaveLength(20);
  expect(message).toMatch(/; and 5 more$/);
  expect(violations).toHaveLength(25);
});

test.each([
  ["RUNNEL_SERVER_PROT", "RUNNEL_SERVER_PORT"],
  ["AGENT_RUNNER_SERVER_PROT", "AGENT_RUNNER_SERVER_PORT"],
  ["RUNNEL_AUTH_HMAC_SECERT_FILE", "RUNNEL_AUTH_HMAC_SECRET_FILE"],
  // Not a key of the document, so its prefix does not apply.
  ["AGENT_RUNNER_DATABASE_URL", "RUNNEL_DATABASE_URL"],
])("%s is unknown, and %s is suggested", (name, meant) => {
  const { message } = refusal({ [name]: "s3cret-v4lue" });
  expect(message).toBe(`Invalid config: unknown variable ${name}: did you mean ${meant}?`);
});

test("a variable that resembles no setting is unknown too", () => {
  const { message } = refusal({ RUNNEL_XYZZY: "1" });
  expect(message).toBe("Invalid config: unknown variable RUNNEL_XYZZY: `runnel config explain` lists all keys");
});

test("variables of the commands, and of Kubernetes for a service named runnel, are accepted", () => {
  const links = {
    RUNNEL_SERVICE_HOST: "10.0.0.1",
    RUNNEL_SERVICE_PORT: "8090",
    RUNNEL_SERVICE_PORT_HTTP: "8090",
    RUNNEL_PORT: "tcp://10.0.0.1:8090",
    RUNNEL_PORT_8090_TCP: "tcp://10.0.0.1:8090",
    RUNNEL_PORT_8090_TCP_ADDR: "10.0.0.1",
    AGENT_RUNNER_PORT: "tcp://10.0.0.1:8090",
    // Kubernetes sets it for a service with the name runnel-server: it looks like one of our variables.
    RUNNEL_SERVER_PORT: "tcp://10.0.0.1:8090",
  };
  const commands = {
    RUNNEL_API_KEY: "a",
    RUNNEL_CLIENT_ID: "b",
    RUNNEL_ADMIN_TOKEN: "c",
    RUNNEL_URL: "d",
    RUNNEL_PROFILE: "e",
  };
  expect(loadConfig({ ...links, ...commands, RUNNEL_OF_NO_USE: "" })).toEqual(loadConfig({}));
});

test.each([
  ["RUNNEL_PROVIDERS_OPENAI_BASE_URL", "localhost:1234"],
  ["RUNNEL_PROVIDERS_OPENAI_BASE_URL", "ftp://example.com"],
  ["RUNNEL_PROVIDERS_OPENAI_BASE_URL", "https://user@example.com"],
  ["RUNNEL_PROVIDERS_OPENAI_BASE_URL", "https://:pass@example.com"],
  ["RUNNEL_PROVIDERS_OPENAI_BASE_URL", "https://example.com/?key=a"],
  ["RUNNEL_PROVIDERS_OPENAI_BASE_URL", `https://example.com/${"a".repeat(2_000)}`],
  ["RUNNEL_BUDGETS_RUN_USD", "-1"],
  ["RUNNEL_BUDGETS_RUN_USD", "1,50"],
  ["RUNNEL_BUDGETS_RUN_USD", "1000000.01"],
  ["RUNNEL_SESSIONS_HISTORY_MESSAGES", "1"],
  ["RUNNEL_CB_MAX_FAILURES", "0"],
  ["RUNNEL_SECURITY_ALLOW_PRIVATE_NETWORKS", "TRUE"],
  ["RUNNEL_PROVIDERS_OPENAI_API", "completions"],
  ["RUNNEL_DEFAULTS_MAX_TURNS", "2147483648"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
])("%s of %j is refused", (name, value) => {
  expect(refusal({ [name]: value }).violations).toMatchObject([{ field: name }]);
});

test("decimals, meaningful negative numbers and names of other programs are accepted", () => {
  const environment = {
    RUNNEL_BUDGETS_RUN_USD: "0.25",
    RUNNEL_DEFAULTS_MAX_TURNS: "-1",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
  };
  const read = { budgetRunUsd: 0.25, defaultMaxTurns: -1, tracingEndpoint: "http://127.0.0.1:4318" };
  expect(loadConfig(environment)).toMatchObject(read);
  const both = { ...environment, RUNNEL_TRACING_ENDPOINT: "http://127.0.0.1:9" };
  expect(loadConfig(both).tracingEndpoint).toBe("http://127.0.0.1:9");
});

test.each([
  ["postgres://user:s3cret@a,b/db?target_session_attrs=read-write", "one host"],
  ["postgresql://a:5432,b:5432/db", "one host"],
  ["postgres://user:s3cret@/db?host=a,b", "one host"],
  ["host=a dbname=db password=s3cret", "a URL such as postgres://"],
])("the database %s is refused with what to use, and without its password", (value, fix) => {
  const { message } = refusal({ DATABASE_URL: value });
  expect(message).toContain(fix);
  expect(message).not.toContain("s3cret");
});

test.each([
  "postgres://user:pass,word@host/db",
  "postgres://user@host:5432/db?sslmode=require&application_name=a,b",
  "postgres:///db?host=/run/postgresql",
])("the database %s is accepted", (value) => {
  expect(loadConfig({ DATABASE_URL: value }).databaseUrl).toBe(value);
});

test("all mistakes are named at once, without secrets", () => {
  const secret = "s3cret-v4lue";
  const fault = refusal({
    RUNNEL_SERVER_PORT: "x",
    RUNNEL_LOG_LEVEL: "loud",
    RUNNEL_RUNS_SLOTS: "0",
    RUNNEL_PROVIDERS_OPENAI_KEY: secret,
    DATABASE_URL: `postgres://user:${secret}@host/db`,
  });
  expect(fault.violations.map((violation) => violation.field)).toEqual([
    "RUNNEL_SERVER_PORT",
    "RUNNEL_RUNS_SLOTS",
    "RUNNEL_LOG_LEVEL",
  ]);
  for (const { field } of fault.violations) {
    expect(fault.message).toContain(field);
  }
  expect(JSON.stringify([fault.message, fault.violations])).not.toContain(secret);
});

test.each([
  ["777", 777],
  ["0", 4_096],
  ["-1", 4_096],
])("defaults.max_tokens of %s gives responses %i tokens", (value, expected) => {
  expect(maxTokensOf(loadConfig({ AGENT_RUNNER_DEFAULTS_MAX_TOKENS: value }))).toBe(expected);
});
