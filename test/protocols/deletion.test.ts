// Each protocol can be deleted: its folders, its packages of the contract and its lines in the two lists. Nothing in the rest names its
// words or imports its parts. Without several protocols the rest type-checks, starts and completes a run whose call a person approves.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { protocols } from "../../src/app/protocols.ts";
import { readSourceFiles } from "../architecture/source-file.ts";
import { openFolder } from "../fixtures.ts";
import { testDatabase } from "../harness/database.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
/** Allows for a type check of the whole service, and a start. */
const deletionTimeoutMs = 120_000;

const names = protocols.map(({ name }) => name);

test.each(names)("nothing else names %s or imports its parts", async (name) => {
  const copy = await copyWithout([name]);
  for (const folder of ["src", "console/src"]) {
    expect(await findWords(join(copy, folder), wordsOf(name))).toEqual([]);
    expect(await findLostImports(copy, folder)).toEqual([]);
  }
});

// The rest needs none of them, so what holds without several of them holds without each.
test.each([0, 1])("without every second protocol, the rest works: %i", { timeout: deletionTimeoutMs }, async (rest) => {
  const copy = await copyWithout(names.filter((_, index) => index % 2 === rest));
  // Threads share no checker: two of them compute 1.7 times as much.
  const { stdout } = await run(
    join(root, "node_modules/.bin/tsc"),
    ["--project", "tsconfig.deletion.json", "--singleThreaded"],
    {
      cwd: copy,
      timeout: deletionTimeoutMs,
    },
  ).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
  const script = join(copy, "one-run.ts");
  await writeFile(script, oneRun);
  const started = await run(process.execPath, [script], {
    cwd: copy,
    env: { ...process.env, TEST_URL: await testDatabase() },
    timeout: deletionTimeoutMs,
  });
  expect(started.stdout).toBe("completed\n");
});

interface Parts {
  /** The folders of gen/runnel that are generated from the protocol's packages. */
  readonly packages: readonly string[];
  readonly hasCommands: boolean;
  /** The folder of console/src with its views, and the style sheet of the same name. */
  readonly views?: string;
}

/** Sessions belong to the core, so the Agent Runner and ACP have no packages of their own. */
const partsOf: Readonly<Record<string, Parts>> = {
  a2a: { packages: [], hasCommands: false },
  acp: { packages: [], hasCommands: false },
  "agent-runner": { packages: [], hasCommands: false },
  langbot: { packages: ["runner", "host"], hasCommands: true, views: "runners" },
  jobspec: { packages: ["job"], hasCommands: true, views: "jobs" },
  exchange: { packages: ["exchange"], hasCommands: true, views: "exchanges" },
  community: { packages: ["community"], hasCommands: false, views: "forum" },
};

test("every package of the contract belongs to the core or to one protocol", async () => {
  const packages = Object.values(partsOf).flatMap((parts) => parts.packages);
  expect((await readdir(join(root, "proto/runnel"))).toSorted()).toEqual([...packages, "options", "v1"].toSorted());
});

/** The words by which others could name the protocol. */
function wordsOf(name: string): readonly string[] {
  const {
    services,
    reasons = {},
    events = {},
    failpoints = [],
  } = protocols.find((each) => each.name === name) ?? expect.fail(name);
  return [
    ...services.map((service) => service.name),
    ...Object.keys(reasons),
    ...Object.keys(events),
    ...Object.values(events).map((row) => row.name),
    ...failpoints,
  ];
}

/** Returns the lines below a directory that have one of the words. */
async function findWords(directory: string, words: readonly string[]): Promise<string[]> {
  const pattern = new RegExp(`(?<![\\w.-])(?:${words.map((word) => RegExp.escape(word)).join("|")})(?![\\w-])`);
  const paths = (await readdir(directory, { recursive: true })).filter((path) => /\.tsx?$/.test(path));
  expect(paths.length).toBeGreaterThan(100);
  const found = await Promise.all(
    paths.map(async (path) => {
      const lines = (await readFile(join(directory, path), "utf8")).split("\n");
      return lines.flatMap((line, index) =>
        words.length > 0 && pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      );
    }),
  );
  return found.flat();
}

