// `runnel exchange` over folders, against a service: from the task to the last answer, in order and without duplicates.

import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { type Outcome, runShell } from "./command.ts";
import { addLine, done, eventsOf, firstLine, openStage, stageIn } from "./exchange-stage.ts";

const id = "[0-9a-f]{8}";

describe("new", () => {
  test("writes an outbox, takes answers from the inbox, and ends with the summary of DONE", async () => {
    const stage = await openStage();
    const running = stage.start(["new", "Say hello."]);
    await until("the first outbox", () => running.stdout().includes("chat window"));
    const { sessionId } = stage.session();
    expect(stage.list("outbox")).toEqual([`${sessionId}_seq0001.txt`]);
    const first = stage.read(`outbox/${sessionId}_seq0001.txt`);
    expect(first).toMatch(new RegExp(`^=== HEADER ===\nSession: ${sessionId}\nSequence: 1\nTask: Say hello\\.\n\n`));
    expect(first).toMatch(/\n=== PROMPT ===\nSay hello\.\n$/);
    const hidden = "\u001b[2J";
    stage.put(
      "inbox/answer.txt",
      `\ufeffSure.\n[CREATE_FILE path="a.txt"]\nhello\n[/CREATE_FILE]\n[MESSAGE]\none${hidden}\ntwo\n[/MESSAGE]\n[DELETE_FILE path="b"]\n`,
    );
    await until("the second outbox", () => running.stdout().includes("outbox 2"));
    expect(stage.read("workspace/a.txt")).toBe("hello");
    expect(stage.session()).toEqual({
      sessionId,
      task: "Say hello.",
      sequenceNumber: 2,
      isComplete: false,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      lastResults: [
        { commandType: "CREATE_FILE", summary: "Created 'a.txt'", success: true, output: "" },
        { commandType: "MESSAGE", summary: `one${hidden}\ntwo`, success: true, output: "" },
        { commandType: "DELETE_FILE", summary: "File 'b' not found", success: false, output: "" },
      ],
      readFileRequests: [],
    });
    expect(stage.read(`sessions/${sessionId}.json`)).toMatch(/^\{\n {2}"sessionId": "\w+",\n {2}"task".*\n\}\n$/s);
    stage.put("inbox/answer.txt", done("All said."));
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^session ${sessionId} {2}run \\S+$`)),
      `outbox 1  outbox/${sessionId}_seq0001.txt`,
      "  show all of it to your chat window, and save the answer as any .txt file in inbox/",
      "answer.txt answers outbox 1",
      "[OK] CREATE_FILE: Created 'a.txt'",
      "message  one [2J",
      "  two",
      "[FAILED] DELETE_FILE: File 'b' not found",
      `outbox 2  outbox/${sessionId}_seq0002.txt`,
      "answer.txt answers outbox 2",
      "✓ completed: All said.",
      "",
    ]);
    expect(stage.session()).toMatchObject({ sequenceNumber: 2, isComplete: true });
    expect(stage.list("inbox")).toEqual(["processed"]);
    // The last file of a name is the one that stays.
    expect(stage.read("inbox/processed/answer.txt")).toBe(done("All said."));
    expect(stage.list("sessions")).toEqual([`${sessionId}.json`]);
    expect(stage.list("outbox")).toHaveLength(2);
  });

  test("takes the oldest file first by time, leaves invalid answers, and prints each event as JSON", async () => {
    const stage = await openStage();
    stage.put("inbox/z.txt", "first", 1);
    stage.put("inbox/bad.txt", Buffer.from([0x61, 0xc3, 0xa4, 0xff]), 2);
    stage.put("inbox/long.txt", "x".repeat(4_194_305), 3);
    stage.put("inbox/longest.txt", "x".repeat(4_194_304), 3);
    stage.put("inbox/many.txt", '[READ_FILE path="a"]\n'.repeat(1_001), 4);
    stage.put("inbox/other.txt", "Session: 00000000\nSequence: 1\n", 5);
    stage.put("inbox/b.txt", "tie, second by name", 6);
    stage.put("inbox/a.txt", "tie, first by name", 6);
    stage.put("inbox/begun.txt", "", 0);
    stage.put("inbox/answer.md", done("by no .txt"), 0);
    stage.put("elsewhere.txt", done("by a link"), 0);
    symlinkSync(join(stage.directory, "elsewhere.txt"), join(stage.directory, "inbox/link.txt"));
    mkdirSync(join(stage.directory, "inbox/folder.txt"));
    const running = stage.start(["new", "-", "--json"], { input: "From standard input\n" });
    await until("all files", () =>
      eventsOf(running.stdout()).some(({ sequence, event }) => event === "outbox" && sequence === 4),
    );
    // A refused file is looked at again once it has changed.
    stage.put("inbox/bad.txt", done("mended"), 7);
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const events = eventsOf(stdout);
    const sessionId = expect.stringMatching(new RegExp(`^${id}$`));
    const outbox = (sequence: number): object => ({
      event: "outbox",
      session_id: sessionId,
      sequence,
      path: join(stage.directory, `outbox/${stage.session().sessionId}_seq000${sequence}.txt`),
    });
    const taken = (name: string, sequence: number): object => ({ event: "taken", name, sequence });
    const refused = (name: string, reason: string, error: string): object => ({
      event: "refused",
      name,
      reason,
      error: expect.stringContaining(error),
    });
    expect(events).toEqual([
      { event: "started", session_id: sessionId, run_id: expect.any(String) },
      outbox(1),
      taken("z.txt", 1),
      outbox(2),
      { ...refused("bad.txt", "NOT_UTF8", "bad.txt is not UTF-8 at byte 3"), fix: "save it as UTF-8" },
      refused("long.txt", "FILE_TOO_LONG", "long.txt is longer than 4194304 bytes"),
      taken("longest.txt", 2),
      // Its message is longer than a message may be on the wire.
      refused("longest.txt", "RESOURCE_EXHAUSTED", "4194304"),
      taken("many.txt", 2),
      refused("many.txt", "INVALID_ARGUMENT", "1001"),
      taken("other.txt", 2),
      { ...refused("other.txt", "INBOX_STALE", "00000000"), fix: expect.any(String) },
      taken("a.txt", 2),
      outbox(3),
      taken("b.txt", 3),
      outbox(4),
      taken("bad.txt", 4),
      { event: "result", sequence: 4, result: { type: "DONE", success: true, summary: "mended", output: "" } },
      { event: "completed", session_id: sessionId, summary: "mended" },
    ]);
    expect(stage.list("inbox")).toEqual([
      "answer.md",
      "begun.txt",
      "folder.txt",
      "link.txt",
      "long.txt",
      "longest.txt",
      "many.txt",
      "other.txt",
      "processed",
    ]);
    expect(stage.list("inbox/processed")).toEqual(["a.txt", "b.txt", "bad.txt", "z.txt"]);
    expect(stage.session()).toMatchObject({ task: "From standard input" });
  });

  test("and the other commands refuse invalid arguments with the reason", async () => {
    const stage = await openStage();
    stage.put("file", "text");
    const refused: [words: string[], code: number, told: string][] = [
      [["new", "x", "--workspace", "."], 2, "must lie apart"],
      [["new", "x", "--workspace", "inbox/processed"], 2, "must lie apart"],
      [["new", "x", "--workspace", "file/in"], 1, "cannot make the folder"],
      [["new", " "], 1, "task"],
      [["resume"], 1, "is incomplete"],
      [["resume", "XYZ"], 2, "8 hexadecimal digits"],
      [["watch", "00000000"], 1, "exchange not found"],
      [["submit", "file", "--session", "00000000"], 1, "exchange not found"],
    ];
    await Promise.all(
      refused.map(async ([words, code, told]) => {
        const outcome = await stage.start([...words, "--json"]).ended;
        expect({ words, code: outcome.code, stdout: outcome.stdout }).toEqual({ words, code, stdout: "" });
        expect(JSON.parse(outcome.stderr)).toMatchObject({ error: expect.stringContaining(told) });
      }),
    );
  });
});

describe("resume", () => {
  test("by default takes the incomplete session that changed last, and writes its missing outbox", async () => {
    const stage = await openStage();
    for (const task of ["one", "two"]) {
      expect(await stage.start(["new", task, "--no-watch"]).ended).toMatchObject({ code: 0 });
    }
    const [name = ""] = stage.list("outbox").filter((each) => stage.read(`outbox/${each}`).includes("Task: two"));
    rmSync(join(stage.directory, "outbox", name));
    const { code, stdout } = await stage.start(["resume", "--no-watch"]).ended;
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^outbox 1 {2}outbox/${name}\n`)),
    });
    expect(stage.read(`outbox/${name}`)).toContain("Task: two");
  });

  test("imports a session that the service does not know, at its current sequence", async () => {
    const stage = await openStage();
    stage.put("workspace/a.txt", "text of a");
    stage.put("inbox/1.txt", '[READ_FILE path="a.txt"]\n');
    const first = stage.start(["new", "Move house."]);
    await until("the second outbox", () => first.stdout().includes("outbox 2"));
    first.child.kill("SIGINT");
    await first.ended;
    const { sessionId } = stage.session();
    const second = `outbox/${sessionId}_seq0002.txt`;
    const text = stage.read(second);
    rmSync(join(stage.directory, second));
    const { url } = await startService();
    const elsewhere = stageIn(stage.directory, ["--url", url, "--json"]);
    const { code, stderr } = await elsewhere.start(["resume", "--no-watch"]).ended;
    expect({ code, note: JSON.parse(stderr) }).toEqual({
      code: 0,
      note: { note: "imported", session_id: sessionId, sequence: 2 },
    });
    expect(stage.read(second)).toBe(text);
    stage.put("inbox/2.txt", done("moved"));
    const { stdout } = await elsewhere.start(["resume"]).ended;
    expect(eventsOf(stdout).at(-1)).toMatchObject({ event: "completed", summary: "moved" });
    expect(stage.session()).toMatchObject({ sessionId, sequenceNumber: 2, isComplete: true });
  });
});

