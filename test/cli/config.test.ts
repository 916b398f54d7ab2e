// `config`: the values of the settings, their sources, and their mistakes.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder, runCommand } from "./command.ts";

interface Setting {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
}

async function explain(words: readonly string[], environment: Record<string, string>, directory?: string) {
  const { code, stdout, stderr } = await runCommand(["config", "explain", ...words, "--json"], {
    environment,
    ...(directory !== undefined && { directory }),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout).settings as Setting[];
}

test("explain shows the origin of every setting, in a table and as JSON", async () => {
  const directory = await ownFolder();
  await writeFile(join(directory, "config.yaml"), "server:\n  port: 4321\n  drain_seconds: 3\n");
  const environment = { RUNNEL_SERVER_DRAIN_SECONDS: "4", HOME: directory };
  const words = ["--set", "runs.slots=12"];
  const all = await explain(words, environment, directory);
  const find = (key: string) => all.find((each) => each.key === key);
  expect(find("server.port")).toMatchObject({ value: "4321", origin: expect.stringMatching(/^file .*config\.yaml$/) });
  expect(find("server.drain_seconds")).toMatchObject({
    value: "4",
    origin: "environment RUNNEL_SERVER_DRAIN_SECONDS",
  });
  expect(find("runs.slots")).toMatchObject({ value: "12", origin: "flag" });
  expect(find("retention.days")).toMatchObject({ value: "7", origin: "default" });
  const { code, stdout, stderr } = await runCommand(["config", "explain", ...words], { environment, directory });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^SETTING +VALUE +SOURCE$/m);
  expect(stdout).toMatch(/^server\.port +4321 +file .*config\.yaml$/m);
  expect(stdout).toMatch(/^server\.drain_seconds +4 +variable RUNNEL_SERVER_DRAIN_SECONDS$/m);
  expect(stdout).toMatch(/^runs\.slots +12 +the command line$/m);
  expect(stdout.trimEnd().split("\n")).toHaveLength(all.length + 1);
});

test("explain accepts one setting, a section, or a variable's name", async () => {
  const environment = { RUNNEL_SERVER_PORT: "99" };
  const one = await runCommand(["config", "explain", "server.port"], { environment });
  expect(one.stdout).toMatch(/^server\.port: \S.*\n {2}value +99\n {2}from +variable RUNNEL_SERVER_PORT\n/);
  const byVariable = await runCommand(["config", "explain", "AGENT_RUNNER_SERVER_PORT"], { environment });
  expect(byVariable).toEqual(one);
  const section = await explain(["database"], {});
  expect(section.map(({ key }) => key)).toEqual([
    "database.url",
    "database.dir",
    "database.pool_size",
    "database.failover_seconds",
  ]);
});

test("an unknown setting is refused with the nearest one", async () => {
  const { code, stdout, stderr } = await runCommand(["config", "explain", "server.prot"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe("runnel: there is no setting server.prot\n  fix      did you mean server.port?\n");
  const json = await runCommand(["config", "explain", "server.prot", "--json"]);
  expect(JSON.parse(json.stderr)).toEqual({
    error: "there is no setting server.prot",
    reason: "CONFIG_KEY_UNKNOWN",
    fix: "did you mean server.port?",
  });
});

test("check lists all problems that would keep serve from starting, and exits with 1", async () => {
  const environment = { RUNNEL_RUNS_SLOTS: "0", RUNNEL_RUNS_SLOST: "1", RUNNEL_AUTH_API_KEYS: "" };
  const { code, stdout } = await runCommand(["config", "check"], { environment });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ missing required config: auth\.hmac_secret/m);
  expect(stdout).toMatch(/^✗ RUNNEL_RUNS_SLOTS is "0": expected a whole number/m);
  expect(stdout).toMatch(/^✗ unknown variable RUNNEL_RUNS_SLOST: did you mean RUNNEL_RUNS_SLOTS\?$/m);
  const json = await runCommand(["config", "check", "--json"], { environment });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, problems: [{}, {}, {}].map(() => expect.any(String)) });
});

test("check finds no problem where serve would start", async () => {
  const environment = { RUNNEL_DEFAULTS_MODEL: "demo" };
  const human = await runCommand(["config", "check"], { environment });
  expect(human).toEqual({ code: 0, stdout: "nothing keeps `serve` from starting\n", stderr: "" });
  const json = await runCommand(["config", "check", "--json"], { environment });
  expect(JSON.parse(json.stdout)).toEqual({ ok: true, problems: [], warnings: [] });
});

test("explain and check show no character of a secret, in text or JSON", async () => {
  const environment = {
    RUNNEL_AUTH_HMAC_SECRET: "canary-hmac-secret",
    RUNNEL_AUTH_API_KEYS: "billing=canary-client-key-0001",
    RUNNEL_AUTH_ADMIN_TOKEN: "canary-admin-token",
    RUNNEL_PROVIDERS_OPENAI_KEY: "canary-openai-key",
    RUNNEL_PROVIDERS_ANTHROPIC_KEY: "canary anthropic key, which is not valid",
    DATABASE_URL: "postgres://runnel:canary-password@127.0.0.1:1/runnel",
  };
  for (const words of [["explain"], ["explain", "auth"], ["explain", "database.url"], ["check"]]) {
    for (const flags of [[], ["--json"]]) {
      const { stdout, stderr } = await runCommand(["config", ...words, ...flags], { environment });
      expect(stdout).not.toBe("");
      expect(stdout + stderr).not.toContain("canary");
    }
  }
});
