// `runnel exchange` without a service: the command starts its own.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../harness/wait.ts";
import { ownFolder } from "./command.ts";
import { done, stageIn } from "./exchange-stage.ts";

// The story: one command watches. Another command beside it, with a service of its own on the same database, sends what ends
// the exchange. The last command to leave stops Postgres.
test("needs no service, key or database, and another command may run beside it", async () => {
  const directory = await ownFolder();
  const stage = stageIn(directory, []);
  const isStopped = (): boolean => !readdirSync(join(directory, ".runnel/postgres")).includes("postmaster.pid");
  const first = stage.start(["new", "Say hello."]);
  await until("the first outbox", () => first.stdout().includes("chat window"), 60_000);
  expect(first.stderr()).toMatch(/^Creating the database in \S+\n$/);
  first.child.kill("SIGINT");
  const left = await first.ended;
  const { sessionId } = stage.session();
  expect({ code: left.code, stderr: left.stderr.split("\n").slice(1) }).toEqual({
    code: 130,
    stderr: [
      "",
      `interrupted; nothing is lost: runnel exchange resume ${sessionId}`,
      "(closing the database; once more leaves at once)",
      "",
    ],
  });
  expect(isStopped()).toBe(true);
  const watching = stage.start(["watch"]);
  await until("it to watch", () => watching.stdout().includes("outbox 1"), 60_000);
  stage.put("inbox/a.txt", '[CREATE_FILE path="a.txt"]\nhello\n[/CREATE_FILE]\n');
  await until("the second outbox", () => watching.stdout().includes("outbox 2"));
  const sent = await stage.start(["submit", "-"], { input: done("from beside") }).ended;
  expect(sent).toMatchObject({ code: 0, stdout: "✓ completed: from beside\n", stderr: "" });
  expect(await watching.ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/✓ completed: from beside\n$/),
    stderr: "",
  });
  expect(stage.read("workspace/a.txt")).toBe("hello");
  expect(isStopped()).toBe(true);
});
