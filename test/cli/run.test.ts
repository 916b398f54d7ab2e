// `run` and `tail` against a service: what they print, how they end, and what they survive.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openProvider } from "../fault/cluster.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { programPath } from "../harness/program.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import {
  type Outcome,
  ownFolder,
  type RunningCommand,
  runCommand,
  runShell,
  startCommand,
  startInTerminal,
  startWithProvider,
} from "./command.ts";

test("run prints the text of the model and its tools, and no control character", async () => {
  const { url } = await startService();
  const directory = await ownFolder();
  const { code, stdout, stderr } = await runCommand(["run", "list the files pace=0", "--url", url], { directory });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^session [0-9a-f]{32} {2}run [0-9a-f-]{36}\n$/);
  expect(stdout).toMatch(/→ list_dir.*←.*This is the demo model.*✓ completed in 2 turns/s);
  expect(stdout + stderr).not.toContain("\u001b");
});

test("run --json prints one result a line, numbered from 1; tail --after prints the results after that", async () => {
  const { url } = await startService();
  const { code, stdout, stderr } = await runCommand(["run", "hello pace=0 words=30", "--json", "--url", url]);
  expect(code).toBe(0);
  const sequences = readSequences(stdout);
  expect(sequences.length).toBeGreaterThan(3);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  const started = JSON.parse(stderr);
  expect(started).toEqual({ note: "started", session_id: expect.any(String), run_id: runIdOf(stderr) });
  const tail = await runCommand(["tail", started.run_id, "--after", "2", "--json", "--url", url]);
  expect({ code: tail.code, stderr: tail.stderr }).toEqual({ code: 0, stderr: "" });
  expect(readSequences(tail.stdout)).toEqual(sequences.slice(2));
});

test("run --queue waits for the run before it in its session, which run without it does not", async () => {
  const { url } = await startService();
  const first = startCommand(["run", "hello words=100 pace=20", "--json", "--url", url]);
  const { session_id: sessionId } = JSON.parse(
    await until("the session", () => first.stderr().match(/^\{.*\}$/m)?.[0]),
  );
  const next = ["run", "hello words=3 pace=0", "--json", "--session", sessionId, "--url", url];
  expect(await runCommand(next)).toMatchObject({ code: 1, stderr: expect.stringMatching(/already running.*--queue/s) });
  const queued = await runCommand([...next, "--queue"]);
  expect(queued).toMatchObject({ code: 0, stdout: expect.stringContaining("run_completed") });
  const { code, stdout } = await first.ended;
  expect(code).toBe(0);
  const timesOf = (log: string) =>
    log
      .trim()
      .split("\n")
      .map((line): string => JSON.parse(line).create_time);
  expect(String(timesOf(stdout).at(-1)) <= String(timesOf(queued.stdout)[0])).toBe(true);
});

test("flags of the agent replace its settings in a session for one run, except those that only a new session takes", async () => {
  const { provider, url } = await startWithProvider();
  provider.respond(answer("one"), answer("two"), answer("three"));
  const first = await runCommand(["run", "hello", "--model", "gpt-4o", "--json", "--url", url]);
  const { session_id: sessionId } = JSON.parse(first.stderr);
  const inSession = (...flags: string[]) =>
    runCommand(["run", "again", "--session", sessionId, "--url", url, "--json", ...flags]);
  expect((await inSession("--model", "gpt-4o-mini", "--set", "temperature=0.5")).code).toBe(0);
  expect((await inSession()).code).toBe(0);
  expect(provider.requests.map(({ body }) => [body.model, body.temperature])).toEqual([
    ["gpt-4o", undefined],
    ["gpt-4o-mini", 0.5],
    ["gpt-4o", undefined],
  ]);
  for (const [flag, value] of [
    ["--agent", "default"],
    ["--work-dir", "/tmp"],
  ] as const) {
    const { code, stderr } = await inSession(flag, value);
    expect({ code, ...JSON.parse(stderr) }).toMatchObject({
      ...{ code: 2, reason: "USAGE", error: expect.stringContaining(`${flag} is for a new session`) },
      fix: `leave ${flag} out, or leave --session out to begin a new session`,
    });
  }
  expect(provider.requests).toHaveLength(3);
});