describe("watch", () => {
  test("at Ctrl-C says how to continue, and exits as interrupted", async () => {
    const stage = await openStage();
    const running = stage.start(["new", "x"]);
    await until("the first outbox", () => running.stdout().includes("chat window"));
    running.child.kill("SIGINT");
    const { code, stderr } = await running.ended;
    const { sessionId } = stage.session();
    const words = `runnel exchange resume ${sessionId} --url ${stage.url}`;
    expect({ code, stderr }).toEqual({ code: 130, stderr: `\ninterrupted; nothing is lost: ${words}\n` });
    const json = stage.start(["watch", "--json"]);
    await until("the outbox", () => json.stdout().includes("outbox"));
    json.child.kill("SIGINT");
    const outcome = await json.ended;
    expect(outcome.code).toBe(130);
    expect(JSON.parse(outcome.stderr)).toEqual({ note: "interrupted", session_id: sessionId });
  });

  test("of a cancelled exchange ends as other commands that follow a run", async () => {
    const stage = await openStage();
    const running = stage.start(["new", "x", "--json"]);
    await until("the first outbox", () => running.stdout().includes('"outbox"'));
    const [{ run_id: runId = "" } = {}] = eventsOf(running.stdout()) as { run_id?: string }[];
    await post(`${stage.url}/v1/runs/${runId}:cancel`);
    const { code, stdout } = await running.ended;
    expect({ code, last: eventsOf(stdout).at(-1) }).toEqual({
      code: 3,
      last: { event: "ended", session_id: stage.session().sessionId, state: "cancelled", error: expect.any(String) },
    });
  });

  test("writes the outbox that follows an answer sent over the API", async () => {
    const stage = await openStage();
    const running = stage.start(["new", "x"]);
    await until("the first outbox", () => running.stdout().includes("chat window"));
    const { sessionId } = stage.session();
    await post(`${stage.url}/v1/exchanges/${sessionId}/inbox`, "Nothing to do.");
    await until("the second outbox", () => running.stdout().includes("outbox 2"));
    expect(stage.read(`outbox/${sessionId}_seq0002.txt`)).toContain("Sequence: 2\n");
    await post(`${stage.url}/v1/exchanges/${sessionId}/inbox`, done("over the API"));
    expect(await running.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✓ completed: over the API\n$/),
    });
    expect(stage.session()).toMatchObject({ isComplete: true });
  });

  // The story: a folder in processed/ has the name that the answered file should get.
  test("reports a file that cannot be moved and does not take it again; saved anew it is another answer", async () => {
    const stage = await openStage();
    stage.put("workspace/count.txt", firstLine);
    stage.put("inbox/a.txt", addLine, 1);
    mkdirSync(join(stage.directory, "inbox/processed/a.txt/in-the-way"), { recursive: true });
    const running = stage.start(["new", "x", "--json"]);
    await until("the file to be kept", () => running.stdout().includes('"kept"'));
    // If the file were taken again, it would be taken before this younger file.
    stage.put("inbox/b.txt", "Nothing.", 2);
    await until("the next file", () => running.stdout().includes("_seq0003.txt"));
    running.child.kill("SIGINT");
    await running.ended;
    const again = stage.start(["resume", "--json"]);
    await until("the file to be kept again", () => again.stdout().includes('"kept"'));
    stage.put("inbox/a.txt", addLine, 3);
    await until("it to be an answer", () => again.stdout().includes("_seq0004.txt"));
    expect(stage.read("workspace/count.txt")).toBe("one\nmore\nmore\n");
    rmSync(join(stage.directory, "inbox/processed/a.txt"), { recursive: true });
    stage.put("inbox/c.txt", done("x"), 4);
    expect(await again.ended).toMatchObject({ code: 0 });
    expect(stage.list("inbox")).toEqual(["a.txt", "processed"]);
    // The next command moves the file that is left over, even when it has nothing else to do.
    const { sessionId } = stage.session();
    expect(await stage.start(["resume", sessionId]).ended).toMatchObject({ code: 0 });
    expect(stage.list("inbox")).toEqual(["processed"]);
    expect(stage.list("sessions")).toEqual([`${sessionId}.json`]);
    expect(stage.read("workspace/count.txt")).toBe("one\nmore\nmore\n");
  });
});

