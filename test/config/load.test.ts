// Settings from the environment.

import { expect, test } from "vitest";
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
    expect(key.read(String(key.fallback))).toBe(key.fallback);
  }
});

test("no two keys share a variable, and all are ours or documented names", () => {
  const names = Object.values<Key<unknown>>(keys).flatMap((key) => key.env);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    expect(name).toMatch(/^(RUNNEL|AGENT_RUNNER)_[A-Z_]+$|^DATABASE_URL$/);
  }
});

test("the environment sets a key, its first variable counts, and flags come last", () => {
  const environment = { RUNNEL_SERVER_PORT: "1234", DATABASE_URL: "b", RUNNEL_LOG_LEVEL: "debug" };
  expect(loadConfig(environment)).toMatchObject({ serverPort: 1234, databaseUrl: "b", logLevel: "debug" });
  expect(loadConfig({ ...environment, RUNNEL_DATABASE_URL: "a" }).databaseUrl).toBe("a");
  expect(loadConfig(environment, { serverPort: 99 }).serverPort).toBe(99);
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
