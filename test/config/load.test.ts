// Settings from the environment.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Fault } from "../../src/base/fault.ts";
import { type Config, type Key, keys } from "../../src/config/keys.ts";
import { loadConfig } from "../../src/config/load.ts";

function refusal(environment: Record<string, string>): Fault {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof Fault) {
      return error;
    }
  }
  throw new Error("it was accepted");
}

test("without anything set every key has its default, and every default is one that could be set", () => {
  const config = loadConfig({});
  for (const [name, key] of Object.entries<Key<unknown>>(keys)) {
    expect(config[name as keyof Config]).toBe(key.fallback);
    const isNothing = key.fallback === undefined || String(key.fallback) === "";
    expect(isNothing || key.read(String(key.fallback)) === key.fallback, name).toBe(true);
  }
});

test("no two keys share a variable, and all are ours or documented names", () => {
  const names = Object.values<Key<unknown>>(keys).flatMap((key) => key.env);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    expect(name).toMatch(/^(RUNNEL|AGENT_RUNNER)_[A-Z0-9_]+$|^DATABASE_URL$/);
  }
});

test("the environment sets a key, its first variable counts, and flags come last", () => {
  const environment = { RUNNEL_SERVER_PORT: "1234", DATABASE_URL: "b", RUNNEL_LOG_LEVEL: "debug" };
  expect(loadConfig(environment)).toMatchObject({ serverPort: 1234, databaseUrl: "b", logLevel: "debug" });
  expect(loadConfig({ ...environment, RUNNEL_DATABASE_URL: "a" }).databaseUrl).toBe("a");
  expect(loadConfig(environment, { serverPort: 99 }).serverPort).toBe(99);
});

test("a documented setting goes by its documented name, which gives way to ours", () => {
  const environment = { AGENT_RUNNER_SERVER_PORT: "1", AGENT_RUNNER_AUTH_HMAC_SECRET: "a", RUNNEL_SERVER_PORT: "2" };
  expect(loadConfig(environment)).toMatchObject({ serverPort: 2, authHmacSecret: "a" });
});

test("a secret may come from a file, trimmed; the variable itself wins, and no other setting reads files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "runnel-config-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "secret");
  await writeFile(file, "  from a file\n");
  expect(loadConfig({ RUNNEL_AUTH_HMAC_SECRET_FILE: file }).authHmacSecret).toBe("from a file");
  expect(loadConfig({ AGENT_RUNNER_PROVIDERS_OPENAI_KEY_FILE: file }).openaiKey).toBe("from a file");
  const both = { RUNNEL_AUTH_HMAC_SECRET_FILE: file, AGENT_RUNNER_AUTH_HMAC_SECRET: "direct" };
  expect(loadConfig(both).authHmacSecret).toBe("direct");
  expect(loadConfig({ RUNNEL_SERVER_HOST_FILE: file }).serverHost).toBe(keys.serverHost.fallback);
  const missing = refusal({ RUNNEL_AUTH_HMAC_SECRET_FILE: join(folder, "nothing") });
  expect(missing.violations).toMatchObject([{ field: "RUNNEL_AUTH_HMAC_SECRET_FILE" }]);
  expect(missing.message).toContain("names a file that cannot be read");
});

test("keys of clients are read line by line, and one bad line is told without its key", () => {
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
])("%s is not %j", (name, value) => {
  expect(refusal({ [name]: value }).violations).toMatchObject([{ field: name }]);
});

test("an empty variable counts as unset", () => {
  expect(loadConfig({ RUNNEL_SERVER_PORT: "", RUNNEL_DATABASE_URL: "", DATABASE_URL: "b" })).toMatchObject({
    serverPort: keys.serverPort.fallback,
    databaseUrl: "b",
  });
});

test.each(["-1", "65536", "80.5", "8e3", "0x50", " 80", "eighty"])(
  "a port of %j is refused, with what would do",
  (port) => {
    const fault = refusal({ RUNNEL_SERVER_PORT: port });
    expect(fault.reason).toBe("CONFIG_INVALID");
    expect(fault.message).toContain(`RUNNEL_SERVER_PORT is "${port}": expected a whole number from 0 to 65535`);
  },
);

test("everything that is wrong is named at once, and secrets are not", () => {
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