describe("submit", () => {
  test("sends standard input or a file, and writes the next outbox; the same text again gets the first answer", async () => {
    const stage = await openStage();
    await stage.start(["new", "x", "--no-watch"]).ended;
    const { sessionId } = stage.session();
    stage.put("workspace/count.txt", firstLine);
    stage.put("answer", addLine);
    const edited = "[OK] EDIT_FILE: Edited 'count.txt' lines 1-1\n";
    const next = `outbox 2  outbox/${sessionId}_seq0002.txt\n`;
    const first = await stage.start(["submit", "-"], { input: addLine }).ended;
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining(edited + next), stderr: "" });
    const again = await stage.start(["submit", "answer", "--session", sessionId]).ended;
    expect(again).toEqual({ code: 0, stdout: edited, stderr: "" });
    expect(stage.read("workspace/count.txt")).toBe("one\nmore\n");
    await stage.start(["submit", "answer", "--sequence", "2"]).ended;
    expect(stage.read("workspace/count.txt")).toBe("one\nmore\nmore\n");
    const stale = await stage.start(["submit", "-", "--sequence", "1", "--json"], { input: "else" }).ended;
    expect({ code: stale.code, ...JSON.parse(stale.stderr) }).toMatchObject({ code: 1, reason: "INBOX_STALE" });
    const json = await stage.start(["submit", "-", "--sequence", "1", "--json"], { input: addLine }).ended;
    expect(eventsOf(json.stdout)).toEqual([
      { event: "result", sequence: 1, result: expect.objectContaining({ type: "EDIT_FILE", success: true }) },
    ]);
    const last = await stage.start(["submit", "-"], { input: done("sent") }).ended;
    expect(last).toMatchObject({ code: 0, stdout: "✓ completed: sent\n" });
    expect(stage.session()).toMatchObject({ sequenceNumber: 3, isComplete: true });
    expect(stage.list("inbox")).toEqual(["processed"]);
  });
});

