// Where settings come from, and which source wins: defaults < file < environment < command line.

import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { explainConfig } from "../../src/platform/config/explain.ts";
import { readConfig } from "../../src/platform/config/load.ts";
import type { ConfigSources } from "../../src/platform/config/resolve.ts";
import { makeTempConfig, refusalOf, test } from "./temp-config.ts";

test("each source overrides the previous one, and explain names the source", async ({ temp }) => {
  const at = (more: Partial<ConfigSources>): [string | undefined, string | undefined] => {
    const row = explainConfig({ ...temp.sources, ...more }).find(({ key }) => key === "server.port");
    const { serverPort } = readConfig({ ...temp.sources, ...more });
    expect(row?.value).toBe(String(serverPort));
    return [row?.value, row?.origin];
  };
  expect(at({})).toEqual(["8090", "default"]);
  const path = await temp.write("config.yaml", "server: {port: 1}\n");
  expect(at({})).toEqual(["1", `file ${path}`]);
  const documented = { AGENT_RUNNER_SERVER_PORT: "2" };
  expect(at({ environment: documented })).toEqual(["2", "environment AGENT_RUNNER_SERVER_PORT"]);
  const environment = { ...documented, RUNNEL_SERVER_PORT: "3" };
  expect(at({ environment })).toEqual(["3", "environment RUNNEL_SERVER_PORT"]);
  expect(at({ environment: { RUNNEL_SERVER_PORT: "" } })).toEqual(["1", `file ${path}`]);
  const settings = ["server.port=5", "server.port=4"];
  expect(at({ environment, settings })).toEqual(["4", "flag"]);
  expect(at({ environment, settings, flags: { serverPort: 0 } })).toEqual(["0", "flag"]);
  // Returns to the default.
  expect(at({ environment, settings: ["server.port="] })).toEqual(["8090", "flag"]);
  expect(at({ defaults: { serverPort: 9 } })).toEqual(["1", `file ${path}`]);
  expect(at({ defaults: { serverPort: 9 }, file: false })).toEqual(["9", "default"]);
});

test("a secret comes from the config file, the file of a variable or the variable; the last one wins", async () => {
  const temp = await makeTempConfig();
  const secretFile = await temp.write("secret", " of the variable's file \n");
  const originOf = (environment: Record<string, string>): [string, string | undefined] => {
    const sources = { ...temp.sources, environment };
    const row = explainConfig(sources).find(({ key }) => key === "auth.hmac_secret");
    return [readConfig(sources).authHmacSecret, row?.origin];
  };
  const path = await temp.write("config.yaml", "auth: {hmac_secret: of the config}\n");
  expect(originOf({})).toEqual(["of the config", `file ${path}`]);
  // A relative name is relative to the folder in which the command was started.
  for (const name of [secretFile, "secret"]) {
    const environment = { AGENT_RUNNER_AUTH_HMAC_SECRET_FILE: name };
    const origin = "file of AGENT_RUNNER_AUTH_HMAC_SECRET_FILE";
    expect(originOf(environment)).toEqual(["of the variable's file", origin]);
    const both = { ...environment, RUNNEL_AUTH_HMAC_SECRET: "direct" };
    expect(originOf(both)).toEqual(["direct", "environment RUNNEL_AUTH_HMAC_SECRET"]);
  }
});

test("the file is the given one, else ./config.yaml, else the one in the home directory, else none is read", async () => {
  const { sources, write } = await makeTempConfig();
  const modelOf = (more: Partial<ConfigSources> = {}): string => readConfig({ ...sources, ...more }).defaultModel;
  expect(modelOf()).toBe("");
  await write("../home/.config/agent-runner/config.yaml", "defaults: {model: home}\n");
  expect(modelOf()).toBe("home");
  const here = await write("config.yaml", "defaults: {model: here}\n");
  expect(modelOf()).toBe("here");
  await write("other/named.yaml", "defaults: {model: named}\n");
  expect(modelOf({ file: "other/named.yaml" })).toBe("named");
  expect(modelOf({ file: join(sources.directory, "other/named.yaml") })).toBe("named");
  expect(modelOf({ file: false })).toBe("");
  await rm(here);
  expect(modelOf()).toBe("home");
  // Neither is a folder that can be opened.
  expect(modelOf({ home: `/${"a".repeat(1_000)}` })).toBe("");
  expect(modelOf({ home: join(sources.directory, "other/named.yaml") })).toBe("");
});