/** Returns the imports below a folder of the copy that lead to something that was deleted. */
async function findLostImports(copy: string, folder: string): Promise<string[]> {
  const files = await readSourceFiles(join(copy, folder));
  return files.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier }) => {
      const target = specifier.startsWith("#") ? specifier.slice(1) : join(folder, dirname(path), specifier);
      const isOurs = /^[#.]/.test(specifier) && copied.some((each) => target.startsWith(`${each}/`));
      const isLost = isOurs && existsSync(join(root, target)) && !existsSync(join(copy, target));
      return isLost ? [`${path}: ${specifier}`] : [];
    }),
  );
}

const copied = ["src", "gen", "migrations", "package.json", "tsconfig.json", "types", "console/src"];

async function copyWithout(left: readonly string[]): Promise<string> {
  const copy = await openFolder();
  for (const each of copied) {
    await cp(join(root, each), join(copy, each), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  for (const name of left) {
    await deleteProtocol(copy, name);
  }
  await writeFile(
    join(copy, "tsconfig.deletion.json"),
    JSON.stringify({ extends: "./tsconfig.json", include: ["src", "types"], exclude: [] }),
  );
  return copy;
}

async function deleteProtocol(copy: string, name: string): Promise<void> {
  const parts = partsOf[name];
  if (parts === undefined) {
    throw new Error(`which packages belong to ${name}?`);
  }
  await rm(join(copy, "src/protocols", name), { recursive: true });
  await removeLine(join(copy, "src/app/protocol-list.ts"), `"../protocols/${name}/protocol.ts"`);
  for (const each of parts.packages) {
    await rm(join(copy, "gen/runnel", each), { recursive: true });
  }
  if (parts.views !== undefined) {
    const console = join(copy, "console/src");
    await rm(join(console, parts.views), { recursive: true });
    await rm(join(console, `style/${parts.views}.css`));
    await removeImports(join(console, "views.ts"), `./${parts.views}/`);
    await removeImports(join(console, "signatures/panes.ts"), `../${parts.views}/`);
    await removeLine(join(console, "main.tsx"), `"./style/${parts.views}.css"`);
  }
  if (parts.hasCommands) {
    await rm(join(copy, "src/cli", name), { recursive: true });
    await removeLine(join(copy, "src/cli/protocol-list.ts"), `"./${name}/commands.ts"`);
  }
}

/** Removes the imports from a folder and the lines that use them. */
async function removeImports(path: string, folder: string): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n");
  const names = lines.flatMap((line) => {
    const [, name, from = ""] = /^import \{ (\w+) \} from "([^"]*)"/.exec(line) ?? [];
    return name !== undefined && from.startsWith(folder) ? [name] : [];
  });
  await writeFile(path, lines.filter((line) => !names.some((name) => line.includes(name))).join("\n"));
}

async function removeLine(path: string, part: string): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n");
  const others = lines.filter((line) => !line.includes(part));
  expect(others).toHaveLength(lines.length - 1);
  await writeFile(path, others.join("\n"));
}

const oneRun = `
import { openApp } from "./src/app/app.ts";
import { sourcesOf } from "./src/app/settings.ts";
import { readConfig } from "./src/platform/config/load.ts";
import { createLogger } from "./src/platform/telemetry/logger.ts";

const sources = sourcesOf({}, {
  databaseUrl: process.env.TEST_URL ?? "",
  serverHost: "127.0.0.1",
  serverPort: 0,
  sessionsWorkRoot: import.meta.dirname + "/work",
  defaultModel: "demo",
  databasePoolSize: 4,
  // It asks again without a pause.
  rateLimitRps: 0,
});
const app = await openApp({ config: readConfig(sources), sources, logger: createLogger("silent") });
const root = "http://127.0.0.1:" + app.port + "/v1";
const api = root + "/sessions";
const headers = { "content-type": "application/json" };
const post = async (url: string, body: object) => {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return await response.json() as Record<string, string>;
};
const tools = { builtin: ["list_dir"], approve: ["list_dir"] };
const { session_id: id } = await post(api, { agent: { name: "demo", tools } });
await post(api + "/" + id + "/messages", { message: "List the files. words=3 pace=0" });
let isAsked = false;
for (;;) {
  const list = await (await fetch(root + "/approvals?state=pending")).json() as { approvals: { approval_id: string, digest: string }[] };
  for (const { approval_id, digest } of list.approvals) {
    isAsked = true;
    await post(root + "/approvals/" + approval_id + ":decide", { decision: "approve", digest });
  }
  const { status } = await (await fetch(api + "/" + id)).json() as { status: string };
  if (status !== "running" && status !== "created") {
    process.stdout.write((isAsked ? status : "not asked") + "\\n");
    break;
  }
}
await app.close();
`;
