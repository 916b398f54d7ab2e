// The recipes in TypeScript do what their pages say, against the real service. Those in Python: external/recipes.

import { globSync, readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { openSlackHost } from "./slack-host.ts";
import { recipesFolder, setRecipeStage } from "./stage.ts";

/** Each test starts programs that load the contract, on a machine with other work. */
vi.setConfig({ testTimeout: 120_000 });

test("slack-bot: an event that comes twice has one answer, in its thread, also when the bot was dead meanwhile", async () => {
  const { provider, start } = await setRecipeStage();
  const finish = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    await finish.promise;
    wire.text("Hello, Ada.");
    wire.done("stop");
  });
  const slack = await openSlackHost();
  const [port = 0] = await findFreePorts(1);
  const startBot = async () => {
    const bot = start("slack-bot/bot.ts", [], { environment: { ...slack.environment, PORT: `${port}` } });
    await until("the bot to listen", () => bot.stdout().includes("listening"));
    return bot;
  };
  const url = `http://127.0.0.1:${port}/slack/events`;
  const event = { type: "app_mention", user: "U1", channel: "C1", text: "<@U0BOT> Hi", ts: "1700000000.000100" };
  const mention = { type: "event_callback", team_id: "T1", event_id: "Ev1", event };

  const bot = await startBot();
  const challenge = await slack.sendEvent(url, { type: "url_verification", challenge: "3eZbrw1aB" });
  expect(await challenge.json()).toEqual({ challenge: "3eZbrw1aB" });
  expect((await slack.sendEvent(url, mention, { secret: "another" })).status).toBe(401);
  expect((await slack.sendEvent(url, mention, { ageSeconds: 600 })).status).toBe(401);
  expect((await slack.sendEvent(url, mention)).status).toBe(200);
  expect((await slack.sendEvent(url, mention)).status).toBe(200);
  process.kill(bot.pid, "SIGKILL");
  await bot.finished;
  finish.resolve();
  await startBot();
  await until("the answer", () => slack.posted.length > 0);
  expect(slack.posted).toEqual([{ channel: "C1", thread_ts: "1700000000.000100", text: "Hello, Ada." }]);
  expect(provider.requests).toHaveLength(1);
  expect(provider.requests[0]?.body.messages.at(-1)).toMatchObject({ role: "user", content: "Hi" });

  provider.respond(answer("Tomorrow."));
  const reply = { ...event, text: "<@U0BOT> When?", ts: "1700000005.000200", thread_ts: event.ts };
  await slack.sendEvent(url, { ...mention, event_id: "Ev2", event: reply });
  await until("the second answer", () => slack.posted.length > 1);
  expect(slack.posted.at(-1)).toMatchObject({ thread_ts: event.ts, text: "Tomorrow." });
  expect(JSON.stringify(provider.requests[1]?.body.messages)).toContain("Hello, Ada.");
});

test("nightly-report: the run of a schedule becomes a file, and a second start keeps the schedule", async () => {
  const { provider, service, start } = await setRecipeStage();
  provider.respond(answer("All orders left in time."));
  const reports = await openFolder();
  const [port = 0] = await findFreePorts(1);
  const startReporter = async () => {
    const program = start("nightly-report/report.ts", [], { environment: { REPORTS: reports, PORT: `${port}` } });
    await until("the schedule", () => program.stdout().includes("the next report comes at"));
    return program;
  };
  const first = await startReporter();
  process.kill(first.pid, "SIGKILL");
  await first.finished;
  await startReporter();
  await query(
    service.databaseUrl,
    "update schedule set next_time = date_trunc('milliseconds', now()) - interval '1 second'",
  );
  const [name = ""] = await until("the report", async () => {
    const names = (await readdir(reports)).filter((each) => each.endsWith(".md"));
    return names.length > 0 && names;
  });
  expect(await readFile(join(reports, name), "utf8")).toBe("All orders left in time.");
});

