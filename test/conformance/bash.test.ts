// The tool bash in a session: in a jail, without a jail when the settings say so, and refused otherwise.

import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, inject, onTestFinished } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { readMetrics } from "../telemetry/read-metrics.ts";
import { connectRest } from "./rest-surface.ts";
import { test as base, expectRefused, readSession, setStage } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");
const test = base.extend("kind", rest);
const agent = { name: "tester", tools: { builtin: ["bash", "read_file", "list_dir"] } };

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

function bash(command: string): Call {
  return { name: "bash", args: { command } };
}

function calls(made: readonly Call[]) {
  return callTools(
    ...made.map(({ name, args }, index) => ({ id: `call-${index}`, name, arguments: JSON.stringify(args) })),
  );
}

/** Returns the answers of the tools of one turn. */
async function resultsOf(api: Surface, workDir?: string): Promise<Record<string, unknown>[]> {
  const { session_id: sessionId } = await api.createSession({ ...(workDir !== undefined && { workDir }), agent });
  await api.sendMessage({ sessionId, message: "hello" });
  const events = await readSession(api, sessionId);
  return events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
}

async function ownDirectory(): Promise<string> {
  const directory = await openFolder();
  return directory;
}

describe.runIf(inject("hasJail"))("with a jail", () => {
  test("a session's commands work in its directory, and its other tools see their changes", async () => {
    const { provider, api } = await setStage(rest);
    provider.respond(
      calls([bash("echo one > a.txt; pwd; echo $HOME")]),
      calls([{ name: "read_file", args: { file_path: "a.txt" } }, bash("cat nosuch"), bash("ssh host")]),
      answer("done"),
    );
    const results = await resultsOf(api);
    expect(results).toEqual([
      {
        tool: "bash",
        success: true,
        content: expect.stringMatching(/^\/.+\n\/tmp\/agent-runner\/[\w-]+\n$/),
      },
      { tool: "read_file", success: true, content: "     1\tone\n" },
      {
        tool: "bash",
        success: false,
        content: "",
        error: "STDERR:\ncat: nosuch: No such file or directory\n\nExit: exit status 1",
      },
      { tool: "bash", success: false, content: "", error: expect.stringMatching(/^blocked network command: ssh /) },
    ]);
  });

  test("commands beyond a limit are ended or cut, each with its reason, and the run continues", async () => {
    const { provider, api, service } = await setStage(rest, { metricsPort: 0, toolsDiskMb: 32 });
    const within = (seconds: number, command: string): Call => ({ name: "bash", args: { command, timeout: seconds } });
    provider.respond(
      calls([within(1, "trap '' TERM INT HUP; (setsid sleep 300 &) & sleep 300; sleep 300")]),
      calls([within(2, "f(){ f & f & wait; }; f")]),
      calls([within(60, "yes | head -c 100000000; echo end > read-to-its-end")]),
      calls([within(60, "for i in $(seq 1 100); do head -c 9000000 /dev/zero > f$i; done; sleep 60")]),
      // Files in a full directory can still be removed.
      calls([within(60, "rm f*; cat read-to-its-end")]),
      answer("done"),
    );
    const { session_id: sessionId } = await api.createSession({ agent });
    await api.sendMessage({ sessionId, message: "hello" });
    const events = await readSession(api, sessionId);
    const results = events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
    expect(results).toEqual([
      { tool: "bash", success: false, content: "", error: expect.stringMatching(/Exit: signal: killed$/) },
      { tool: "bash", success: false, content: "", error: expect.stringMatching(/Exit: signal: killed$/) },
      {
        tool: "bash",
        success: true,
        content: expect.stringMatching(/^(?:y\n){51000,}y?\n\.\.\. \(output truncated\)$/),
      },
      {
        tool: "bash",
        success: false,
        content: "",
        error: "... (killed: more than 32 MiB written to disk)\nExit: signal: killed",
      },
      { tool: "bash", success: true, content: "end\n" },
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "done" });
    const { value } = await readMetrics(service);
    const kills = ["time", "disk"].map((limit) => value(`runnel_jail_kills_total{limit="${limit}"}`));
    expect(kills).toEqual([2, 1]);
  });

  test("invalid calls and a changed work directory give errors, and the run continues", async ({ provider, api }) => {
    const workDir = await ownDirectory();
    provider.respond(
      calls([
        { name: "bash", args: {} },
        { name: "bash", args: { command: ["ls"] } },
        { name: "bash", args: { command: "x".repeat(5_000) } },
        { name: "bash", args: { command: "echo \0" } },
        { name: "bash", args: { command: "echo fine", timeout: "soon" } },
      ]),
      async (wire, request) => {
        await rm(workDir, { recursive: true });
        await calls([bash("ls")])(wire, request);
      },
      answer("done"),
    );
    const { session_id: sessionId } = await api.createSession({ workDir, agent });
    await api.sendMessage({ sessionId, message: "hello" });
    const events = await readSession(api, sessionId);
    const results = events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
    expect(results.map(({ error, content }) => error ?? content)).toEqual([
      "command is required",
      "command is required",
      "command too long (max 4096 bytes)",
      "command contains a NUL byte",
      "fine\n",
      expect.stringMatching(/^work directory .* is not accessible: /),
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "done" });
  });

  test("no tool of a service process reads its secrets, from /proc or from their files", async ({ provider }) => {
    const canary = "canary-41c0-of-this-service";
    const workDir = await ownDirectory();
    const tokenFile = join(workDir, "token");
    await writeFile(tokenFile, `${canary}-token-that-is-long-enough`, { mode: 0o600 });
    const service = await startProcess({
      DATABASE_URL: await testDatabase(),
      RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
      RUNNEL_PROVIDERS_OPENAI_KEY: canary,
      RUNNEL_AUTH_HMAC_SECRET: canary,
      RUNNEL_AUTH_ADMIN_TOKEN_FILE: tokenFile,
      RUNNEL_DEFAULTS_MODEL: "gpt-4o-mini",
    });
    const api = connectRest(service.url, credentialsOf());
    const { pid } = service;
    const read = (path: string): Call => ({ name: "read_file", args: { file_path: path } });

    provider.respond(
      calls([
        bash(
          `cat /proc/*/environ /proc/${pid}/environ /proc/1/root/proc/${pid}/environ; cat token; cp token t2; cat t2`,
        ),
        bash("for f in /proc/[0-9]*/fd/*; do timeout 1 head -c 4096 $f; done; ls /proc/*/cwd/; env"),
        bash(`grep -rsaF ${canary.slice(0, 10)} /etc /tmp /dev/shm . ; head -c 100 /proc/${pid}/mem`),
        read("token"),
        read(`/proc/${pid}/environ`),
      ]),
      answer("done"),
      calls([
        read(`/proc/${pid}/environ`),
        read("/proc/self/environ"),
        { name: "list_dir", args: { path: `/proc/${pid}` } },
        read(tokenFile),
        bash("cat /proc/self/environ; cat */token"),
      ]),
      answer("done"),
    );
    const inDirectory = await resultsOf(api, workDir);
    const around = await resultsOf(api, dirname(workDir));
    expect(inDirectory).toHaveLength(5);
    expect(around).toHaveLength(5);
    expect(JSON.stringify([inDirectory, around])).not.toContain(canary);
    expect(inDirectory[3]).toMatchObject({ error: `access to ${tokenFile} is blocked: it belongs to the service` });
    expect(around.map(({ success }) => success)).toEqual([false, false, false, false, false]);
    expect(service.log()).not.toContain(canary);
  });
});

