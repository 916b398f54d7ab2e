// Ten tasks of a person at the terminal, each from an empty folder, with the lines of docs/first-tasks.md and what the terminal shows.
// They print what each took, and judge no time.

import { afterAll, expect, test } from "vitest";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openProvider } from "../fixtures.ts";
import { emptyDatabase } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { controlC, controlD, type Effort, linesOf, openPerson, readText } from "./person.ts";

/** Each starts a Postgres and a service, some twice. */
const timeout = 240_000;
const followLine = /^follow it: (runnel tail (\S+))$/m;
const efforts: [task: string, effort: Effort][] = [];

afterAll(() => {
  const rows = efforts.map(([task, { steps, keystrokes, answerMs = 0 }]) =>
    [
      task.padEnd(52),
      String(steps).padStart(5),
      String(keystrokes).padStart(10),
      (answerMs / 1000).toFixed(1).padStart(15),
    ].join("  "),
  );
  process.stdout.write(
    `${["task".padEnd(52), "steps", "keystrokes", "first answer, s"].join("  ")}\n${rows.join("\n")}\n`,
  );
});

async function begin(task: string, variables: Readonly<Record<string, string>> = {}) {
  const person = await openPerson(variables);
  efforts.push([task, person.effort]);
  return person;
}

/** A provider in place of the model's, with its key in the environment. */
async function beginWithProvider(task: string, more: Readonly<Record<string, string>> = {}) {
  const provider = await openProvider();
  const variables = {
    ...more,
    RUNNEL_PROVIDERS_OPENAI_KEY: "sk-test",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
  };
  return { provider, ...(await begin(task, variables)) };
}

test("1 see a run survive its service", { timeout }, async () => {
  const { openShell } = await begin("1 see a run survive its service");
  const shell = await openShell();
  const [line = ""] = linesOf("demo");
  await shell.enter(line);
  await shell.seeAnswer(/^gRPC #\d+ /m);
  expect(await shell.finish()).toContain("none lost, none twice, the same text");
});

test("2 serve, and call by curl", { timeout }, async () => {
  const { startDev, openShell } = await begin("2 serve, and call by curl");
  const shown = await startDev();
  const shell = await openShell();
  const lines = /^ {2}id=[\s\S]*\/stream$/m.exec(shown)?.[0].split("\n") ?? [];
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    await shell.paste(line.trim());
  }
  await shell.seeAnswer("event: text");
  expect(await shell.finish()).toContain("event: done");
});

test("3 ask about the files of a folder", { timeout }, async () => {
  const { startDev, openShell } = await begin("3 ask about the files of a folder");
  await startDev();
  const shell = await openShell();
  const [write = "", ask = ""] = linesOf("files");
  await shell.enter(write);
  await shell.finish();
  await shell.enter(ask);
  await shell.seeAnswer("notes.txt");
  expect(await shell.finish()).toContain("✓ completed");
});

test("4 write an agent, and edit it while dev runs", { timeout }, async () => {
  const { provider, openShell, folder } = await beginWithProvider("4 write an agent, and edit it while dev runs");
  const dev = await openShell();
  for (const line of linesOf("agent")) {
    await dev.enter(line);
  }
  await dev.see("/stream\n");
  provider.respond(answer("nothing is wrong"), answer("still nothing"));
  const shell = await openShell();
  const [ask = "", edit = "", askAgain = ""] = linesOf("edit");
  await shell.enter(ask);
  await shell.seeAnswer("nothing is wrong");
  await shell.finish();
  await shell.enter(edit);
  await dev.see("is ready again");
  await shell.enter(askAgain);
  await shell.see("still nothing");
  await shell.finish();
  const systems = provider.requests.map(({ body }) => body.messages[0]?.content);
  expect(systems).toEqual([
    "Name what is wrong, with the file and the line.",
    "Name what is wrong, with the file and the line.\nUse at most one sentence.",
  ]);
  expect(readText(folder, "agents/reviewer.md")).toContain("one sentence");
});

test("5 get JSON", { timeout }, async () => {
  const { provider, startDev, openShell } = await beginWithProvider("5 get JSON");
  await startDev();
  provider.respond(answer('{"total":7}'));
  const shell = await openShell();
  for (const line of linesOf("schema")) {
    await shell.enter(line);
  }
  // The command tells how the run ended on standard error, before or after what the next program of the pipe prints.
  const answered = await shell.seeAnswer(/^7$/m);
  expect(answered + (await shell.finish())).toContain("✓ completed");
  expect(provider.requests[0]?.body).toMatchObject({
    response_format: { json_schema: { schema: { required: ["total"] } } },
  });
});