test.each([
  ["y", "const answer = 42;\n"],
  ["n", "const answer = 41;\n"],
])("code-review: a change waits for a person, who answers %s to the second program", async (typed, text) => {
  const folder = await openFolder();
  const { provider, start } = await setRecipeStage({ sessionsWorkDirs: [folder] });
  const file = join(folder, "main.ts");
  await writeFile(file, "const answer = 41;\n");
  const change = { file_path: "main.ts", old_string: "41", new_string: "42" };
  provider.respond(callTools({ id: "c1", name: "edit_file", arguments: JSON.stringify(change) }), answer("Reviewed."));
  const killed = start("code-review/review.ts", [folder, "first"]);
  await until("the question", () => killed.stdout().includes("Change it?"));
  process.kill(killed.pid, "SIGKILL");
  await killed.finished;
  const review = start("code-review/review.ts", [folder, "first"], { input: `${typed}\n` });
  const { stdout, stderr } = await review.finished;
  expect(stdout.toString(), stderr).toContain("main.ts\n- 41\n+ 42\nChange it? (y/n)");
  expect(stdout.toString()).toMatch(/Reviewed\.\n$/);
  expect(await readFile(file, "utf8")).toBe(text);

  const again = await start("code-review/review.ts", [folder, "first"], { input: "" }).finished;
  expect(again.stdout.toString(), again.stderr).not.toContain("Change it?");
  expect(again.stdout.toString()).toMatch(/Reviewed\.\n$/);
  expect(provider.requests).toHaveLength(2);
});

test("tenants: each has its own runs and usage, and none of another one", async () => {
  const adminToken = "an-admin-token-of-32-characters-1";
  const { provider, start } = await setRecipeStage({ authAdminToken: adminToken });
  provider.respond(answer("On its way."), answer("Cancelled."));
  const program = start("tenants/tenants.ts", [], { environment: { RUNNEL_AUTH_ADMIN_TOKEN: adminToken } });
  const { stdout, stderr } = await program.finished;
  const lines = stdout.toString().split("\n");
  expect(lines.slice(0, 4), stderr).toEqual([
    "acme: On its way.",
    "globex: Cancelled.",
    "acme has 1 run",
    "globex gets RUN_NOT_FOUND",
  ]);
  expect(lines.slice(4, 6)).toEqual([
    expect.stringMatching(/^acme has used \d+ tokens$/),
    expect.stringMatching(/^globex has used \d+ tokens$/),
  ]);
});

test("cost-limits: a run that uses its budget up is stopped, and another one is not", async () => {
  const { provider, start } = await setRecipeStage();
  provider.respond(answer("one two three ".repeat(2_000)), answer("one"));
  const stopped = await start("cost-limits/limits.ts", ["Count.", "500"]).finished;
  expect(stopped.stdout.toString(), stopped.stderr).toMatch(/stopped: budget exceeded: the run has used/);
  const whole = await start("cost-limits/limits.ts", ["Count.", "50000"]).finished;
  expect(whole.stdout.toString(), whole.stderr).toMatch(
    /^one\n(?:about )?\d+ tokens.*\ntoday: \d+ of any number of tokens\n$/,
  );
});

test("from-temporal: the tool runs, and a second start with the same id gets the answer of the first", async () => {
  const { provider, start } = await setRecipeStage();
  provider.respond(callTools({ id: "c1", name: "refund_order", arguments: '{"order":7}' }), answer("Done."));
  const [port = 0] = await findFreePorts(1);
  const environment = { PORT: `${port}` };
  const first = await start("from-temporal/agent.ts", ["refund-7", "Refund order 7."], { environment }).finished;
  expect(first.stdout.toString(), first.stderr).toBe("Done.\n");
  expect(JSON.stringify(provider.requests[1]?.body.messages)).toMatch(/refunded order 7, receipt [0-9a-f]{8}/);
  const second = await start("from-temporal/agent.ts", ["refund-7", "Refund order 7."], { environment }).finished;
  expect(second.stdout.toString(), second.stderr).toBe("Done.\n");
  expect(provider.requests).toHaveLength(2);
});

test("each recipe has a page with two commands and what happens on a crash, and the list names it", () => {
  const list = readFileSync(join(recipesFolder, "README.md"), "utf8");
  const names = globSync("*/README.md", { cwd: recipesFolder }).map((path) => path.replace("/README.md", ""));
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const page = readFileSync(join(recipesFolder, name, "README.md"), "utf8");
    const [, block = ""] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
    expect([name, block.trim().split("\n").length]).toEqual([name, 2]);
    expect(page).toContain("**On a crash**");
    expect(list).toContain(`](${name}/README.md)`);
    const programs = globSync(`${name}/*.{ts,py}`, { cwd: recipesFolder });
    expect(programs.map((path) => block.includes(path))).toEqual([true]);
    const lines = programs.map((path) => readFileSync(join(recipesFolder, path), "utf8").split("\n").length - 1);
    expect(Math.max(...lines)).toBeLessThanOrEqual(120);
  }
});