test("a failed run makes run and tail exit with 3", async () => {
  const { provider, url } = await startWithProvider();
  provider.respond(fail(401, '{"error":{"message":"wrong key"}}'));
  const run = await runCommand(["run", "hello", "--model", "gpt-4o", "--url", url]);
  expect({ code: run.code, stdout: run.stdout }).toEqual({
    code: 3,
    stdout: expect.stringMatching(/^\n✗ \S+: .*401.*\n$/),
  });
  const fix = "fix: check the provider's key in the settings of the service; `runnel doctor --deep` tries each\n";
  expect(run.stderr).toContain(fix);
  const tail = await runCommand(["tail", runIdOf(run.stderr), "--url", url]);
  expect(tail).toEqual({ code: 3, stdout: run.stdout, stderr: fix });
});

test("a refusal of the service is printed with the id of the call, and exit code 1", async () => {
  const { url } = await startService();
  const refused: [words: string[], told: RegExp][] = [
    [["run", "hi", "--model", "gpt-4o"], /gpt-4o/],
    [["run", "hi", "--tools", "fly"], /fly/],
    [["chat", "--model", "gpt-4o"], /gpt-4o/],
    [["run", "hi", "--session", "nobody"], /session not found/],
    [["run", "hi", "--work-dir", "/etc"], /\/etc/],
    [["tail", "01890000-0000-7000-8000-000000000000"], /run not found/],
    [["tail", "no-id"], /run_?id/i],
  ];
  for (const [words, told] of refused) {
    const { code, stdout, stderr } = await runCommand([...words, "--url", url], { input: "hi" });
    expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: "" });
    expect(stderr).toMatch(/^runnel: [^\n]+\n( {2}fix {6}[^\n]+\n)? {2}request {2}[0-9a-f]{32}\n$/);
    expect(stderr).toMatch(told);
    const json = await runCommand([...words, "--url", url, "--json"], { input: "hi" });
    expect({ words, code: json.code, stdout: json.stdout }).toEqual({ words, code: 1, stdout: "" });
    const failure = JSON.parse(json.stderr);
    expect(failure).toMatchObject({ error: expect.stringMatching(told), request_id: expect.any(String) });
    expect(failure.reason).toMatch(/^[A-Z_]+$/);
  }
  const { stdout } = await runCommand(["sessions", "list", "--json", "--url", url]);
  expect(JSON.parse(stdout)).toEqual({ sessions: [] });
});

test("a wrong model or preset is refused with the nearest one, before and after its provider was asked", async () => {
  const { provider, url } = await startWithProvider({ agentPresets: ["helper={}"] });
  provider.respond(fail(404, '{"error":{"message":"no such model","code":"model_not_found"}}'));
  const run = (...words: string[]) => runCommand(["run", "hi", ...words, "--url", url]);
  const unknown = await run("--model", "pgt-4o");
  expect(unknown.stderr).toMatch(/unsupported model "pgt-4o"[^\n]*\n {2}fix {6}did you mean gpt-4o\?\n {2}request /);
  expect((await run("--agent", "hepler")).stderr).toContain("did you mean helper?");
  const missing = await run("--model", "gpt-4o-mnii");
  expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining("did you mean gpt-4o-mini?\n") });
});

test("a call beyond the rate says how long to wait and which setting limits it", async () => {
  const { url } = await startService({ rateLimitRps: 1, rateLimitBurst: 1 });
  const calls = Array.from({ length: 5 }, () => runCommand(["runs", "list", "--url", url]));
  const refused = await until("a refusal", async () => (await Promise.all(calls)).find(({ code }) => code !== 0));
  expect(refused.stderr).toMatch(/^runnel: rate limit exceeded: wait \d+(\.\d)? s\n {2}fix .*RUNNEL_RATELIMIT_RPS/);
});

