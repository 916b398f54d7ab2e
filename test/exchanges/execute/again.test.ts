// Commands that began and may or may not have finished before the process died (X3).

import { createHash } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Command } from "../../../src/protocols/exchange/command.ts";
import { type Stage, setStage } from "./stage.ts";

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const edit: Command = { type: "EDIT_FILE", path: "f", startLine: 2, endLine: 2, content: "X\nY" };
const edited = { type: "EDIT_FILE", success: true, summary: "Edited 'f' lines 2-2", output: "" };
const interrupted = "an earlier attempt was interrupted, and the file has changed since";

describe("EDIT_FILE", () => {
  test("the trace holds the hashes of the file before and after", async () => {
    const { area, trace, read } = setStage();
    area.write("f", "1\n2\n");
    expect(await trace(edit)).toEqual({ before: sha256("1\n2\n"), after: sha256("1\nX\nY\n") });
    expect(read("f")).toBe("1\n2\n");
  });

  test("the result of an interrupted edit says what else it changed, before and after the write", async () => {
    const { area, trace, again } = setStage();
    area.write("f", "1\r\n2");
    const kept = await trace(edit);
    const output = "note: the edit also turned CRLF line ends into LF, added a final newline";
    expect(kept).toEqual({ before: sha256("1\r\n2"), after: sha256("1\nX\nY\n"), note: output });
    expect(await again(edit, kept)).toEqual({ ...edited, output });
    expect(await again(edit, kept)).toEqual({ ...edited, output });
  });

  test.each(["../f", "/etc/passwd", "none", "", "dir", "a\0b", "short", "latin1"])(
    "the trace of %j is empty",
    async (path) => {
      const { area, trace } = setStage();
      mkdirSync(join(area.root, "dir"));
      area.write("short", "1\n");
      area.write("latin1", Buffer.from([0xff, 0x0a, 0x0a]));
      expect(await trace({ ...edit, path })).toEqual({});
    },
  );

  test("a finished edit is not repeated", async () => {
    const { area, trace, run, again, read } = setStage();
    area.write("f", "1\n2\n3\n");
    const kept = await trace(edit);
    await run(edit);
    expect(await again(edit, kept)).toEqual(edited);
    expect(read("f")).toBe("1\nX\nY\n3\n");
  });

  test("an unfinished edit is done now", async () => {
    const { area, trace, again, read } = setStage();
    area.write("f", "1\n2\n3\n");
    expect(await again(edit, await trace(edit))).toEqual(edited);
    expect(read("f")).toBe("1\nX\nY\n3\n");
  });

  test("a file that changed or appeared in the meantime is left alone", async () => {
    const { area, trace, again, read } = setStage();
    const none = await trace(edit);
    area.write("f", "1\n2\n3\n");
    const kept = await trace(edit);
    area.write("f", "other\nlines\n");
    for (const trace of [kept, none]) {
      expect(await again(edit, trace)).toMatchObject({ success: false, summary: `Failed to edit 'f': ${interrupted}` });
    }
    expect(read("f")).toBe("other\nlines\n");
  });

  test("an edit that would have been refused is refused with the same message", async () => {
    const { area, trace, again } = setStage();
    area.write("f", "1\n");
    expect(await again(edit, await trace(edit))).toMatchObject({
      success: false,
      summary: "Invalid line range 2-2 for file with 1 lines",
    });
    rmSync(join(area.root, "f"));
    expect(await again(edit, { before: sha256("1\n2\n"), after: sha256("x") })).toMatchObject({
      success: false,
      summary: "File 'f' not found",
    });
  });
});

describe("DELETE_FILE", () => {
  const command: Command = { type: "DELETE_FILE", path: "f" };
  const deleted = { type: "DELETE_FILE", success: true, summary: "Deleted 'f'", output: "" };

  test("the trace holds the hash of the file, or of the link's target", async () => {
    const { area, trace } = setStage();
    expect(await trace(command)).toEqual({});
    area.write("f", "text");
    expect(await trace(command)).toEqual({ before: sha256("text") });
    symlinkSync("f", join(area.root, "l"));
    expect(await trace({ ...command, path: "l" })).toEqual({ before: sha256("f") });
    for (const path of ["../f", "/etc/passwd", "", "a\0b"]) {
      expect(await trace({ ...command, path })).toEqual({});
    }
  });

  test("a finished deletion succeeds, even when the directory is gone too", async () => {
    const { area, trace, run, again } = setStage();
    const inDirectory: Command = { ...command, path: "d/f" };
    area.write("d/f", "text");
    const kept = await trace(inDirectory);
    await run(inDirectory);
    rmSync(join(area.root, "d"), { recursive: true });
    expect(await again(inDirectory, kept)).toEqual({ ...deleted, summary: "Deleted 'd/f'" });
  });

  test("an unfinished deletion is done now", async () => {
    const { area, trace, again, read } = setStage();
    area.write("f", "text");
    expect(await again(command, await trace(command))).toEqual(deleted);
    expect(read("f")).toBeUndefined();
  });

  test("a file that never existed is not found", async () => {
    const { again } = setStage();
    expect(await again(command, {})).toMatchObject({ success: false, summary: "File 'f' not found" });
  });

  test("a file that has replaced the deleted one is left alone", async () => {
    const { area, trace, again, read } = setStage();
    area.write("f", "text");
    const kept = await trace(command);
    area.write("f", "of somebody else");
    for (const trace of [kept, {}]) {
      expect(await again(command, trace)).toMatchObject({
        success: false,
        summary: `Failed to delete 'f': ${interrupted}`,
      });
    }
    expect(read("f")).toBe("of somebody else");
  });
});

test("CREATE_FILE is repeated", async () => {
  const { area, trace, again, read } = setStage();
  const create: Command = { type: "CREATE_FILE", path: "d/f", content: "new" };
  area.write("d/f", "half");
  expect(await trace(create)).toEqual({});
  expect(await again(create, {})).toMatchObject({ success: true, summary: "Created 'd/f'" });
  expect(read("d/f")).toBe("new");
});

test("RUN_COMMAND is not run again", async () => {
  const { trace, again } = setStage({ run: () => expect.fail("was run") });
  const run: Command = { type: "RUN_COMMAND", command: "make" };
  expect(await trace(run)).toEqual({});
  expect(await again(run, {})).toEqual({
    type: "RUN_COMMAND",
    success: false,
    summary: "Failed to run 'make': interrupted; the command may have run in part, and is not run again",
    output: "",
  });
});

test("commands without effects give the same result again", async () => {
  const stage: Stage = setStage();
  stage.area.write("f", "text");
  const commands: Command[] = [
    { type: "READ_FILE", path: "f" },
    { type: "MESSAGE", text: "hi" },
    { type: "DONE", message: "done" },
    { type: "PARSE_ERROR", message: "wrong" },
  ];
  for (const command of commands) {
    expect(await stage.again(command, await stage.trace(command))).toEqual(await stage.run(command));
  }
});
