// `runners` against a service, with a worker that each test scripts.

import { readFileSync } from "node:fs";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Result, Run } from "../../clients/typescript/src/worker/runner.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { runnerOf, startWorker, testRunnerId } from "../harness/worker.ts";
import { HandWorker } from "../runners/hand-worker.ts";
import { type Outcome, ownFolder, runCommand, runShell, startCommand } from "./command.ts";

const uuid = "[0-9a-f-]{36}";
const binding = { binding_id: "all", runner_id: testRunnerId };
const event = { event_id: "e-1", event_type: "message.received", conversation_id: "c-1", input: { text: "hello" } };

function linesOf(text: string): string[] {
  return text.trimEnd().split("\n");
}

async function openStage(command: "serve" | "dev" = "serve") {
  const directory = await ownFolder();
  const url = command === "dev" ? await startDev(directory) : (await startService()).url;
  const target = new URL(url).host;
  const environment = { RUNNEL_SERVER_PORT: new URL(url).port, ...(command === "dev" && { RUNNEL_API_KEY: "" }) };
  const place = { directory, environment };
  const put = async (name: string, content: unknown): Promise<string> => {
    await writeFile(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));
    return name;
  };
  const runners = (...words: string[]): Promise<Outcome> => runCommand(["runners", ...words], place);
  const approvals = (...words: string[]): Promise<Outcome> => runCommand(["approvals", ...words], place);
  return {
    url,
    target,
    place,
    put,
    runners,
    approvals,
    start: (...words: string[]) => startCommand(["runners", ...words], place),
    /** Runs a command with `--json` and returns its parsed output. */
    ask: async (...words: string[]) => {
      const { code, stdout, stderr } = await runners(...words, "--json");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    },
    /** Starts a worker that is connected before anything is asked of it. */
    work: async (run: (run: Run) => AsyncGenerator<Result>) => {
      startWorker(url, [runnerOf(run)]);
      await until("the runner to be listed", async () => (await runners("list")).stdout.includes(" available "));
    },
  };
}

/** The service knows no keys. */
async function startDev(directory: string): Promise<string> {
  const environment = { DATABASE_URL: await testDatabase(), RUNNEL_AUTH_API_KEYS: "", RUNNEL_API_KEY: "" };
  const dev = startCommand(["dev", "--port", "0"], { environment, directory });
  const found = await until(
    "dev to print its address",
    () => /^Runnel is ready on (http:\S+)/m.exec(dev.stderr()) ?? false,
  );
  return found[1] ?? "";
}

async function* echo({ context }: Run): AsyncGenerator<Result> {
  yield { type: "message.delta", data: { chunk: { role: "assistant", content: `You said ${context.input?.text}` } } };
  yield { type: "run.completed", data: { finish_reason: "stop" } };
}