/** Returns the block of this name on the page. */
function blockOf(name: string): string {
  const page = readFileSync(new URL("../../docs/exchanges.md", import.meta.url), "utf8");
  const block = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]+?)\`\`\``).exec(page)?.[1];
  if (block === undefined) {
    throw new Error(`no block ${name} on the page`);
  }
  return block;
}

test("the commands of the page about exchanges work as pasted, with the documented results", async () => {
  const stage = await openStage();
  const paste = (commands: string): Promise<Outcome> =>
    runShell(`set -eo pipefail; runnel() { $runnel "$@" --url "$URL"; }; ${commands}`, {
      directory: stage.directory,
      environment: { URL: stage.url },
    });
  const asOnThePage = (text: string): string =>
    text
      .replaceAll(stage.session().sessionId, "5e1c0fd2")
      .replace(/run \S+/, "run 01a2035a-89da-7126-b91e-d736c0c6329f");
  const started = await paste(blockOf("new"));
  expect({ ...started, stdout: asOnThePage(started.stdout) }).toEqual({
    code: 0,
    stdout: blockOf("started"),
    stderr: "",
  });
  await paste(blockOf("answer"));
  const watched = await paste(blockOf("watch"));
  expect({ ...watched, stdout: asOnThePage(watched.stdout) }).toEqual({
    code: 0,
    stdout: blockOf("watched"),
    stderr: "",
  });
  expect(stage.read("workspace/poem.txt")).toMatch(/^What one has said, .*\n.* stay\.$/);
  const api = await paste(blockOf("api"));
  expect(api).toMatchObject({ code: 0, stderr: "" });
  expect(stage.read("outbox.txt")).toMatch(/=== PROMPT ===\nWrite a poem\.\n$/);
  expect(api.stdout).toContain('{"commands":[{"type":"CREATE_FILE"');
  expect(api.stdout).toContain(`"summary":"Created 'poem.txt'"`);
  expect(api.stdout).toContain('"state":"completed"');
});

async function post(url: string, text = ""): Promise<void> {
  const headers = { ...credentialsOf(), ...(text !== "" && { "content-type": "text/plain" }) };
  const response = await fetch(url, { method: "POST", headers, body: text });
  expect(response.status).toBe(200);
}