test("a missing --work-dir is made when a person agrees; a program gets a usage error with the fix", async () => {
  const { url } = await startService();
  const missing = join(await ownFolder(), "it's", "new");
  const words = ["run", "list the files pace=0", "--work-dir", missing, "--url", url];
  const ask = async (answer: string): Promise<Outcome> => {
    const terminal = startInTerminal([process.execPath, programPath, ...words]);
    await until("the question", () => terminal.stdout().includes(`${missing} does not exist. Create it? [y/N]`));
    terminal.type(`${answer}\r`);
    return await terminal.ended;
  };
  for (const more of [[], ["--json"]]) {
    const { code, stdout, stderr } = await runCommand([...words, ...more]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`the directory of --work-dir does not exist: ${missing}`);
    expect(stderr.replaceAll("\\\\", "\\")).toContain(`mkdir -p '${missing.replace("'", "'\\''")}'`);
  }
  expect((await ask("n")).code).toBe(2);
  expect(existsSync(missing)).toBe(false);
  const made = await ask("y");
  expect({ code: made.code, isThere: existsSync(missing) }).toEqual({ code: 0, isThere: true });
  expect(made.stdout).toContain("✓ completed");
});

test("a --work-dir that the service refuses by its settings is never made", async () => {
  const { url } = await startService({ sessionsWorkDirs: [] });
  const missing = join(await ownFolder(), "new");
  const { code, stderr } = await runCommand(["run", "hi", "--work-dir", missing, "--url", url]);
  expect(code).toBe(1);
  expect(stderr).toContain("sessions.work_dirs (RUNNEL_SESSIONS_WORK_DIRS)");
});

test("Ctrl-C ends run with 130 and a hint how to continue, and the run continues", async () => {
  const service = await startService();
  const { run, runId } = await startLongRun(service);
  await until("the run to be in the middle", () => run.stdout().split("\n").length > 10);
  run.child.kill("SIGINT");
  const { code, stdout, stderr } = await run.ended;
  const seen = readSequences(stdout);
  const [, note = ""] = stderr.trimEnd().split("\n");
  expect({ code, note: JSON.parse(note) }).toEqual({
    code: 130,
    note: { note: "interrupted", run_id: runId, after: String(seen.length) },
  });
  const tail = await runCommand(["tail", runId, "--after", String(seen.length), "--json", "--url", service.url]);
  expect(tail.code).toBe(0);
  expect(readSequences(tail.stdout)[0]).toBe(seen.length + 1);
});

test("run reads standard input, sends files, lets a preset answer, and detaches", async () => {
  const { provider, url } = await startWithProvider({
    agentPresets: ['poet={"model": "gpt-4o", "system_prompt": "Rhyme."}'],
  });
  const directory = await ownFolder();
  writeFileSync(join(directory, "plan.txt"), "the plan");
  const pdf = Buffer.from("%PDF-1.7 a");
  writeFileSync(join(directory, "plan.pdf"), pdf);
  writeFileSync(join(directory, "schema.json"), '{"type":"object","properties":{"a":{"type":"string"}}}');
  provider.respond(answer('{"a":"b"}'), answer("later"));
  const flags = ["--agent", "poet", "--file", "plan.txt", "--file", "plan.pdf", "--schema", "schema.json"];
  const line = ["printf", "'two\\nlines'", "|", "$runnel", "run", "-", ...flags, "--url", url].join(" ");
  expect(await runShell(line, { directory })).toMatchObject({
    ...{ code: 0, stdout: '{"a":"b"}\n' },
    stderr: expect.stringMatching(/\n✓ completed in 1 turn, \d+ ms\n$/),
  });
  const file = { filename: "plan.pdf", file_data: expect.stringContaining(pdf.toString("base64")) };
  expect(provider.requests[0]?.body).toMatchObject({
    messages: [
      { role: "system", content: "Rhyme." },
      {
        role: "user",
        content: [
          { type: "text", text: "two\nlines" },
          { type: "text", text: "plan.txt:\nthe plan" },
          { type: "file", file },
        ],
      },
    ],
    response_format: { json_schema: { schema: { type: "object" } } },
  });
  const detached = await runCommand(["run", "hi", "--model", "gpt-4o", "--detach", "--url", url]);
  const runId = detached.stdout.trim();
  expect(detached).toMatchObject({ code: 0, stderr: `follow it: runnel tail ${runId} --url ${url}\n` });
  expect(await runCommand(["tail", runId, "--url", url])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("later"),
  });
  const empty = await runShell(`printf '' | $runnel run - --url ${url}`);
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("the message is empty") });
  const binary = await runShell(`printf 'a\\377' | $runnel run - --url ${url}`);
  expect(binary).toMatchObject({ code: 1, stderr: expect.stringContaining("standard input is not UTF-8 at byte 1") });
});

