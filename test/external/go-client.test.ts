// The module of Go: its own tests against a service, its formatters and linters, the conformance kit, and its use in an empty
// directory, where Go fetches it like any other module.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { version } from "../../src/platform/base/version.ts";
import { cases, runCases } from "../clients/kit.ts";
import { programSubject } from "../clients/subject.ts";
import { modelFlags } from "../conformance/stage.ts";
import { answer, callTools, hangAfter, startFakeProvider } from "../fakes/provider.ts";
import { openCluster, openProvider } from "../fault/cluster.ts";
import { defaultClientId, keyOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { atFreePort, callWebhook, startForTasks, tasksPrinted, webhookTold } from "./clients/tasks.ts";
import { runProgram, startProgram } from "./program.ts";
import { finish, openTalk, type Talk } from "./runners/service.ts";
import { goModule } from "./runners/workers.ts";
import { startTlsService } from "./tls-service.ts";

/** Go compiles grpc-go and staticcheck once, with the race detector and without. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const source = join(repositoryRoot, "clients/go");
const path = "github.com/runnel/runnel/clients/go";
const cutsWanted = 30;

/** The numbers in the text of a run, which its runner counts. */
async function numbersOf({ client }: Talk, runId: string): Promise<number[]> {
  const numbers: number[] = [];
  let pageToken = "";
  do {
    const page = await client.call(RunService.method.listRunResults, { runId, pageSize: 250, pageToken });
    for (const { payload } of page.results) {
      const text = payload.case === "messageDelta" ? (payload.value.chunk?.content ?? "") : "";
      numbers.push(
        ...text
          .split(" ")
          .filter((each) => each !== "")
          .map(Number),
      );
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return numbers;
}

/** What a program of the README reads. */
const keyEnvironment = { RUNNEL_API_KEY: keyOf() };

/** Runs a program to its end, and returns what it printed. Rejects with its output unless it succeeds. */
async function runIn(
  directory: string,
  name: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<string> {
  // The machine's environment, because it says where Go fetches and keeps modules.
  const options = { cwd: directory, env: { ...process.env, ...more }, maxBuffer: printedBytesMax };
  const { stdout } = await promisify(execFile)(name, args, options);
  return stdout;
}

/** More than all tests print. */
const printedBytesMax = 16 * 1_048_576;

/** Writes the module into a folder with the layout of a Go module proxy: what git has of it, and what a commit would add. */
async function publish(proxy: string): Promise<void> {
  const versions = join(proxy, path, "@v");
  mkdirSync(versions, { recursive: true });
  const git = (...args: readonly string[]) =>
    runIn(repositoryRoot, "git", args, { GIT_INDEX_FILE: join(proxy, "index") });
  await git("read-tree", "HEAD");
  await git("add", "clients/go");
  const tree = `${(await git("write-tree")).trim()}:clients/go`;
  const zip = ["--format=zip", `--prefix=${path}@v${version}/`, `--output=${join(versions, `v${version}.zip`)}`];
  await git("archive", ...zip, tree);
  writeFileSync(join(versions, "list"), `v${version}\n`);
  writeFileSync(join(versions, `v${version}.info`), JSON.stringify({ Version: `v${version}` }));
  writeFileSync(join(versions, `v${version}.mod`), readFileSync(join(source, "go.mod")));
}

describe.runIf(inject("hasGo"))("the module of Go", () => {
  test("has the version of the service", () => {
    expect(readFileSync(join(source, "client.go"), "utf8")).toContain(`const Version = "${version}"`);
  });

  test("is formatted, and neither vet nor staticcheck finds anything", async () => {
    expect(await runIn(source, "gofmt", ["-l", "."])).toBe("");
    expect(await runIn(source, "go", ["vet", "./..."])).toBe("");
    expect(await runIn(source, "go", ["tool", "-modfile=tools/go.mod", "staticcheck", "./..."])).toBe("");
  });

  test("passes its own tests against a service", async () => {
    const provider = await startFakeProvider();
    onTestFinished(() => provider.close());
    const { url } = await startService(modelFlags(provider));
    const secure = await startTlsService();
    const environment = {
      RUNNEL_URL: url,
      RUNNEL_TLS_URL: secure.url,
      RUNNEL_TLS_CA_FILE: secure.caFile,
      RUNNEL_API_KEY: keyOf(),
      RUNNEL_CLIENT_ID: defaultClientId,
    };
    // The race detector needs a C compiler, and Go says whether there is one.
    const race = (await runIn(source, "go", ["env", "CGO_ENABLED"])).trim() === "1" ? ["-race"] : [];
    const printed = await runIn(source, "go", ["test", ...race, "-count=1", "-v", "./..."], environment);
    expect(printed).toContain("--- PASS: TestFollowYieldsEachResultOnce");
    expect(printed).not.toContain("--- SKIP");
  });

  test("passes the conformance kit for clients", async () => {
    const folder = mkdtempSync(join(tmpdir(), "runnel-subject-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const subject = join(folder, "subject");
    await runIn(source, "go", ["build", "-o", subject, "./internal/subject"]);
    const verdicts = await runCases(cases, programSubject(subject, []), { atATime: 4 });
    expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });
});

describe.runIf(inject("hasGo"))("the worker of Go", () => {
  test("loses no result and repeats none when its connection is cut again and again", async () => {
    const talk = await openTalk(goModule);
    const runId = await talk.start("count");
    await talk.untilResults(runId, 1);
    // The cuts follow so closely that some of them hit reports on their way.
    let cuts = 0;
    await until("many cuts", () => {
      talk.cutWorker();
      cuts += 1;
      return cuts === cutsWanted;
    });
    const { run } = await finish(talk.client, runId);
    expect(run, talk.stderr()).toMatchObject({ state: Run_State.COMPLETED });
    expect(await numbersOf(talk, runId)).toEqual(Array.from({ length: 9_000 }, (_, index) => index + 1));
  });

  test("fails the run of a runner that panics, and takes the next one", async () => {
    const talk = await openTalk(goModule);
    expect((await talk.say("panic")).run).toMatchObject({ state: Run_State.FAILED, failureCode: "runner.exception" });
    expect((await talk.say("hello words=1 pace=0")).run).toMatchObject({ state: Run_State.COMPLETED });
  });
});

describe.runIf(inject("hasGo"))("the module of Go, in an empty directory,", () => {
  let root = "";
  let user = "";
  const environment: NodeJS.ProcessEnv = {};

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "runnel-module-"));
    user = join(root, "empty");
    await runIn(source, "go", ["mod", "download"]);
    const cache = (await runIn(source, "go", ["env", "GOMODCACHE", "GOPROXY"])).trim().split("\n");
    await publish(join(root, "proxy"));
    Object.assign(environment, {
      // A cache of its own, since this version of the module may differ from one that was fetched before.
      GOMODCACHE: join(root, "cache"),
      GOPROXY: [`file://${join(root, "proxy")}`, `file://${cache[0]}/cache/download`, cache[1]].join(","),
      // The sums in go.sum of the module were checked when it was written.
      GOSUMDB: "off",
      // Read-only folders could not be removed; without the paths of packages they need not be compiled again.
      GOFLAGS: "-modcacherw -trimpath",
    });
    mkdirSync(user);
    await runIn(user, "go", ["mod", "init", "example"], environment);
    await runIn(user, "go", ["get", `${path}@v${version}`], environment);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  test("follows a run to its end while the service is killed and comes back, and has the text once", async () => {
    const { provider, environment: model } = await openProvider();
    provider.respond(hangAfter("half of an ans"), answer("half of an answer, and the rest"));
    const cluster = await openCluster(model);
    const [port = 0] = await findFreePorts(1);
    const start = () => cluster.start({ RUNNEL_SERVER_PORT: String(port) });
    const service = await start();
    const program = startProgram(await build("main", service.url), [], { environment: keyEnvironment });
    await until("text in the log", async () => {
      const { runs } = await service.client.call(RunService.method.listRuns, {});
      const [run] = runs;
      if (run === undefined) {
        return false;
      }
      const { results } = await service.client.call(RunService.method.listRunResults, { runId: run.runId });
      return results.some(({ payload }) => payload.case === "messageDelta");
    });
    await service.kill();
    await start();
    expect(await program.finished).toMatchObject({ exitCode: 0, stderr: "" });
    expect(program.stdout()).toBe("half of an answer, and the rest\n");
  });

  test("runs functions, reads an answer as a struct, and verifies the receipt of a run", async () => {
    const provider = await startFakeProvider();
    onTestFinished(() => provider.close());
    const { url, target } = await startService(modelFlags(provider));
    const client = new GrpcClient(target);
    provider.respond(callTools({ id: "c-1", name: "add", arguments: '{"a":2,"b":3}' }), answer("It is 5."));
    const options = { environment: keyEnvironment };
    const asked = await runProgram(await build("ask", url), [], options);
    expect(asked.stdout.toString()).toBe("It is 5.\n");
    const answered = provider.requests.at(-1)?.body.messages.find(({ role }) => role === "tool");
    expect(answered).toMatchObject({ tool_call_id: "c-1", content: "5" });
    provider.respond(answer('{"name":"Rome","people":2755000}'));
    const parsed = await runProgram(await build("city", url), [], options);
    expect(parsed.stdout.toString()).toBe("{Name:Rome People:2755000}\n");
    const { runs } = await client.call(RunService.method.listRuns, {});
    const runId = runs[0]?.runId ?? expect.unreachable();
    const verified = await runProgram(await build("receipt", url), [runId], options);
    expect(verified.stdout.toString()).toMatch(new RegExp(`^${runId} completed [0-9]+\n$`));
  });

  test("does the tasks of its README", async () => {
    const { url } = await startForTasks();
    const { stdout } = await runProgram(await build("tasks", url), [], { environment: keyEnvironment });
    expect(stdout.toString().trim().split("\n")).toEqual(tasksPrinted);
  });

  test("takes a callback of the service in the webhook of its README, and no other", async () => {
    const { port, code } = await atFreePort(exampleOf("webhook"));
    const program = await compile("webhook", code);
    expect(await callWebhook(startProgram(program, [], { environment: keyEnvironment }), port)).toEqual(webhookTold);
  });

  test("runs a runner", async () => {
    const talk = await openTalk({
      name: "Go, installed",
      start: async (url) => startProgram(await build("greeter", url), [], { environment: keyEnvironment }),
    });
    const { run } = await talk.say("Ada");
    expect(run, talk.stderr()).toMatchObject({ output: "Hello, Ada." });
  });

  /** Builds a program of the README for the service at `url`, and returns its path. */
  async function build(name: string, url: string): Promise<string> {
    return await compile(name, exampleOf(name).replaceAll("http://127.0.0.1:8090", url));
  }

  function exampleOf(name: string): string {
    const readme = readFileSync(join(source, "README.md"), "utf8");
    const block =
      readme.split("```go\n").find((each) => each.startsWith(`// ${name}.go\n`)) ?? expect.unreachable(name);
    const [text = ""] = block.split("```");
    return text;
  }

  async function compile(name: string, code: string): Promise<string> {
    const folder = mkdtempSync(join(user, `${name}-`));
    writeFileSync(join(folder, `${name}.go`), code);
    await runIn(folder, "go", ["vet", "."], environment);
    await runIn(folder, "go", ["build", "-o", "program", "."], environment);
    return join(folder, "program");
  }
});
