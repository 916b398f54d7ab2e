// The client for Python: every case of the conformance kit, what its tools say, and its wheel in an empty directory, used there
// as its README says while the service is killed.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { repositoryRoot, runCommand } from "../../scripts/run-command.ts";
import { cases, nameOf, runCases } from "../clients/kit.ts";
import { programSubject } from "../clients/subject.ts";
import { answer, callTools, hangAfter, type Script } from "../fakes/provider.ts";
import { openCluster, openProvider } from "../fault/cluster.ts";
import { keyOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { atFreePort, callWebhook, startForTasks, tasksPrinted, webhookTold } from "./clients/tasks.ts";
import { runProgram, startProgram } from "./program.ts";
import { type Environment, makeEnvironment } from "./runners/environment.ts";
import { openTalk } from "./runners/service.ts";

const python = inject("python");
const client = join(repositoryRoot, "clients/python");
const adapter = join(repositoryRoot, "clients/langbot");
const settings = join(client, "pyproject.toml");
const subject = join(import.meta.dirname, "python-client/subject.py");
const environment = { PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: "1" };
/** The kit has more than a hundred cases, and pip downloads. */
const longMs = 600_000;
const wheelMaxBytes = 250_000;

describe.skipIf(python === "")("the client for Python", () => {
  test.each([
    ["calls that wait", []],
    ["an event loop", ["--aio"]],
  ])("with %s passes every case of the kit", { timeout: longMs }, async (_, flags) => {
    const words = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const start = programSubject("env", [...words, python, subject, ...flags]);
    const verdicts = await runCases(cases, start, { atATime: 4 });
    expect(verdicts.map(({ name }) => name)).toEqual(cases.map(nameOf));
    expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });

  test("keeps a cancellation that comes with an answer", async () => {
    const { stdout } = await runProgram(python, [join(import.meta.dirname, "python-client/cancel.py")], {
      environment,
    });
    expect(stdout.toString()).toBe("cancelled\n");
  });

  test("leaves no call of a stream that failed to the end of the interpreter", async () => {
    const [port] = await findFreePorts(1);
    const program = join(import.meta.dirname, "python-client/calls_left.py");
    const { stdout } = await runProgram(python, [program, `http://127.0.0.1:${port}`], { environment });
    expect(stdout.toString()).toBe("DEADLINE_EXCEEDED\nUNAVAILABLE\n0\n");
  });

  test("pleases ruff and mypy, with the adapter and the programs of the tests", { timeout: longMs }, async () => {
    const runner = join(import.meta.dirname, "runners/python-client/runner.py");
    const own = ["cancel.py", "calls_left.py"].map((name) => join(import.meta.dirname, "python-client", name));
    const programs = [subject, runner, ...own];
    for (const words of [["format", "--check"], ["check"]]) {
      await runTool("ruff", [...words, client, adapter]);
      const more = join(import.meta.dirname, "python-client/adapters.py");
      await runTool("ruff", [...words, "--config", settings, ...programs, more]);
    }
    const mypy = ["--config-file", settings, "--cache-dir", "/dev/null"];
    await runTool("mypy", [...mypy, join(client, "runnel_client"), ...programs]);
    // The adapter needs a newer Python, and its SDK has no types.
    const words = ["--python-version", "3.11", "--ignore-missing-imports", join(adapter, "runnel_langbot")];
    await runTool("mypy", [...mypy, ...words]);
  });

  describe("as a wheel in an empty directory", () => {
    let place: Environment;
    let folder: string;
    let wheel: string;
    beforeAll(async () => {
      place = await makeEnvironment();
      folder = join(place.folder, "empty");
      mkdirSync(folder);
      const built = join(place.folder, "built");
      await runCommand(place.program("pip"), ["wheel", "--quiet", "--no-deps", "--wheel-dir", built, client]);
      wheel = join(built, "runnel_client-0.2.0-py3-none-any.whl");
      await place.install(`${wheel}[receipts]`);
      return place.remove;
    }, longMs);

    /** Writes a program of the README, which calls this port, and returns its path. */
    function writeExample(name: string, port = "8090"): string {
      const readme = readFileSync(join(client, "README.md"), "utf8");
      const blocks = [...readme.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
      const code = blocks.find((each) => each.startsWith(`# ${name}\n`)) ?? expect.unreachable(`no ${name}`);
      const path = join(folder, name);
      writeFileSync(path, code.replaceAll("8090", port));
      return path;
    }

    const startExample = (path: string, ...words: string[]) =>
      startProgram(place.program("python"), [path, ...words], {
        directory: folder,
        environment: { RUNNEL_API_KEY: keyOf() },
      });

    async function finishExample(path: string, ...words: string[]): Promise<string> {
      const { stdout, stderr, exitCode } = await startExample(path, ...words).finished;
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      return stdout.toString();
    }

    test("is small, and has its types", async () => {
      expect(statSync(wheel).size).toBeLessThan(wheelMaxBytes);
      const [, site = ""] =
        /^Location: (.*)$/m.exec(await runCommand(place.program("pip"), ["show", "runnel-client"])) ?? [];
      const names = readdirSync(join(site, "runnel_client"));
      expect(names).toEqual(expect.arrayContaining(["py.typed", "contract.binpb", "v1.pyi", "host_v1.pyi"]));
    });

    test("gives the examples of its README types that mypy --strict finds no fault with", async () => {
      const names = ["follow.py", "ask.py", "tasks.py", "webhook.py", "receipt.py", "my_runner.py"];
      const paths = names.map((name) => writeExample(name));
      const options = ["--strict", "--cache-dir", "/dev/null", "--python-executable", place.program("python")];
      const check = (files: readonly string[]) =>
        startProgram(python, ["-m", "mypy", ...options, ...files], { directory: folder }).finished;
      expect((await check(paths)).stdout.toString()).toContain("no issues found in 6 source files");
      // It has types: a field that does not exist is found.
      const wrong = join(folder, "wrong.py");
      writeFileSync(wrong, "from runnel_client import v1\nprint(v1.Run().stat)\n");
      expect((await check([wrong])).stdout.toString()).toContain('"Run" has no attribute "stat"');
    });

    test("follows a run whose service is killed, and gives the whole text once", async () => {
      const { port, start, provider } = await openService();
      provider.respond(half, answer("a whole answer"));
      const service = await start();
      const reader = startExample(writeExample("follow.py", port));
      await until("text at the reader", () => reader.stderr().includes("message.delta"));
      await service.kill();
      await start();
      const { stdout, stderr, exitCode } = await reader.finished;
      expect({ text: stdout.toString(), exitCode }, stderr).toEqual({ text: "a whole answer\n", exitCode: 0 });
      const lines = stderr.trimEnd().split("\n");
      expect(lines.map((line) => Number(line.split(" ")[0]))).toEqual(lines.map((_, index) => index + 1));
      expect(lines.map((line) => line.split(" ")[1])).toContain("turn.restarted");
    });

    test("runs the functions that a model calls, and verifies receipts", async () => {
      const { port, start, provider } = await openService();
      provider.respond(callTools({ id: "call-1", name: "add", arguments: '{"a":2,"b":3}' }), answer("It is 5."));
      const { url } = await start();
      expect(await finishExample(writeExample("ask.py", port))).toBe("completed It is 5.\n");
      const [, asked] = provider.requests;
      expect(asked?.body.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call-1", content: "5" });
      const response = await fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${keyOf()}` } });
      const { runs } = (await response.json()) as { runs: { run_id: string }[] };
      expect(runs.length).toBe(2);
      expect(await finishExample(writeExample("receipt.py", port), runs[0]?.run_id ?? "")).toMatch(/^completed \d+\n$/);
    });

    test("does the tasks of its README", async () => {
      const { url } = await startForTasks();
      const printed = await finishExample(writeExample("tasks.py", new URL(url).port));
      expect(printed.trim().split("\n")).toEqual(tasksPrinted);
    });

    test("takes a callback of the service in the webhook of its README, and no other", async () => {
      const path = writeExample("webhook.py");
      const { port, code } = await atFreePort(readFileSync(path, "utf8"));
      writeFileSync(path, code);
      expect(await callWebhook(startExample(path), port)).toEqual(webhookTold);
    });

    test("runs the runner of its README", async () => {
      const talk = await openTalk({
        name: "Python, as a wheel",
        start: async (url) => startExample(writeExample("my_runner.py", new URL(url).port)),
      });
      const said = [await talk.say("hello words=2 pace=0"), await talk.say("again words=2 pace=0")];
      expect(said.map(({ run }) => run?.output)).toEqual(["This is (answer 1)", "This is (answer 2)"]);
    });
  });
});

const half: Script = hangAfter("half of an answer");

/** A service that always starts at the same port. */
async function openService() {
  const { provider, environment: ofProvider } = await openProvider();
  const cluster = await openCluster(ofProvider);
  const port = String((await findFreePorts(1))[0]);
  return { port, provider, start: () => cluster.start({ RUNNEL_SERVER_PORT: port }) };
}

/** Runs a tool of the Python that the tests have. Fails with what it found. */
async function runTool(module: string, words: readonly string[]): Promise<void> {
  const { stdout, stderr, exitCode } = await startProgram(python, ["-m", module, ...words], {
    environment: { MYPYPATH: client, RUFF_NO_CACHE: "true" },
  }).finished;
  expect({ found: exitCode === 0 ? "" : `${stdout}${stderr}`, exitCode }).toEqual({ found: "", exitCode: 0 });
}
