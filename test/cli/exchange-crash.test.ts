// What an exchange survives: kills of the command between any two steps, a kill of the service, and files that are still being
// written.

import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFolders } from "../../src/cli/exchange/folders.ts";
import { Inbox } from "../../src/cli/exchange/inbox.ts";
import { folderFailpoints } from "../../src/protocols/exchange/failpoints.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { addLine, done, eventsOf, firstLine, openStage } from "./exchange-stage.ts";

// The story: an answer is in the inbox and the command takes it. The command dies silently at one of these points. The next
// command finishes what the first one began, and takes the next answer.
const deaths = [
  // After the session, before the first outbox.
  ["beside.written:2", 1],
  ["file.noted", 2],
  ["file.answered", 2],
  ["file.settled", 2],
  // Between the session and the second outbox.
  ["beside.written:6", 2],
  ["file.kept", 2],
  ["file.moved", 2],
] as const;

test("after a kill at any failpoint and a second command each answer has been executed once", async () => {
  const service = await startService();
  await Promise.all(
    deaths.map(async ([failpoint, sequence]) => {
      const stage = await openStage(service);
      stage.put("workspace/count.txt", firstLine);
      stage.put("inbox/a.txt", addLine, 1);
      const killed = await stage.start(["new", "x", "--json"], { failpoint }).ended;
      const isTaken = eventsOf(killed.stdout).some(({ event }) => event === "taken");
      expect({ failpoint, code: killed.code, isTaken }).toEqual({ failpoint, code: null, isTaken: sequence === 2 });
      stage.put("inbox/b.txt", done("whole"), 2);
      const { code, stdout, stderr } = await stage.start(["resume", "--json"]).ended;
      const { sessionId } = stage.session();
      const last = eventsOf(stdout).at(-1);
      expect({
        failpoint,
        code,
        stderr,
        last,
        session: stage.session(),
        work: stage.read("workspace/count.txt"),
      }).toEqual({
        failpoint,
        code: 0,
        stderr: "",
        last: { event: "completed", session_id: sessionId, summary: "whole" },
        session: expect.objectContaining({ sequenceNumber: 2, isComplete: true }),
        work: "one\nmore\n",
      });
      // The command reports each outbox once, after it has finished the answer before it.
      const shown = eventsOf(stdout).flatMap(({ event, sequence: number }) => (event === "outbox" ? [number] : []));
      expect({ failpoint, shown }).toEqual({ failpoint, shown: sequence === 1 ? [1, 2] : [2] });
      expect(stage.list("outbox")).toEqual([1, 2].map((number) => `${sessionId}_seq000${number}.txt`));
      expect(stage.list("inbox")).toEqual(["processed"]);
      expect(stage.list("inbox/processed")).toEqual(["a.txt", "b.txt"]);
      expect(stage.list("sessions")).toEqual([`${sessionId}.json`]);
    }),
  );
});

test("commands were killed at each of their failpoints", () => {
  const tried: readonly string[] = deaths.map(([name]) => name.replace(/:\d+$/, ""));
  expect(folderFailpoints.filter((place) => !tried.includes(place))).toEqual([]);
});

// The story: the command waits for an answer. The service dies and comes back on the same port and database. The command then
// takes an answer that was saved meanwhile.
test("a command survives kill -9 and restart of the service, and reports it once", async () => {
  const environment = { DATABASE_URL: await testDatabase() };
  const first = await startProcess(environment);
  const stage = await openStage(first);
  stage.put("workspace/count.txt", firstLine);
  const running = stage.start(["new", "x", "--json"]);
  await until("the first outbox", () => running.stdout().includes('"outbox"'));
  await first.kill();
  await until("the command to notice", () => running.stderr() !== "");
  stage.put("inbox/a.txt", addLine, 1);
  stage.put("inbox/b.txt", done("back"), 2);
  await startProcess({ ...environment, RUNNEL_SERVER_PORT: new URL(first.url).port });
  const { code, stdout, stderr } = await running.ended;
  expect({ code, last: eventsOf(stdout).at(-1) }).toMatchObject({ code: 0, last: { summary: "back" } });
  expect(eventsOf(stderr)).toEqual([{ note: "reconnecting", why: expect.any(String) }]);
  expect(stage.read("workspace/count.txt")).toBe("one\nmore\n");
});

test("a file is not taken while a program writes to it, nor for half a second after", async () => {
  const directory = mkdtempSync(join(tmpdir(), "runnel-inbox-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const folders = await openFolders({ dir: directory });
  const inbox = new Inbox(folders);
  const path = join(folders.inbox, "a.txt");
  const startedMs = performance.now();
  let writtenMs = startedMs;
  await until("much to be written", async () => {
    writtenMs = performance.now();
    appendFileSync(path, "more\n");
    expect(await inbox.next()).toBeUndefined();
    return performance.now() - startedMs > 700;
  });
  const file = await until("it to be whole", () => inbox.next());
  expect(performance.now() - writtenMs).toBeGreaterThanOrEqual(500);
  expect(await inbox.read(file)).toMatchObject({ name: "a.txt", text: expect.stringMatching(/^(more\n)+$/) });
  // The file may change between the look and the reading, or before it is moved: then it is another answer.
  appendFileSync(path, "last\n");
  expect(await inbox.read(file)).toBeUndefined();
  await inbox.move(file);
  expect(await until("it to be whole again", () => inbox.next())).toMatchObject({ name: "a.txt" });
});