test("a given file that is missing or not a file is refused", async ({ temp: { sources } }) => {
  const missing = join(sources.directory, "nothing.yaml");
  expect(refusalOf({ ...sources, file: "nothing.yaml" })).toContain(`config file ${missing} cannot be read (ENOENT`);
  expect(refusalOf({ ...sources, file: "nothing.yaml" })).toContain("name another one with --config");
  expect(refusalOf({ ...sources, file: "." })).toContain(`config file ${sources.directory} cannot be read (EISDIR`);
});

test("mistakes of every source are reported at once", async () => {
  const temp = await makeTempConfig({ RUNNEL_SERVER_PROT: "1", RUNNEL_RUNS_SLOTS: "0" });
  const path = await temp.write("config.yaml", "log: {level: loud}\nlgo: {}\n");
  const settings = ["retention.days=never", "retention.dasy=1"];
  expect(refusalOf({ ...temp.sources, settings })).toBe(
    `Invalid config: ${[
      'RUNNEL_RUNS_SLOTS is "0": expected a whole number from 1 to 10000',
      '--set retention.days is "never": expected a whole number from 1 to 3650',
      `${path}:1: log.level is "loud": expected one of debug, info, warn, error, silent`,
      `${path}:2:1: unknown key lgo: did you mean log?`,
      "--set: unknown key retention.dasy: did you mean retention.days?",
      "unknown variable RUNNEL_SERVER_PROT: did you mean RUNNEL_SERVER_PORT?",
    ].join("; ")}`,
  );
});

test.for([
  ["server.port", "--set takes section.key=value, such as server.port=8090"],
  ["=8090", "--set takes section.key=value, such as server.port=8090"],
  ["s3cret==", "--set takes section.key=value, such as server.port=8090"],
  ["server.prot=s3cret", "--set: unknown key server.prot: did you mean server.port?"],
  [
    "auth.hmac_secret=s3cret",
    "seen by everybody on this machine: set RUNNEL_AUTH_HMAC_SECRET or RUNNEL_AUTH_HMAC_SECRET_FILE",
  ],
  ["database.url=postgres://a:s3cret@b/c", "set RUNNEL_DATABASE_URL or RUNNEL_DATABASE_URL_FILE instead"],
] as const)("--set %s is refused without showing the value", async ([setting, told], { temp: { sources } }) => {
  const message = refusalOf({ ...sources, settings: [setting] });
  expect(message).toContain(told);
  expect(message).not.toContain("s3cret");
});

test("a file with secrets that other users can read gives a warning only", async ({ temp }) => {
  const warnings = (): string[] => {
    const told: string[] = [];
    expect(readConfig(temp.sources, { onWarning: (warning) => told.push(warning) }).authHmacSecret).toBe("a");
    return told;
  };
  const path = await temp.write("config.yaml", "auth: {hmac_secret: a}\n");
  expect(warnings()).toEqual([]);
  for (const mode of [0o640, 0o604, 0o644]) {
    await chmod(path, mode);
    expect(warnings()).toEqual([
      expect.stringMatching(/config\.yaml holds secrets and can be read by others: chmod 600/),
    ]);
  }
  const open = await makeTempConfig({ RUNNEL_AUTH_HMAC_SECRET: "a" });
  await open.write("config.yaml", "server: {port: 80}\nauth: {hmac_secret: ''}\n", 0o644);
  readConfig(open.sources, { onWarning: (warning) => expect.fail(warning) });
});
