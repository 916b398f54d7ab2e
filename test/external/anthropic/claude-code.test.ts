// Claude Code, unmodified: its base URL and its key are ours, and it has no account. npm installs it into a folder of the test: 250 MB are
// too large for everybody who installs Runnel.

import { access, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../../../scripts/run-command.ts";
import { answer, callTools, type Script } from "../../fakes/provider.ts";
import { openCluster, openProvider } from "../../fault/cluster.ts";
import { openFolder } from "../../fixtures.ts";
import { keyOf } from "../../harness/credentials.ts";
import { query } from "../../harness/database.ts";
import { findFreePorts } from "../../harness/free-ports.ts";
import { until } from "../../harness/wait.ts";
import { startProgram } from "../program.ts";

const installMaxMs = 600_000;
let program: string;

beforeAll(async () => {
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  const folder = await mkdtemp(join(tmpdir(), "runnel-claude-code-"));
  await cp(join(import.meta.dirname, "claude-code"), folder, { recursive: true });
  await runCommand("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  // The script of the package, which puts its binary for this machine into place.
  await runCommand("node", [join(folder, "node_modules/@anthropic-ai/claude-code/install.cjs")]);
  program = join(folder, "node_modules/.bin/claude");
  return async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  };
}, installMaxMs);

/** Starts the program on its task, in an empty home. */
async function startClaude(url: string) {
  const home = await openFolder();
  const file = join(home, "note.txt");
  await writeFile(file, "The word is plover.\n");
  const args = ["-p", "Which word has note.txt? Copy it.", "--model", "openai:fake", "--allowedTools", "Read", "Bash"];
  const environment = { HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: keyOf() };
  return { file, copy: join(home, "copy.txt"), running: startProgram(program, args, { environment, directory: home }) };
}

/**
 * Reads the file, copies it, and answers by `last`. Other questions of the program, as for a title, get a text. `then` follows the copy in
 * the same command.
 */
function work(files: { file: string; copy: string }, last: Script, then = ""): Script {
  return (wire, request) => {
    const { messages, tools } = request.body;
    const results = messages.filter(({ role }) => role === "tool");
    const callOf = (name: string, args: object) =>
      callTools({ id: `call_${results.length}`, name, arguments: JSON.stringify(args) })(wire, request);
    if (tools === undefined) {
      wire.text("A title");
      wire.done("stop");
      return;
    }
    switch (results.length) {
      case 0:
        return callOf("Read", { file_path: files.file });
      case 1:
        return callOf("Bash", { command: `cp ${files.file} ${files.copy}${then}`, description: "Copy the file" });
      default:
        return last(wire, request);
    }
  };
}

/** More than the program asks. */
const requestsMax = 40;

test("does a task with two calls, which is one session in the console", async () => {
  const { provider, environment } = await openProvider();
  const cluster = await openCluster(environment);
  const { url } = await cluster.start();
  const { running, ...files } = await startClaude(url);
  provider.respond(...Array.from({ length: requestsMax }, () => work(files, answer("The word is plover."))));
  const { stdout, exitCode } = await running.finished;
  expect([exitCode, stdout.toString().trim()]).toEqual([0, "The word is plover."]);
  expect(await readFile(files.copy, "utf8")).toBe("The word is plover.\n");
  const sessions = await query<{ runs: string }>(
    cluster.databaseUrl,
    `select count(*) as runs from run join session on session.id = run.session
     where session.delete_time is null group by session.id`,
  );
  expect(sessions).toHaveLength(1);
  expect(Number(sessions[0]?.runs)).toBeGreaterThanOrEqual(3);
  const [first] = provider.requests;
  const read = provider.requests.findLast(({ body }) => body.messages.some(({ role }) => role === "tool"));
  expect(JSON.stringify(first?.body.messages[0])).toContain("Claude Code");
  expect(JSON.stringify(read?.body.messages)).toContain("plover");
});

test("ends its task over a kill -9 in mid-answer", async () => {
  const { provider, environment } = await openProvider();
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({ ...environment, RUNNEL_SERVER_PORT: String(port) });
  const first = await cluster.start();
  const { running, ...files } = await startClaude(first.url);
  let answers = 0;
  const last: Script = async (wire) => {
    answers += 1;
    wire.text("The word is ");
    if (answers === 1) {
      await wire.hang();
      return;
    }
    wire.text("plover.");
    wire.done("stop");
  };
  provider.respond(...Array.from({ length: requestsMax }, () => work(files, last)));
  await until("the answer to begin", () => answers === 1);
  await first.kill();
  await cluster.start();
  const { stdout, exitCode } = await running.finished;
  expect([exitCode, stdout.toString().trim()]).toEqual([0, "The word is plover."]);
});

test("ends its task over a kill -9 between two turns, while its command runs", async () => {
  const { provider, environment } = await openProvider();
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({ ...environment, RUNNEL_SERVER_PORT: String(port) });
  const first = await cluster.start();
  const { running, ...files } = await startClaude(first.url);
  const go = `${files.copy}.go`;
  const wait = `; while [ ! -e ${go} ]; do sleep 0.1; done`;
  provider.respond(...Array.from({ length: requestsMax }, () => work(files, answer("The word is plover."), wait)));
  await until("the command to run", () =>
    access(files.copy).then(
      () => true,
      () => false,
    ),
  );
  await first.kill();
  await cluster.start();
  await writeFile(go, "");
  const { stdout, exitCode } = await running.finished;
  expect([exitCode, stdout.toString().trim()]).toEqual([0, "The word is plover."]);
});
