// The formats of answers: tables, the JSON that REST has, a document a line, and ids for pipes.

import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import { runCommand, runShell } from "./command.ts";

async function openStage() {
  const { url } = await startService();
  const environment = { RUNNEL_URL: url };
  return {
    environment,
    run: (...words: string[]) => runCommand(words, { environment }),
    rest: async (path: string) => (await (await fetch(`${url}${path}`, { headers: credentialsOf() })).text()).trim(),
  };
}

test("the JSON of a command is that of its REST route", async () => {
  const { run, rest } = await openStage();
  const lines = (await run("run", "hello pace=0 words=3", "--tools", "list_dir", "--json")).stdout.trim().split("\n");
  const { run_id: id } = JSON.parse(lines[0] ?? "");
  const results = lines.map((line) => JSON.parse(line));
  expect({ results }).toEqual(JSON.parse(await rest(`/v1/runs/${id}/results`)));
  const { session_id: session } = JSON.parse(await rest(`/v1/runs/${id}`));
  const times = ["--cron", "0 7 * * *", "--id", "nightly"];
  const created = await run("schedules", "create", "Report.", ...times, "--json");
  expect(created.stdout.trim()).toBe(await rest("/v1/schedules/nightly"));
  for (const [words, path] of [
    [["runs", "show", id], `/v1/runs/${id}`],
    [["runs", "list"], "/v1/runs"],
    [["sessions", "show", session], `/v1/sessions/${session}`],
    [["sessions", "list"], "/v1/sessions"],
    [["sessions", "messages", session], `/v1/sessions/${session}/transcript`],
    [["schedules", "show", "nightly"], "/v1/schedules/nightly"],
    [["schedules", "list"], "/v1/schedules"],
    [["callbacks", "list"], "/v1/callbacks"],
    [["approvals", "list"], "/v1/approvals"],
    [["jobs", "list"], "/api/v1/jobs"],
    [["runners", "list"], "/v1/runners"],
  ] as const) {
    const json = (await run(...words, "-o", "json")).stdout.trim();
    expect([words, json]).toEqual([words, await rest(path)]);
    expect((await run(...words, "--json")).stdout.trim()).toBe(json);
  }
});

test("-o id and -o jsonl print a line for each, and -o wide more columns", async () => {
  const { run, environment } = await openStage();
  const ids = ["one", "two"];
  for (const id of ids) {
    expect((await run("schedules", "create", "Report.", "--cron", "0 7 * * *", "--id", id, "-o", "id")).stdout).toBe(
      `${id}\n`,
    );
  }
  expect((await run("-o", "id", "schedules", "list")).stdout).toBe("one\ntwo\n");
  const lines = (await run("schedules", "list", "-o", "jsonl")).stdout.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).schedule_id)).toEqual(ids);
  expect((await run("schedules", "list")).stdout).not.toContain("MESSAGE");
  expect((await run("schedules", "list", "--output", "wide")).stdout).toMatch(/ MESSAGE\n.* cli +Report\.\n/);
  const deleted = await runShell("$runnel schedules list -o id | xargs -n1 $runnel schedules delete -o id", {
    environment,
  });
  expect(deleted.stdout).toBe("one\ntwo\n");
  expect((await run("schedules", "list", "-o", "id")).stdout).toBe("");
});

test.each([
  [["runs", "list", "-o", "jsno"], "expected table, wide, json, jsonl, id", "Did you mean json?"],
  [["runs", "list", "--output", "tabel"], "expected table, wide, json, jsonl, id", "Did you mean table?"],
  [["run", "hello", "-o", "id"], "the answer of this command has no ids", "use table, json or jsonl"],
  [["doctor", "-o", "id"], "the answer of this command has no ids", "use table, json or jsonl"],
])("%j is refused before anything is done", async (words, told, fix) => {
  const { code, stdout, stderr } = await runCommand(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(told);
  expect(stderr).toContain(fix);
});

test("a failure is JSON in both formats for programs", async () => {
  const nowhere = ["usage", "--url", "http://127.0.0.1:1"];
  for (const format of ["json", "jsonl"]) {
    expect(JSON.parse((await runCommand([...nowhere, "-o", format])).stderr)).toMatchObject({ reason: "UNAVAILABLE" });
  }
});
