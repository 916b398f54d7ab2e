// MCP servers that the operator names as programs, in the jail.

import { readFileSync } from "node:fs";
import { realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { readMcpServers } from "../../src/platform/config/mcp-servers.ts";
import { test } from "../fixtures.ts";
import { countProcesses, hasJail, openCommands } from "../tools/bash/jailed.ts";
import { openPrograms, openRun, type Run, type RunOptions } from "./stage.ts";

const script = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
let count = 0;
const namesOf = (path) => readFileSync(path, "utf8").split("\\0");
const tools = {
  count: () => (count += 1),
  die: () => process.exit(7),
  environment: () => JSON.stringify(process.env),
  write: () => writeFileSync("note.txt", "written"),
  spy: () => existsSync(process.argv[2]) || existsSync("/root") || namesOf("/proc/1/environ").some((name) => /^(PG|RUNNEL|DATABASE)/.test(name)),
  network: () => fetch("http://127.0.0.1:65000").then(String, (error) => error.cause.code),
};
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } }),
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": async ({ name }) => ({ content: [{ type: "text", text: String(await tools[name]()) }] }),
};
console.log("ready, in words that are no message");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id !== undefined) {
    const end = answer === undefined ? { error: { code: -32601, message: "unknown" } } : { result: await answer(params) };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...end }));
  }
}
`;

type Choice = Pick<RunOptions, "idleMs" | "programs" | "sessionId">;

async function open(folder: string, choice: Choice = {}): Promise<Run> {
  const workDir = await realpath(folder);
  await writeFile(join(workDir, "server.mjs"), script);
  const line = {
    command: process.execPath,
    args: ["{work_dir}/server.mjs", join(repositoryRoot, "package.json")],
    env: { SERVER_KEY: "key-4711-secret" },
    folders: [dirname(process.execPath)],
  };
  const [setting = expect.fail("the line is valid")] = readMcpServers(`srv=${JSON.stringify(line)}`) ?? [];
  return await openRun([{}], {
    ...{ settings: [setting], commands: await openCommands({}), ...choice },
    place: { workDir, realPath: workDir, hidden: [] },
  });
}

test.skipIf(!hasJail)(
  "a program keeps its state for the session, and sees nothing of the service",
  async ({ folder }) => {
    const run = await open(folder);
    expect(run.tools.map(({ name }) => name)).toContain("srv_count");
    expect(await run.call("srv_count")).toEqual({ content: "1" });
    expect(await run.call("srv_count")).toEqual({ content: "2" });
    expect(await run.call("srv_spy")).toEqual({ content: "false" });
    expect(await run.call("srv_network")).toEqual({ content: "ECONNREFUSED" });
    const environment = await run.call("srv_environment");
    expect(environment).toEqual({ content: expect.stringContaining('"SERVER_KEY":"[redacted]"') });
    expect(Object.keys(JSON.parse((environment as { content: string }).content))).not.toContain("DATABASE_URL");
    await run.call("srv_write");
    expect(readFileSync(join(folder, "note.txt"), "utf8")).toBe("written");
  },
);

test.skipIf(!hasJail)(
  "runs of one session share its program, and another session has one of its own",
  async ({ folder }) => {
    const programs = openPrograms({ commands: await openCommands({}) });
    const [one, next, other] = [
      await open(folder, { programs }),
      await open(folder, { programs }),
      await open(folder, { programs, sessionId: "s2" }),
    ];
    expect(await one.call("srv_count")).toEqual({ content: "1" });
    expect(await next.call("srv_count")).toEqual({ content: "2" });
    expect(await other.call("srv_count")).toEqual({ content: "1" });
  },
);

test.skipIf(!hasJail)("a replica that stops starts no program", async ({ folder }) => {
  const programs = openPrograms({ commands: await openCommands({}) });
  await programs.close();
  await expect(open(folder, { programs })).rejects.toThrow("this replica is stopping");
  expect(countProcesses(join(await realpath(folder), "server.mjs"))).toBe(0);
});

test.skipIf(!hasJail)("a program that dies is started once more, and not again", async ({ folder }) => {
  const run = await open(folder);
  expect(await run.call("srv_die")).toEqual({ error: "the program ended (status 7)" });
  expect(await run.call("srv_count")).toEqual({ content: "1" });
  expect(await run.call("srv_die")).toEqual({ error: "the program ended (status 7)" });
  const error = "the program of the server has ended twice in this run: it is not started again";
  expect(await run.call("srv_count")).toEqual({ error });
});

test.skipIf(!hasJail)("an idle program is stopped", async ({ folder }) => {
  const run = await open(folder, { idleMs: 300 });
  expect(await run.call("srv_count")).toEqual({ content: "1" });
  const path = await realpath(folder);
  expect(countProcesses(join(path, "server.mjs"))).toBeGreaterThan(0);
  await run[Symbol.asyncDispose]();
  await expect.poll(() => countProcesses(join(path, "server.mjs")), { timeout: 10_000 }).toBe(0);
});
