// `runnel dev` as a person uses it: in a folder, with agents in files, and with settings that change.

import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testDatabase } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { hasJail } from "../tools/bash/jailed.ts";
import { type CommandPlace, ownFolder, runCommand, runShell, startCommand } from "./command.ts";

async function startDev(words: readonly string[], { environment, ...place }: CommandPlace & { directory: string }) {
  const dev = startCommand(["dev", "--port", "0", ...words], {
    environment: { DATABASE_URL: await testDatabase(), RUNNEL_AUTH_API_KEYS: "", ...environment },
    ...place,
  });
  const url = await until("dev to be ready", () => /Runnel is ready on (http:\S+)/.exec(dev.stderr())?.[1]);
  await until("its lines", () => dev.stderr().includes("/stream\n"));
  return { ...dev, url };
}

const run = (url: string, ...words: string[]) =>
  runCommand(["run", "Which files are here? pace=0", "--url", url, ...words]);

test("sessions without a directory work in the folder of dev, and no tool leaves it", async () => {
  const outer = realpathSync(await ownFolder());
  const directory = join(outer, "project");
  mkdirSync(directory);
  writeFileSync(join(directory, "plan.txt"), "");
  writeFileSync(join(outer, "secret.txt"), "");
  const { url, stderr } = await startDev([], { directory });
  expect(stderr()).toContain(`files    ${directory}\n`);
  const { stdout } = await run(url);
  expect(stdout).toContain("plan.txt");
  expect(stdout).not.toContain("secret.txt");
  const line = /^ {2}runnel (run .*)$/m.exec(stderr())?.[1] ?? "";
  expect(line).toContain("Which files are here?");
});

test("the home folder, a folder around it, and callers with credentials get directories of their own", async () => {
  const home = realpathSync(await ownFolder());
  mkdirSync(join(home, "in"));
  writeFileSync(join(home, "secret.txt"), "");
  const own = "files    each session has a directory of its own";
  const { url, stderr } = await startDev([], { directory: home, environment: { HOME: home } });
  expect(stderr()).toContain(own);
  expect((await run(url)).stdout).not.toContain("secret.txt");
  const around = await startDev([], { directory: home, environment: { HOME: join(home, "in") } });
  expect(around.stderr()).toContain(own);
  const withKeys = await startDev([], { directory: home, environment: { RUNNEL_AUTH_HMAC_SECRET: "a secret" } });
  expect(withKeys.stderr()).toContain(own);
});

const reviewer = "---\nname: reviewer\ndescription: Reads.\ntools: [read_file]\nmodel: demo\n---\nRead closely.\n";

test("agents in files are presets, and are read again when they change", async () => {
  const directory = await ownFolder();
  const agents = join(directory, "agents");
  mkdirSync(agents);
  writeFileSync(join(agents, "reviewer.md"), reviewer);
  writeFileSync(join(agents, "poet.yaml"), "model: demo\nsystem_prompt: Rhyme.\ntemperature: 0.5\n");
  writeFileSync(join(agents, "notes.txt"), "not an agent");
  const dev = await startDev(["--agents", "agents"], { directory });
  const presets = async () => {
    const response = await fetch(`${dev.url}/v1/presets`);
    return ((await response.json()) as { presets: unknown[] }).presets;
  };
  expect(await presets()).toMatchObject([
    { name: "default" },
    { name: "poet", model: "demo", system_prompt: "Rhyme.", temperature: 0.5 },
    { name: "reviewer", model: "demo", system_prompt: "Read closely.", tools: { builtin: ["read_file"] } },
  ]);
  writeFileSync(join(agents, "poet.yaml"), "model: demo\n\ntemprature: 1\n");
  await until("the problem", () =>
    dev.stderr().includes("poet.yaml:3: temprature: unknown field; did you mean temperature?"),
  );
  expect(await presets()).toHaveLength(3);
  rmSync(join(agents, "poet.yaml"));
  writeFileSync(join(agents, "reviewer.md"), reviewer.replace("closely", "twice"));
  await until("the restart", () => dev.stderr().includes(`Runnel is ready again on ${dev.url}`));
  expect(await presets()).toMatchObject([{ name: "default" }, { name: "reviewer", system_prompt: "Read twice." }]);
  dev.child.kill("SIGINT");
  expect((await dev.ended).code).toBe(0);
});

