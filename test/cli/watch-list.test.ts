// `--watch` of lists: a terminal shows the list as it is, a pipe gets what changes, and Ctrl-C is the regular end.

import { expect, test } from "vitest";
import { programPath } from "../harness/program.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { runCommand, startCommand, startInTerminal } from "./command.ts";

async function openStage() {
  const { url } = await startService();
  const environment = { RUNNEL_URL: url };
  return {
    environment,
    run: async (...words: string[]) => (await runCommand(words, { environment })).stdout.trim(),
    watch: (...words: string[]) => startCommand([...words, "--watch"], { environment }),
  };
}

const linesOf = (text: string): string[] => text.trim().split("\n");

test("a pipe gets a run when it appears and when it changes, and nothing twice", async () => {
  const { run, watch } = await openStage();
  const known = await run("run", "hello pace=0", "--detach");
  const watching = watch("runs", "list", "-o", "jsonl");
  await until("the known run", () => watching.stdout().includes(known));
  const started = await run("run", "hello pace=0", "--detach");
  const states = () =>
    linesOf(watching.stdout())
      .map((line) => JSON.parse(line))
      .filter(({ run_id }) => run_id === started)
      .map(({ state }) => state);
  await until("its end", () => watching.stdout().includes(started) && states().at(-1) === "completed");
  const next = await run("run", "hello pace=0", "--detach");
  await until("the next run", () => watching.stdout().includes(next));
  watching.child.kill("SIGINT");
  const { code, stdout, stderr } = await watching.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(new Set(linesOf(stdout)).size).toBe(linesOf(stdout).length);
});

test("a list of sessions has its head once in a pipe, and ids of approvals are ids alone", async () => {
  const { run, watch } = await openStage();
  const sessions = watch("sessions", "list");
  await until("the head", () => sessions.stdout().startsWith("SESSION"));
  await run("run", "hello pace=0");
  await until("the session", () => sessions.stdout().includes("completed"));
  sessions.child.kill("SIGINT");
  expect((await sessions.ended).stdout.match(/^SESSION/gm)).toHaveLength(1);
  const approvals = watch("approvals", "list", "-o", "id");
  const asking = ["run", "list the files pace=0", "--approve", "list_dir", "--detach"];
  await run(...asking);
  await until("the approval", () => approvals.stdout().endsWith("\n"));
  approvals.child.kill("SIGINT");
  expect(await approvals.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
});

test("a terminal shows the list again when it changes, and Ctrl-C ends it", async () => {
  const { environment, run } = await openStage();
  const line = [process.execPath, programPath, "runs", "list", "--watch", "--no-color"];
  const terminal = startInTerminal(line, { environment });
  const screens = () => terminal.stdout().split("\u001b[H\u001b[J").slice(1);
  await until("the empty list", () => screens().length === 1);
  const first = await run("run", "hello pace=0", "--detach");
  await until("the first run", () => screens().at(-1)?.includes(first));
  const second = await run("run", "hello pace=0", "--detach");
  await until("both", () => [first, second].every((id) => screens().at(-1)?.includes(id)));
  terminal.type("\u0003");
  expect((await terminal.ended).code).toBe(0);
});

test("a service that is absent is an error at once", async () => {
  const words = ["runs", "list", "--watch", "--url", "http://127.0.0.1:1"];
  expect(await runCommand(words)).toMatchObject({ code: 1, stderr: expect.stringContaining("no service at") });
});