test("with --schema, an answer that is not JSON is printed, and the command fails", async () => {
  const { provider, url } = await startWithProvider();
  provider.respond(answer("seven"));
  const directory = await ownFolder();
  writeFileSync(join(directory, "schema.json"), '{"type":"object"}');
  const flags = ["--model", "gpt-4o", "--schema", "schema.json", "--url", url];
  expect(await runCommand(["run", "How many?", ...flags], { directory })).toMatchObject({
    ...{ code: 1, stdout: "seven\n" },
    stderr: expect.stringContaining("the answer of gpt-4o is not JSON"),
  });
});

test("--set gives other fields of the agent, and refuses one that no agent has before anything is sent", async () => {
  const { provider, url } = await startWithProvider();
  provider.respond(answer("yes"));
  const run = (...words: string[]) =>
    runCommand(["run", "hi", "--model", "gpt-4o", ...words.flatMap((each) => ["--set", each]), "--url", url]);
  const settings = ["temperature=0.5", "system_prompt=Be brief.", 'tools.builtin=["grep"]'];
  expect(await run(...settings)).toMatchObject({ code: 0, stdout: expect.stringContaining("yes") });
  expect(provider.requests[0]?.body).toMatchObject({
    temperature: 0.5,
    messages: [{ role: "system", content: expect.stringContaining("Be brief.") }, { role: "user" }],
    tools: [{ function: { name: "grep" } }],
  });
  for (const [setting, problem] of [
    ["temprature=0.5", "unknown field; did you mean temperature?"],
    ["temperature=warm", "temperature: expected number"],
    ["=1", "expected a field and its value"],
  ] as const) {
    expect(await run(setting)).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  }
  expect(provider.requests).toHaveLength(1);
});

test("a second Ctrl-C of a person cancels the run", async () => {
  const { url } = await startService();
  const terminal = startInTerminal([process.execPath, programPath, "run", "hello words=500 pace=50", "--url", url]);
  const runId = await until("some text", () => /run ([0-9a-f-]{36}).*demo model/s.exec(terminal.stdout())?.[1]);
  terminal.type("\u0003");
  await until("the hint", () =>
    terminal.stdout().includes(`runnel runs cancel ${runId} --url ${url}, or Ctrl-C again`),
  );
  await until("the cancel", () => {
    terminal.type("\u0003");
    return terminal.stdout().includes(`cancelled run ${runId}`);
  });
  expect((await terminal.ended).code).toBe(130);
  const { code, stdout } = await runCommand(["tail", runId, "--url", url]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringContaining("✗ cancelled") });
});