test("6 leave a run alone, and come back", { timeout }, async () => {
  const { provider, startDev, openShell } = await beginWithProvider("6 leave a run alone, and come back");
  await startDev();
  provider.respond(hangAfter("one two three"));
  const first = await openShell();
  const [detach = ""] = linesOf("detach");
  await first.enter(detach);
  const [, follow = "", runId = ""] = followLine.exec(await first.finish()) ?? [];
  await first.paste(follow);
  await first.seeAnswer("one two three");
  await first.close();
  const second = await openShell();
  const [list = "", cancel = ""] = linesOf("return");
  await second.enter(list);
  expect(await second.finish()).toContain(runId);
  await second.paste(follow);
  await second.see("one two three");
  second.press(controlC);
  await second.finish();
  await second.enter(cancel);
  await second.finish();
  await second.enter(list);
  expect(await second.finish()).not.toContain(runId);
});

test("7 talk, and decide about each write", { timeout }, async () => {
  const { provider, startDev, openShell, folder } = await beginWithProvider("7 talk, and decide about each write");
  await startDev();
  const write = callTools({ id: "c", name: "write_file", arguments: '{"file_path":"a.txt","content":"hello"}' });
  provider.respond(write, answer("It is written."));
  const shell = await openShell();
  const [chat = ""] = linesOf("chat");
  await shell.enter(chat);
  await shell.see("> ");
  shell.press("Write hello to a.txt.\r");
  await shell.see("Approve? [y = once");
  shell.press("y\r");
  await shell.seeAnswer("It is written.");
  await shell.see("✓ completed");
  expect(readText(folder, "a.txt")).toBe("hello");
  shell.press(controlD);
  expect(await shell.finish()).toContain("resume it: runnel chat --session");
});

test("8 call a served instance with a key, and as another client", { timeout }, async () => {
  const { openShell, url, folder } = await begin("8 call a served instance with a key");
  const server = await openShell();
  for (const line of linesOf("serve")) {
    await server.enter(line);
    await server.finish();
  }
  await until("the service", () => readText(folder, "serve.log").includes("serves on"));
  for (const line of linesOf("keys")) {
    await server.enter(line);
    await server.finish();
  }
  const shell = await openShell();
  const [login = "", loginAgain = "", run = "", list = "", listAgain = ""] = linesOf("login");
  await shell.enter(login);
  await shell.see("URL of the service");
  shell.press(`${url}\r`, 2);
  await shell.see("API key");
  shell.press(`${readText(folder, "billing.txt").trim()}\r`, 2);
  expect(await shell.finish()).toContain("knows you as client billing");
  await shell.enter(loginAgain);
  expect(await shell.finish()).toContain("knows you as client shipping");
  await shell.enter(run);
  await shell.seeAnswer("This is the demo model");
  await shell.finish();
  await shell.enter(list);
  expect(await shell.finish()).not.toContain("demo model");
  await shell.enter(listAgain);
  expect(await shell.finish()).toContain("demo model");
});

test("9 start runs by the clock", { timeout }, async () => {
  const { startDev, openShell } = await begin("9 start runs by the clock");
  await startDev();
  const shell = await openShell();
  const [create = "", trigger = "", list = "", pause = "", remove = ""] = linesOf("schedule");
  const enter = async (line: string): Promise<string> => {
    await shell.enter(line);
    return await shell.finish();
  };
  expect(await enter(create)).toMatch(/^schedule nightly\n.*next +\d{4}-/s);
  const runId = (await enter(trigger)).split("\n")[0];
  await shell.enter("runnel tail", runId);
  await shell.seeAnswer("This is the demo model");
  await shell.finish();
  expect(await enter(list)).toMatch(/^nightly +0 7 \* \* 1-5 /m);
  expect(await enter(pause)).toMatch(/next +paused/);
  expect(await enter(remove)).toContain("deleted nightly");
  expect(await enter(list)).not.toContain("nightly");
});

test("10 kill a service in the middle of a run", { timeout }, async () => {
  const variables = { DATABASE_URL: await emptyDatabase() };
  const { provider, openShell, folder } = await beginWithProvider(
    "10 kill a service in the middle of a run",
    variables,
  );
  provider.respond(hangAfter("half of an answer"), answer("a whole answer"));
  const shell = await openShell();
  const enter = async (line: string): Promise<string> => {
    await shell.enter(line);
    return await shell.finish();
  };
  const lines = linesOf("kill");
  for (const line of lines.slice(0, 3)) {
    await enter(line);
  }
  await until("the service", () => readText(folder, "serve.log").includes("serves on"));
  const [run = "", kill = "", serve = ""] = lines.slice(3);
  const [, follow = ""] = followLine.exec(await enter(run)) ?? [];
  await provider.request(0);
  await enter(kill);
  await enter(serve);
  await until("the service again", () => readText(folder, "again.log").includes("serves on"));
  await shell.paste(follow);
  await shell.seeAnswer("a whole answer");
  expect(await shell.finish()).toContain("✓ completed");

  provider.respond(fail(401, '{"error":{"message":"wrong key"}}'));
  const [doctor = ""] = linesOf("doctor");
  expect(await enter(doctor)).toMatch(/✗ provider-openai .*/);
});
