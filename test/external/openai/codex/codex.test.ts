// Codex, unmodified, against Runnel: a task with two commands ends right, also when the service dies in the middle of an answer. npm
// installs it, as the folder pins it: 400 MB are too large for everybody who installs Runnel.

import { access, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { runCommand } from "../../../../scripts/run-command.ts";
import { callTools, hangAfter, type Script } from "../../../fakes/provider.ts";
import { openCluster, openProvider } from "../../../fault/cluster.ts";
import { openFolder } from "../../../fixtures.ts";
import { authEnvironment, keyOf } from "../../../harness/credentials.ts";
import { findFreePorts } from "../../../harness/free-ports.ts";
import { GrpcClient } from "../../../harness/grpc.ts";
import { until } from "../../../harness/wait.ts";
import { speak } from "../../../openai/stage.ts";
import { startProgram } from "../../program.ts";

let codex = "";

/** 400 MB, from a registry that may be slow. */
const installMaxMs = 600_000;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "runnel-codex-"));
  await cp(join(import.meta.dirname, "packages"), folder, { recursive: true });
  await runCommand("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  codex = join(folder, "node_modules/@openai/codex/bin/codex.js");
  return () => rm(folder, { recursive: true });
}, installMaxMs);

const command = (id: string, cmd: string): Script =>
  callTools({ id, name: "exec_command", arguments: JSON.stringify({ cmd }) });
const one = command("call_1", "echo one > a.txt");
const commands = [one, command("call_2", "cat a.txt; echo two > b.txt")];

/** Starts a service and Codex in a folder of its own. `provider` is the name of the model's account. */
async function startTask(scripts: readonly Script[], model = "gpt-5") {
  const { provider, environment } = await openProvider();
  provider.respond(...scripts);
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({ ...environment, ...authEnvironment, RUNNEL_SERVER_PORT: String(port) });
  const service = await cluster.start();
  const [home, work] = [await openFolder(), await openFolder()];
  const settings = {
    name: "Runnel",
    base_url: `${service.url}/v1`,
    wire_api: "responses",
    env_key: "RUNNEL_KEY",
    request_max_retries: 30,
    stream_max_retries: 30,
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => [
    "-c",
    `model_providers.runnel.${key}=${JSON.stringify(value)}`,
  ]);
  const program = startProgram(
    process.execPath,
    [
      ...[codex, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"],
      ...["-m", model, "-c", 'model_provider="runnel"', ...flags, "Write two files."],
    ],
    { directory: work, environment: { HOME: home, CODEX_HOME: home, RUNNEL_KEY: keyOf() } },
  );
  return { provider, cluster, service, program, work };
}

/** Returns the sessions of the client with their transcripts as roles. */
async function readSessions(target: string): Promise<string[][]> {
  const client = new GrpcClient(target);
  const { sessions } = await client.call(SessionService.method.listSessions, {});
  return await Promise.all(
    sessions.map(async ({ sessionId }) => {
      const { messages } = await client.call(SessionService.method.listMessages, { sessionId, pageSize: 250 });
      return messages.map(({ message }) => message?.role ?? "");
    }),
  );
}

const conversation = ["user", "assistant", "tool", "assistant", "tool", "assistant"];

test("a task with two commands ends right, in one session", async () => {
  const { program, work, service } = await startTask([...commands, speak("All ", "done.")]);
  const { stdout, stderr, exitCode } = await program.finished;
  expect([exitCode, stderr]).toEqual([0, expect.anything()]);
  expect(stdout.toString()).toContain("All done.");
  expect(await readFile(join(work, "b.txt"), "utf8")).toBe("two\n");
  const [session, ...others] = await readSessions(service.target);
  expect(others).toEqual([]);
  expect(session?.slice(-conversation.length)).toEqual(conversation);
});

test("a task of a model that gets its tools as items and writes programs ends right", async () => {
  const input = "text(await tools.exec_command({ cmd: 'echo two > b.txt' }))";
  const script = callTools({ id: "call_1", name: "functions__exec", arguments: JSON.stringify({ input }) });
  const { program, work } = await startTask([script, speak("All done.")], "gpt-5.6-sol");
  const { stdout, exitCode } = await program.finished;
  expect(exitCode).toBe(0);
  expect(stdout.toString()).toContain("All done.");
  expect(await readFile(join(work, "b.txt"), "utf8")).toBe("two\n");
});

test("a task survives kill -9 in the middle of its last answer", async () => {
  const half: Script = hangAfter("All that");
  const { program, work, service, cluster, provider } = await startTask([...commands, half, speak("All ", "done.")]);
  await until("the last answer", () => provider.requests.length === 3);
  await service.kill();
  const next = await cluster.start();
  const { stdout, exitCode } = await program.finished;
  expect(exitCode).toBe(0);
  expect(stdout.toString()).toContain("All done.");
  expect(provider.requests).toHaveLength(4);
  expect(await readFile(join(work, "b.txt"), "utf8")).toBe("two\n");
  const [session, ...others] = await readSessions(next.target);
  expect(others).toEqual([]);
  expect(session?.slice(-conversation.length)).toEqual(conversation);
});

test("a task survives kill -9 between two turns, while a command runs", async () => {
  const waiting = command("call_2", "cat a.txt; echo two > b.txt; while [ ! -e go ]; do sleep 0.1; done");
  const { program, work, service, cluster, provider } = await startTask([one, waiting, speak("All ", "done.")]);
  await until("the command to run", () =>
    access(join(work, "b.txt")).then(
      () => true,
      () => false,
    ),
  );
  await service.kill();
  const next = await cluster.start();
  await writeFile(join(work, "go"), "");
  const { stdout, exitCode } = await program.finished;
  expect(exitCode).toBe(0);
  expect(stdout.toString()).toContain("All done.");
  expect(provider.requests).toHaveLength(3);
  const [session, ...others] = await readSessions(next.target);
  expect(others).toEqual([]);
  expect(session?.slice(-conversation.length)).toEqual(conversation);
});