describe("a runner", () => {
  test("is listed with its state and shown with its own description", async () => {
    const stage = await openStage();
    const none = await stage.runners("list");
    expect(none).toMatchObject({ code: 0, stderr: "" });
    expect(none.stdout).toMatch(/^RUNNER +STATE +WORKER +ERA +REGISTERED\n$/);
    await stage.work(echo);
    const [, row] = linesOf((await stage.runners("list")).stdout);
    expect(row).toMatch(new RegExp(`^${testRunnerId} +available +tests +\\S+ +\\S+Z$`));
    const { stdout } = await stage.runners("show", testRunnerId);
    expect(linesOf(stdout)).toEqual([
      `${testRunnerId}  available`,
      '  label      {"en_US":"A runner of the tests"}',
      "  worker     tests",
      expect.stringMatching(/^ {2}era {8}\S+$/),
      "  can        streaming, tool_calling, knowledge_retrieval, interrupt",
      expect.stringContaining("  asks for   models invoke stream rerank, tools detail call, "),
      expect.stringMatching(/^ {2}time {7}registered \S+Z, last \S+Z$/),
    ]);
    expect((await stage.ask("list")).runners).toMatchObject([{ runner_id: testRunnerId, state: "available" }]);
    expect(await stage.ask("show", testRunnerId)).toMatchObject({ runner_id: testRunnerId, worker_id: "tests" });
  });

  test("that is unknown is reported with a fix, and an invalid id needs no service", async () => {
    const stage = await openStage();
    const { code, stderr } = await stage.runners("show", "plugin:a/b/c", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      reason: "RUNNER_NOT_FOUND",
      fix: expect.stringContaining("`runnel runners list`"),
    });
    expect(await runCommand(["runners", "show", "echo"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("bindings", () => {
  test("are put from JSON and YAML, listed and deleted", async () => {
    const stage = await openStage();
    const scope = { kind: "bot", id: "b-1" };
    const json = await stage.put("b.json", [binding, { ...binding, binding_id: "bot", scope, enabled: false }]);
    expect(await stage.runners("bind", json)).toEqual({
      code: 0,
      stdout: `bound all to ${testRunnerId}\nbound bot to ${testRunnerId}\n`,
      stderr: "",
    });
    const yaml = `binding_id: joins
runner_id: ${testRunnerId}
event_types: [group.member_joined]
runner_config: { greeting: Hi, tries: 3 }
approval_policy: { required: true }
---
binding_id: last
runner_id: ${testRunnerId}
`;
    const put = await stage.ask("bind", await stage.put("b.yaml", yaml));
    expect(put.bindings).toMatchObject([
      { binding_id: "joins", runner_config: { greeting: "Hi", tries: 3 }, approval_policy: { required: true } },
      { binding_id: "last" },
    ]);
    const rows = linesOf((await stage.runners("bindings")).stdout);
    expect(rows[0]).toMatch(/^BINDING +RUNNER +SCOPE +EVENTS +ENABLED +APPROVAL +UPDATED$/);
    expect(rows.slice(1)).toEqual([
      expect.stringMatching(/^all +\S+ +global +message\.received +yes +– +\S+Z$/),
      expect.stringMatching(/^bot +\S+ +bot b-1 +message\.received +no +– +\S+Z$/),
      expect.stringMatching(/^joins +\S+ +global +group\.member_joined +yes +required +\S+Z$/),
      expect.stringMatching(/^last +\S+ +global +message\.received +yes +– +\S+Z$/),
    ]);
    expect(await stage.runners("unbind", "last")).toMatchObject({ code: 0, stdout: "deleted last\n" });
    const { bindings } = await stage.ask("bindings", "--limit", "3");
    expect(bindings.map(({ binding_id: bindingId }: { binding_id: string }) => bindingId)).toEqual([
      "all",
      "bot",
      "joins",
    ]);
    const cut = await stage.runners("bindings", "--limit", "2", "--json");
    expect(JSON.parse(cut.stderr)).toEqual({ note: "cut", bindings: 2 });
  });

  test.each([
    ["an unknown key", '{"binding_id":"a","runner":"x"}', "runner"],
    ["no JSON", '{"binding_id"', "b: "],
    ["no YAML", "a: [", "b: "],
    ["nothing", "", "nothing is in it"],
    ["no object", "[1]", "object"],
    ["a number that YAML would change", "runner_config: {n: 9007199254740993}", "9007199254740993"],
  ])("of a file with %s are refused before any call", async (_, content, told) => {
    const directory = await ownFolder();
    await writeFile(join(directory, "b"), content);
    const { code, stdout, stderr } = await runCommand(["runners", "bind", "b", "--json"], { directory });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({ reason: "INVALID_FILE", error: expect.stringContaining(told) });
  });

  test("keep large numbers of JSON exact", async () => {
    const stage = await openStage();
    const text = `{"binding_id":"n","runner_id":"${testRunnerId}","runner_config":{"n":9007199254740993,"x":1.0}}`;
    const { stdout } = await stage.runners("bind", await stage.put("b.json", text), "--json");
    expect(stdout).toContain('"runner_config":{"n":9007199254740993,"x":1.0}');
  });
});

describe("a run", () => {
  test("is started for an event and followed to its end", async () => {
    const stage = await openStage();
    await stage.work(echo);
    await stage.runners("bind", await stage.put("b.json", binding));
    const { code, stdout, stderr } = await stage.runners("start", await stage.put("e.json", event), "--follow");
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(new RegExp(`^run ${uuid}\n$`)) });
    expect(stdout).toMatch(/^You said hello\n✓ completed in 0 turns, \d+ ms\n$/);
    const json = await stage.runners("start", "e.json", "--follow", "--json");
    expect(JSON.parse(json.stderr)).toEqual({ note: "started", run_id: expect.stringMatching(uuid) });
    expect(linesOf(json.stdout).map((line) => Object.keys(JSON.parse(line)))).toEqual([
      expect.arrayContaining(["message_delta"]),
      expect.arrayContaining(["run_completed"]),
    ]);
  });

  test("is shown with its whole messages where it sent no pieces", async () => {
    const stage = await openStage();
    const said = (content: string) => ({ message: { role: "assistant", content } });
    await stage.work(async function* ({ context }) {
      if (context.input?.text === "long") {
        yield { type: "message.delta", data: { chunk: { role: "assistant", content: "one" } } };
        yield { type: "message.completed", data: said("one") };
        yield { type: "message.completed", data: said("two") };
      }
      yield { type: "run.completed", data: { finish_reason: "stop", ...said("end") } };
    });
    await stage.runners("bind", await stage.put("b.json", binding));
    const tell = async (text: string): Promise<string> => {
      const file = await stage.put("e.json", { ...event, input: { text } });
      return (await stage.runners("start", file, "--follow")).stdout.split("\n✓ ")[0] ?? "";
    };
    expect(await tell("short")).toBe("end");
    expect(await tell("long")).toBe("onetwo\nend");
  });

  test("is printed by its id, the same for the same key; a failed one ends with 3", async () => {
    const stage = await openStage();
    await stage.work(async function* () {
      yield { type: "run.failed", data: { error: "no agent", code: "agent.away" } };
    });
    await stage.runners("bind", await stage.put("b.json", binding));
    await stage.put("e.yaml", "event_id: e-1\nevent_type: message.received\ninput: { text: hello }\n");
    const words = ["start", "e.yaml", "--idempotency-key", "k-1"];
    const [one, other] = [await stage.runners(...words), await stage.runners(...words)];
    expect(one).toEqual({ code: 0, stdout: expect.stringMatching(new RegExp(`^${uuid}\n$`)), stderr: "" });
    expect(other).toEqual(one);
    expect(await stage.ask(...words)).toMatchObject({ run_id: one.stdout.trim() });
    const followed = await stage.runners("start", "e.yaml", "--follow");
    expect(followed).toMatchObject({ code: 3, stdout: "\n✗ agent.away: no agent\n" });
  });

  test("for an event without a binding is refused with a fix", async () => {
    const stage = await openStage();
    const { code, stderr } = await stage.runners("start", await stage.put("e.json", event), "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      reason: "BINDING_NOT_FOUND",
      fix: expect.stringContaining("`runnel runners bind <file>`"),
    });
  });

  test("has verdicts on dropped results, and an audit of its host calls", async () => {
    const stage = await openStage();
    await stage.work(async function* ({ host }) {
      yield { type: "message.delta", data: { text: "no chunk" } };
      await host.getVersion({});
      await host.readFile({ fileKey: "secrets" }).catch(() => {});
      yield { type: "run.completed", data: { finish_reason: "stop" } };
    });
    await stage.runners("bind", await stage.put("b.json", binding));
    const { stderr } = await stage.runners("start", await stage.put("e.json", event), "--follow");
    const [, runId = ""] = /^run (\S+)/.exec(stderr) ?? [];
    const verdicts = linesOf((await stage.runners("verdicts", runId)).stdout);
    expect(verdicts).toEqual([
      expect.stringMatching(/^RESULT +TYPE +DISPOSITION +REASON$/),
      expect.stringMatching(/^1 +message\.delta +dropped_invalid +.*chunk/),
      expect.stringMatching(/^2 +run\.completed +applied +empty_output$/),
    ]);
    const audit = linesOf((await stage.runners("audit", "--run", runId)).stdout);
    expect(audit).toEqual([
      expect.stringMatching(/^TIME +RUN +ACTION +RESOURCE +SCOPE +RESULT +REASON$/),
      expect.stringMatching(/^\S+Z +\S+ +get_config_file +secrets +– +deny +the file is not granted to this run$/),
      expect.stringMatching(/^\S+Z +\S+ +get_langbot_version +– +– +allow +–$/),
    ]);
    expect((await stage.ask("audit")).entries).toHaveLength(2);
    expect((await stage.ask("verdicts", runId)).verdicts).toMatchObject([
      { sequence: 1, disposition: "dropped_invalid" },
      { sequence: 2 },
    ]);
  });
});

describe("an approval", () => {
  async function asked() {
    const stage = await openStage();
    const worker = new HandWorker(stage.target, new GrpcClient(stage.target));
    await worker.register();
    await stage.runners("bind", await stage.put("b.json", { ...binding, approval_policy: { required: true } }));
    const followed = stage.start("start", await stage.put("e.json", event), "--follow");
    const run = await worker.take();
    const payload = { reason: `hidden\u0007\u202e${"x".repeat(300)}` };
    await worker.report(run, { 1: ["action.requested", { action: "ban", target: { user: "u-2" }, payload }] });
    const decide = async (...words: string[]) => JSON.parse((await stage.approvals(...words, "--json")).stdout);
    const { approvals: all } = await decide("list");
    const [{ approval_id: id, digest }] = all;
    return { ...stage, decide, worker, run, followed, id, digest };
  }

  test("is listed, shown whole, and approved by the printed command", async () => {
    const stage = await asked();
    await until("the question to be followed", () => stage.followed.stdout().includes(`approvals show ${stage.id})`));
    expect(stage.followed.stdout()).toContain('→ asks for ban {"user":"u-2"}');
    const list = linesOf((await stage.approvals("list")).stdout);
    expect(list).toEqual([
      expect.stringMatching(/^APPROVAL +STATE +AGENT +ACTION +ABOUT +RUN +EXPIRES$/),
      expect.stringMatching(new RegExp(`^${stage.id} +pending +\\S+ +ban +hidden.* +${stage.run.runId} +\\S+Z$`)),
    ]);
    const shown = (await stage.approvals("show", stage.id)).stdout;
    const hidden = "hidden\\u0007\\u202e";
    const request = `{"action":"ban","target":{"user":"u-2"},"payload":{"reason":"${hidden}${"x".repeat(300)}"}}`;
    expect(linesOf(shown)).toContain(`  request    ${request}`);
    const line = linesOf(shown).at(-1) ?? "";
    expect(line).toBe(`runnel approvals approve ${stage.id} --digest ${stage.digest}`);
    const script = `runnel() { $runnel "$@"; }; ${line} --by ada --comment fine`;
    const approved = await runShell(script, stage.place);
    expect(approved.stdout).toMatch(new RegExp(`^approval ${stage.id} {2}approved\n`));
    expect(approved.stdout).toMatch(/^ {2}decided {4}approve by ada, \S+Z\n {2}comment {4}fine$/m);
    expect(linesOf((await stage.approvals("list", "--state", "pending")).stdout)).toHaveLength(1);
    const { approvals } = await stage.decide("list", "--state", "approved", "--run", stage.run.runId);
    expect(approvals).toMatchObject([{ approval_id: stage.id, state: "approved", decided_by: "ada" }]);
    await stage.worker.report(stage.run, { 2: ["run.completed", { finish_reason: "stop" }] });
    expect(await stage.followed.ended).toMatchObject({ code: 0 });
  });

  test("is rejected, once, for the digest that the person saw", async () => {
    const stage = await asked();
    const fail = async (...words: string[]) => {
      const { code, stderr } = await stage.approvals(...words, "--json");
      return { code, ...JSON.parse(stderr) };
    };
    const show = expect.stringContaining("`runnel approvals show <id>`");
    const wrong = ["reject", stage.id, "--digest", "0".repeat(64)];
    expect(await fail(...wrong)).toMatchObject({ code: 1, reason: "APPROVAL_CHANGED", fix: show });
    const right = ["--digest", stage.digest];
    expect(await stage.decide("reject", stage.id, ...right)).toMatchObject({ state: "rejected" });
    expect(await fail("approve", stage.id, ...right)).toMatchObject({ reason: "APPROVAL_DECIDED", fix: show });
    expect(await fail("approve", stage.run.runId, ...right)).toMatchObject({
      reason: "APPROVAL_NOT_FOUND",
      fix: expect.stringContaining("`runnel approvals list`"),
    });
    // An approval needs the digest of the request, so that people approve only a request that they have seen.
    expect(await runCommand(["approvals", "approve", stage.id])).toMatchObject({ code: 2, stdout: "" });
    expect(await runCommand(["approvals", "list", "--state", "new"])).toMatchObject({ code: 2, stdout: "" });
  });
});

/** Returns the block of this language and name on the page. */
function blockOf(language: string, name: string): string {
  const page = readFileSync(new URL("../../docs/runners.md", import.meta.url), "utf8");
  const block = new RegExp(`\`\`\`${language} ${name}\\n([\\s\\S]+?)\`\`\``).exec(page)?.[1];
  if (block === undefined) {
    throw new Error(`no block ${name} on the page`);
  }
  return block;
}

test.each(["serve", "dev"] as const)(
  "the runner of the page and its commands work as pasted with %s",
  async (command) => {
    const { place, url, runners, approvals } = await openStage(command);
    const checkout = fileURLToPath(new URL("../../", import.meta.url));
    await symlink(join(checkout, "examples"), join(place.directory, "examples"));
    const node = `node() { exec ${process.execPath} "$@"; };`;
    const paste = (commands: string): Promise<Outcome> => {
      const environment = { ...place.environment, URL: url, USER: "ada" };
      return runShell(`set -eo pipefail; ${node} runnel() { $runnel "$@"; }; ${commands}`, { ...place, environment });
    };
    void paste(blockOf("sh", "run-greeter"));
    await until("the greeter to be there", async () => (await runners("list")).stdout.includes(" available "));
    const bound = await paste(blockOf("sh", "bind"));
    expect(bound).toMatchObject({ code: 0, stderr: "" });
    expect(bound.stdout).toMatch(/^bound greetings to plugin:acme\/greeter\/default\n/);
    expect(bound.stdout).toMatch(
      /^greetings +plugin:acme\/greeter\/default +global +message\.received +yes +required /m,
    );
    expect(bound.stdout).toMatch(/^plugin:acme\/greeter\/default +available +greeter-1 /m);
    const started = await paste(`${blockOf("sh", "start")} printf %s "$RUN"`);
    expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`^${uuid}$`)), stderr: "" });
    const run = `RUN=${started.stdout}`;
    await until("the question", async () => (await approvals("list")).stdout.includes(" pending "));
    const approved = await paste(`${run}; ${blockOf("sh", "approve")}`);
    expect(approved).toMatchObject({ code: 0, stderr: "" });
    const request = '{"action":"send_gift","target":{"user":"ada"},"payload":{"size":2}}';
    expect(approved.stdout).toContain(`  request    ${request}\n`);
    expect(approved.stdout).toMatch(/^ {2}decided {4}approve by ada, /m);
    const looked = await paste(`${run}; ${blockOf("sh", "look")}`);
    expect(looked).toMatchObject({ code: 0, stderr: "" });
    expect(looked.stdout).toMatch(
      /^Hello, Ada\.\n→ asks for send_gift .*\n\(waits .*\n A gift is on its way\.\n✓ completed /,
    );
    expect(looked.stdout).toMatch(/ approval_get +2 +– +allow /);
  },
);

test("the page's command generates a client for another language from one file", async () => {
  const directory = await ownFolder();
  const checkout = fileURLToPath(new URL("../../", import.meta.url));
  await symlink(join(checkout, "clients"), join(directory, "clients"));
  const environment = { PATH: `${join(checkout, "node_modules/.bin")}:${process.env.PATH}` };
  const npx = 'npx() { "$@"; };';
  const generated = await runShell(`set -e; ${npx} ${blockOf("sh", "stubs")}`, { directory, environment });
  expect(generated).toMatchObject({ code: 0 });
  const files = await readdir(join(directory, "stubs"), { recursive: true });
  expect(files).toEqual(
    expect.arrayContaining(["runnel/runner/v1/runner_worker_service_pb.js", "runnel/host/v1/host_model_service_pb.js"]),
  );
});