test("an agent's file that is wrong is refused with its file, line and field", async () => {
  const directory = await ownFolder();
  const wrong = {
    "a.md": "no front matter",
    "b.md": "---\nmodel: 1\n---\n",
    "c.yaml": "name: other\nmodel: demo\nmodel: demo\n",
    "d e.yaml": "model: demo\n",
    "e.yaml": "\n- a list\n",
    "f.yaml": "name: other\n",
  };
  for (const [name, text] of Object.entries(wrong)) {
    writeFileSync(join(directory, name), text);
  }
  const { code, stderr } = await runCommand(["dev", "--agents", "."], { directory });
  expect(code).toBe(1);
  for (const problem of [
    "a.md:1: it does not begin with front matter",
    "b.md:2: model: expected string",
    "c.yaml:3: Map keys must be unique",
    "d e.yaml:1: name: the name of the file is the agent's",
    "e.yaml:2: it has to be fields",
    'f.yaml:1: name: must be "f", the name of its file',
  ]) {
    expect(stderr).toContain(problem);
  }
  const missing = await runCommand(["dev", "--agents", "nothing"], { directory });
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the directory of --agents cannot be read: ENOENT"),
  });
});

test("a run goes on when the file of settings changes and dev restarts; a wrong file changes nothing", async () => {
  const directory = await ownFolder();
  const dev = await startDev([], { directory });
  const running = startCommand(["run", "hello words=200 pace=20", "--url", dev.url]);
  await until("some text", () => running.stdout().includes("demo model"));
  writeFileSync(join(directory, "config.yaml"), "retention: {dais: 3}\n");
  await until("the problem", () => dev.stderr().includes("the changed settings are not used"));
  writeFileSync(join(directory, "config.yaml"), `agents: {presets: ['poet={"modl": "demo"}']}\n`);
  await until("the next one", () => dev.stderr().includes("poet is no agent"));
  writeFileSync(join(directory, "config.yaml"), "retention: {days: 3}\n");
  await until("the restart", () => dev.stderr().includes(`Runnel is ready again on ${dev.url}`));
  expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ completed") });
});

test("--open opens the console in the browser", async () => {
  const directory = await ownFolder();
  const opened = join(directory, "opened");
  writeFileSync(
    join(directory, "xdg-open"),
    `#!/bin/sh\necho "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`,
  );
  chmodSync(join(directory, "xdg-open"), 0o755);
  const PATH = `${directory}:${process.env.PATH}`;
  const { url } = await startDev(["--open"], { directory, environment: { PATH } });
  await until("the browser", () => existsSync(opened));
  expect(readFileSync(opened, "utf8")).toBe(`${url}/console\n`);
});

test("dev limits no caller, and says why it cannot start where another program has its port", async () => {
  const directory = await ownFolder();
  const { url } = await startDev([], { directory });
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => (await fetch(`${url}/v1/sessions`)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  const { port } = new URL(url);
  const environment = { DATABASE_URL: await testDatabase() };
  expect(await runCommand(["dev", "--port", port], { directory, environment })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(`runnel: port ${port} .* is already in use: .*--port`),
  });
});

// Another view of the disk, as the jail of commands makes one.
test.runIf(hasJail).each([
  ["--ro-bind", "is on a read-only disk"],
  ["--size 8388608 --tmpfs", "is full: make room"],
])("with %s around its folder, dev says what is wrong with the disk, and what to do", async (mount, problem) => {
  const directory = await ownFolder();
  const source = mount === "--ro-bind" ? `'${directory}'` : "";
  const script = `bwrap --dev-bind / / ${mount} ${source} '${directory}' --chdir '${directory}' $runnel`;
  const { code, stderr } = await runShell(`${script} dev --port 0`, { environment: { DATABASE_URL: "" } });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problem) });
  expect(stderr).toContain("RUNNEL_DATABASE_DIR");
  if (mount === "--ro-bind") {
    const doctor = await runShell(`${script} doctor --port 0`, { environment: { DATABASE_URL: "" } });
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(/✗ database .*cannot write/) });
  }
});
