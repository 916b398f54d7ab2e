// Which service a command calls, and with which key: flags, the environment, and the profiles of `runnel login`.

import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findTarget } from "../../src/cli/target.ts";
import { keyOf } from "../harness/credentials.ts";
import { programPath } from "../harness/program.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { ownFolder, runCommand, startInTerminal } from "./command.ts";

const [key, other] = [keyOf("tenant-a"), keyOf("tenant-b")];

async function openUser() {
  const folder = await ownFolder();
  const environment = { XDG_CONFIG_HOME: folder, RUNNEL_API_KEY: "" };
  const path = join(folder, "runnel", "profiles.json");
  return {
    ...{ environment, path },
    run: (words: readonly string[], more: Record<string, string> = {}) =>
      runCommand(words, { environment: { ...environment, ...more } }),
    login: (words: readonly string[], input: string) => runCommand(["login", ...words], { environment, input }),
    write: async (text: string, mode = 0o600) => {
      await mkdir(join(folder, "runnel"), { recursive: true });
      await writeFile(path, text, { mode });
    },
  };
}

test("login keeps the URL and the key for later commands, and logout removes them", async () => {
  const { url } = await startService();
  const { run, login, path } = await openUser();
  const done = await login(["--url", url], `${key}\n`);
  expect(done).toEqual({
    ...{ code: 0, stderr: "" },
    stdout: `${url} knows you as client tenant-a; profile default is in ${path}\n`,
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(path, ".."))).mode & 0o077).toBe(0);
  const json = await login(["--url", url, "--profile", "second", "--json"], other);
  expect(JSON.parse(json.stdout)).toEqual({ profile: "second", url, client_id: "tenant-b", file: path });
  expect(await readFile(path, "utf8")).toContain(key);
  const started = await run(["run", "hello pace=0", "--detach", "--profile", "second"]);
  const isListed = async (words: readonly string[], more = {}) =>
    (await run(["runs", "list", ...words], more)).stdout.includes(started.stdout.trim());
  expect(await isListed([])).toBe(false);
  expect(await isListed(["--profile", "second"])).toBe(true);
  expect(await isListed([], { RUNNEL_PROFILE: "second" })).toBe(true);
  expect(await isListed([], { RUNNEL_API_KEY: other })).toBe(true);
  expect((await run(["logout", "--profile", "second"])).stdout).toContain("removed profile second");
  expect(await run(["runs", "list", "--profile", "secnod"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/there is no profile secnod\n {2}fix {6}`runnel login --profile secnod` makes it/),
  });
  expect((await run(["logout"])).code).toBe(0);
  await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a person types the key at a terminal, which does not show it", async () => {
  const { url } = await startService();
  const { environment, path, run } = await openUser();
  const terminal = startInTerminal([process.execPath, programPath, "login"], { environment });
  await until("the question for the URL", () => terminal.stdout().includes("URL of the service"));
  terminal.type(`${url}\r`);
  await until("the question for the key", () => terminal.stdout().includes("API key"));
  terminal.type(`${key}\r`);
  const { stdout, code } = await terminal.ended;
  expect(code).toBe(0);
  expect(stdout).toContain("knows you as client tenant-a");
  expect(stdout).not.toContain(key);
  expect(await readFile(path, "utf8")).toContain(key);
  expect((await run(["usage"])).code).toBe(0);
});

test("a wrong key and an absent service write nothing", async () => {
  const { url } = await startService();
  const { login, path } = await openUser();
  expect(await login(["--url", url], "wrong")).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringMatching(
      /^runnel: invalid bearer token\n {2}fix {6}check RUNNEL_API_KEY or the key of `runnel login`/,
    ),
  });
  expect(await login(["--url", url], "")).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringMatching(
      /asks for an API key, and none was given\n {2}fix {6}type it where `runnel login` asks/,
    ),
  });
  expect(await login(["--url", "http://127.0.0.1:1"], key)).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringContaining("no service at http://127.0.0.1:1"),
  });
  await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a file that others may read is refused, and so is one that is no file of profiles", async () => {
  const { run, write, path } = await openUser();
  const refused = async (text: string, reason: string, fix: string, mode?: number) => {
    await write(text, mode);
    const { code, stderr } = await run(["usage", "--json"]);
    expect([code, JSON.parse(stderr)]).toMatchObject([1, { reason, fix: expect.stringContaining(fix) }]);
  };
  await refused("{", "INVALID_FILE", "`runnel login` again");
  await refused('{"default": {"url": "http://127.0.0.1:1"}}', "INVALID_FILE", "`runnel login` again");
  await chmod(path, 0o640);
  expect((await run(["usage"])).stderr).toMatch(
    /other users of this machine may read or write .*\n {2}fix {6}chmod 600/,
  );
  // What the environment says in full needs no file.
  expect((await run(["usage", "--url", "http://127.0.0.1:1"], { RUNNEL_API_KEY: key })).stderr).toContain(
    "no service at",
  );
  await rm(path);
  await mkdir(path, { mode: 0o700 });
  expect((await run(["usage"])).stderr).toMatch(/cannot read .*profiles\.json: EISDIR.*\n {2}fix {6}make it a file/);
});

test("a flag goes before the environment, the environment before the profile, and that before this machine's service", async () => {
  const { environment, write } = await openUser();
  await write(
    JSON.stringify({ default: { url: "http://own", api_key: "own" }, far: { url: "http://far", api_key: "far" } }),
  );
  const local = { XDG_CONFIG_HOME: environment.XDG_CONFIG_HOME, RUNNEL_SERVER_PORT: "7000" };
  const variables = { ...local, RUNNEL_URL: "http://variable", RUNNEL_API_KEY: "variable" };
  const cases = [
    [{ url: "http://flag" }, variables, "http://flag", "variable"],
    [{}, variables, "http://variable", "variable"],
    [{}, { ...variables, RUNNEL_PROFILE: "far" }, "http://variable", "variable"],
    [{}, { ...local, RUNNEL_PROFILE: "far" }, "http://far", "far"],
    [{}, local, "http://own", "own"],
    [{ profile: "far" }, variables, "http://far", "far"],
    [{ profile: "far" }, { ...local, RUNNEL_PROFILE: "default" }, "http://far", "far"],
    [{}, { ...local, XDG_CONFIG_HOME: "/dev/null" }, "http://127.0.0.1:7000", ""],
  ] as const;
  for (const [flags, from, url, apiKey] of cases) {
    expect(await findTarget(flags, from)).toEqual({ url, apiKey });
  }
});

test("the key of a profile goes to the URL of that profile alone", async () => {
  const { environment, write } = await openUser();
  await write(JSON.stringify({ default: { url: "https://own/", api_key: "own" } }));
  expect(await findTarget({ url: "https://own" }, environment)).toEqual({ url: "https://own", apiKey: "own" });
  for (const url of ["https://own.evil", "http://own", "https://own:8443"]) {
    expect(await findTarget({ url }, environment)).toEqual({ url, apiKey: "" });
    expect(await findTarget({}, { ...environment, RUNNEL_URL: url })).toEqual({ url, apiKey: "" });
  }
  await expect(findTarget({}, { ...environment, RUNNEL_URL: "own" })).rejects.toMatchObject({
    message: expect.stringContaining('RUNNEL_URL is "own"'),
    exitCode: 2,
  });
});