test("a person decides about the calls of a run where they are asked for, or leaves them open", async () => {
  const { provider, url } = await startWithProvider();
  const write = callTools({ id: "c", name: "write_file", arguments: '{"file_path":"a.txt","content":"a"}' });
  const tools = ["--tools", "write_file", "--approve", "write_file", "--model", "gpt-4o", "--url", url];
  const answerTo = async (typed: string) => {
    provider.respond(write, answer("the end"));
    const terminal = startInTerminal([process.execPath, programPath, "run", "write", ...tools]);
    await until("the question", () => terminal.stdout().includes("Approve? [y = once"));
    expect(terminal.stdout()).toContain("a.txt");
    terminal.type(typed);
    return terminal;
  };
  expect((await (await answerTo("y\r")).ended).stdout).toMatch(/← .*wrote.*the end/is);
  expect((await (await answerTo("n\r")).ended).stdout).toMatch(/← failed: .*the end/s);
  const open = await answerTo("\r");
  const id = await until("the id", () => /open: runnel approvals show (\S+)/.exec(open.stdout())?.[1]);
  const refused = await runCommand(["approvals", "approve", id, "--url", url]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("add --digest") });
  const approve = startInTerminal([process.execPath, programPath, "approvals", "approve", id, "--url", url]);
  await until("the question", () => approve.stdout().includes("Approve it? [y/N]"));
  approve.type("y\r");
  expect((await approve.ended).stdout).toContain("approved");
  expect((await open.ended).stdout).toMatch(/← .*the end/s);
});

test("a reader that closes the pipe early ends run silently", async () => {
  const { url } = await startService();
  const script = `set -o pipefail; $runnel run 'hello words=200 pace=2' --json --url ${url} | head -1`;
  const { code, stdout, stderr } = await runShell(script);
  expect(code).toBe(0);
  expect(readSequences(stdout)).toEqual([1]);
  expect(JSON.parse(stderr)).toMatchObject({ note: "started" });
});

// The story: a tail is in the middle of a run. The service dies silently and comes back on the same port and database, where it
// takes over the run. The tail says once that it waits, and ends with every result in order.
test("tail survives kill -9 and restart of the service", async () => {
  const environment = { DATABASE_URL: await testDatabase() };
  const first = await startProcess(environment);
  const { run, runId } = await startLongRun(first);
  const tail = startCommand(["tail", runId, "--json", "--url", first.url]);
  await until("the tail to be in the middle", () => tail.stdout().split("\n").length > 10);
  await first.kill();
  await until("the tail to notice", () => tail.stderr() !== "");
  await startProcess({ ...environment, RUNNEL_SERVER_PORT: new URL(first.url).port });
  const { code, stdout, stderr } = await tail.ended;
  expect(code).toBe(0);
  for (const line of stderr.trimEnd().split("\n")) {
    expect(JSON.parse(line)).toEqual({
      note: "reconnecting",
      after: expect.stringMatching(/^\d+$/),
      why: expect.any(String),
    });
  }
  const sequences = readSequences(stdout);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toHaveProperty("run_completed");
  expect(await run.ended).toMatchObject({ code: 0, stdout });
});

// The model has sent half of its answer when the service dies. Text on a terminal or in a pipe cannot be taken back, so the
// line between the two attempts says which text to ignore.
test("run says which text to ignore when a turn starts again", async () => {
  const { provider, environment: ofProvider } = await openProvider();
  const environment = { ...ofProvider, DATABASE_URL: await testDatabase() };
  const first = await startProcess(environment);
  provider.respond(hangAfter("half of\nan answer"), answer("a whole answer"));
  const run = startCommand(["run", "hello", "--model", "gpt-4o", "--url", first.url]);
  await until("half of the answer", () => run.stdout() === "half of\nan answer");
  await first.kill();
  await startProcess({ ...environment, RUNNEL_SERVER_PORT: new URL(first.url).port });
  const { code, stdout } = await run.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^half of\nan answer\n\(turn 1 starts again on another replica: ignore its text above, which begins with "half of an answer"\)\na whole answer\n✓ /,
  );
});

async function startLongRun({ url }: { readonly url: string }): Promise<{ run: RunningCommand; runId: string }> {
  const run = startCommand(["run", "hello words=150 pace=20", "--json", "--url", url]);
  await until("the run to start", () => run.stderr().includes("\n"));
  return { run, runId: runIdOf(run.stderr()) };
}

function runIdOf(stderr: string): string {
  return /\brun(?:_id":")? ?([0-9a-f-]{36})/.exec(stderr)?.[1] ?? "";
}

function readSequences(lines: string): number[] {
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => Number(JSON.parse(line).sequence));
}
