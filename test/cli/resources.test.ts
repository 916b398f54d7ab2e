// `runnel sessions`, `schedules`, `callbacks` and `runs show`: what a client has, and what it does with it.

import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { runCommand } from "./command.ts";

async function openStage(environment: Readonly<Record<string, string>> = {}) {
  const { url, databaseUrl } = await startService({}, { environment });
  return {
    ...{ url, databaseUrl },
    run: (...words: string[]) => runCommand([...words, "--url", url]),
    read: async (...words: string[]) => JSON.parse((await runCommand([...words, "--json", "--url", url])).stdout),
  };
}

test("sessions are listed, shown with their conversation, and deleted after a yes", async () => {
  const { run, read } = await openStage();
  const { session_id: sessionId, run_id: runId } = JSON.parse(
    (await run("run", "hello pace=0 words=3", "--json")).stderr,
  );
  expect((await run("sessions", "list")).stdout).toMatch(new RegExp(`${sessionId} +completed +cli +.*This is the`));
  expect((await run("sessions", "show", sessionId)).stdout).toMatch(
    new RegExp(`^session ${sessionId}  completed\n.*agent +cli\n.*run +${runId}\n.*output +This is the`, "s"),
  );
  expect((await run("sessions", "messages", sessionId)).stdout).toMatch(
    /^1 user {2}hello pace=0 words=3\n2 assistant {2}This/,
  );
  const { messages } = await read("sessions", "messages", sessionId);
  expect(messages).toMatchObject([
    { number: 1, run_id: runId },
    { number: 2, run_id: runId },
  ]);
  expect((await run("runs", "show", runId)).stdout).toMatch(/input +hello pace=0 words=3\n.*output +This is the/);
  expect(await run("sessions", "delete", sessionId)).toMatchObject({ code: 2, stdout: "" });
  expect(await run("sessions", "delete", sessionId, "--yes")).toMatchObject({ stdout: `deleted ${sessionId}\n` });
  expect(await read("sessions", "list")).toEqual({ sessions: [] });
});

test("a schedule is created with an agent, listed, shown and deleted", async () => {
  const { run, read } = await openStage();
  const times = ["--cron", "0 7 * * 1-5", "--time-zone", "Europe/Berlin"];
  const created = await run("schedules", "create", "Report.", ...times, "--id", "nightly", "--model", "demo");
  expect(created.stdout).toMatch(
    /^schedule nightly\n.*cron +0 7 \* \* 1-5 Europe\/Berlin\n.*next +\d{4}-.*message +Report\./s,
  );
  expect((await run("schedules", "list")).stdout).toMatch(/\nnightly +0 7 \* \* 1-5 +\d{4}-\S+ +– +–/);
  const schedule = await read("schedules", "show", "nightly");
  expect(schedule).toMatchObject({
    session: { agent: { name: "cli", model: "demo" } },
    message: { message: "Report." },
  });
  const wrong = await run("schedules", "create", "Report.", "--cron", "never");
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("cron") });
  expect((await run("schedules", "pause", "nightly")).stdout).toMatch(/^schedule nightly\n.*next +paused\n/s);
  expect((await run("schedules", "list")).stdout).toMatch(/\nnightly +0 7 \* \* 1-5 +paused +–/);
  const trigger = ["schedules", "trigger", "nightly", "--idempotency-key", "once"];
  const runId = (await run(...trigger)).stdout.trim();
  expect((await run(...trigger)).stdout.trim()).toBe(runId);
  expect((await run("tail", runId)).stdout).toContain("This is the demo model");
  expect((await run("schedules", "resume", "nightly")).stdout).toMatch(/next +\d{4}-/);
  expect(await run("schedules", "delete", "nightly")).toMatchObject({ code: 0, stdout: "deleted nightly\n" });
  expect(await read("schedules", "list")).toEqual({ schedules: [] });
});

test("callbacks are listed by their state, and a dead one is sent again", async () => {
  const { url, databaseUrl, run } = await openStage({ RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32" });
  const callback = { base_url: "http://127.0.0.1:1/hook" };
  const body = JSON.stringify({ session_id: "told", agent: { name: "a" }, callback });
  await fetch(`${url}/v1/sessions`, { method: "POST", headers: credentialsOf(), body });
  const row = /\n(\S+) +pending +told +http:\/\/127\.0\.0\.1:1\/hook +\d+ +\S+ +connection refused/;
  const id = await until("a failure", async () => row.exec((await run("callbacks", "list")).stdout)?.[1]);
  await query(databaseUrl, "update callback set state = 'dead', end_time = now()");
  const dead = ["callbacks", "list", "--state", "dead"];
  expect((await run(...dead)).stdout).toContain(id);
  expect((await run("callbacks", "redeliver", id)).stdout).toContain(`callback ${id}  pending\n`);
  expect((await run(...dead)).stdout).not.toContain(id);
});