test("without a jail agents that request bash are refused with a fix, and others are served", async () => {
  const { PATH } = process.env;
  process.env.PATH = "/nowhere";
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  const { provider, api } = await setStage(rest, {}, { own: true });
  const { session_id: sessionId } = await api.createSession({ agent });
  await expectRefused(api.sendMessage({ sessionId, message: "hello" }), {
    grpcCode: "UNIMPLEMENTED",
    httpStatus: 400,
    reason: "TOOL_UNSUPPORTED",
    text: /^failed to build registry: create builtin bash: there is no jail to run commands in \(bubblewrap is not installed\): .*apt-get install bubblewrap/,
  });
  provider.respond(answer("fine"));
  const other = await api.createSession({ agent: { name: "tester", tools: { builtin: ["list_dir"] } } });
  await api.sendMessage({ sessionId: other.session_id, message: "hello" });
  expect((await readSession(api, other.session_id)).at(-1)).toMatchObject({ payload: { status: "completed" } });
});

test("with the jail turned off commands run with the documented limits and environment, and end with their shell", async () => {
  const { provider, api } = await setStage(rest, { toolsJail: "off" });
  provider.respond(
    calls([
      bash("ulimit -f -v; env | grep -E '^(HOME|PATH|NO_PROXY)='; stat -c %a $HOME"),
      bash("sleep 300 & echo hi"),
      { name: "bash", args: { command: "sleep 300", timeout: 1 } },
    ]),
    answer("done"),
  );
  const [limits, background, late] = await resultsOf(api);
  expect(String(limits?.content)).toMatch(/ 10240\n[\s\S]* 524288\n/);
  expect(String(limits?.content)).toMatch(/^HOME=\/.*\/agent-runner\/[\w-]+$/m);
  expect(String(limits?.content)).toMatch(/^700$/m);
  expect(background).toMatchObject({ success: true, content: "hi\n" });
  expect(late).toMatchObject({ success: false, error: "Exit: signal: killed" });
});
