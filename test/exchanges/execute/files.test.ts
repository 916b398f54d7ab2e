// Commands about files: every row of their table, and every path that must not be followed.

import { execFileSync } from "node:child_process";
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Command, CommandResult, CommandType } from "../../../src/protocols/exchange/command.ts";
import { filesBelow, type Stage, setStage } from "./stage.ts";

const fileTypes = ["CREATE_FILE", "EDIT_FILE", "DELETE_FILE", "READ_FILE"] as const;
type FileType = (typeof fileTypes)[number];

function commandOf(type: FileType, path: string): Command {
  switch (type) {
    case "CREATE_FILE":
      return { type, path, content: "mine" };
    case "EDIT_FILE":
      return { type, path, startLine: 1, endLine: 1, content: "mine" };
    default:
      return { type, path };
  }
}

function edit(path: string, startLine: number, endLine: number, content = "X"): Command {
  return { type: "EDIT_FILE", path, startLine, endLine, content };
}

function ok(type: CommandType, summary: string): CommandResult {
  return { type, success: true, summary, output: "" };
}

function failed(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: false, summary, output };
}

describe("CREATE_FILE", () => {
  test("writes the exact content, makes directories, and replaces an existing file", async () => {
    const { run, read } = setStage();
    const path = "a/b c/ü.txt";
    expect(await run({ type: "CREATE_FILE", path, content: "one\r\ntwo" })).toEqual(
      ok("CREATE_FILE", "Created 'a/b c/ü.txt'"),
    );
    expect(read(path)).toBe("one\r\ntwo");
    expect(await run({ type: "CREATE_FILE", path, content: "" })).toMatchObject({ success: true });
    expect(read(path)).toBe("");
  });

  test("names the reason of a failure", async () => {
    const { area, run } = setStage();
    area.write("file", "text");
    mkdirSync(join(area.root, "dir"));
    const reasons = {
      "": "is a directory",
      dir: "is a directory",
      "new/": "is a directory",
      "file/x": "not a directory",
    };
    for (const [path, reason] of Object.entries(reasons)) {
      expect(await run(commandOf("CREATE_FILE", path))).toEqual(
        failed("CREATE_FILE", `Failed to create '${path}': ${reason}`),
      );
    }
    const content = "x".repeat(10_485_761);
    expect(await run({ type: "CREATE_FILE", path: "large", content })).toEqual(
      failed("CREATE_FILE", "Failed to create 'large': content too large: 10485761 bytes (max 10485760)"),
    );
    expect(readdirSync(area.root).sort()).toEqual(["dir", "file"]);
  });
});

describe("EDIT_FILE", () => {
  test("names the requested range, even if it ends beyond the file", async () => {
    const { area, run, read } = setStage();
    area.write("f", "1\n2\n3\n");
    expect(await run(edit("f", 2, 99, "a\nb\nc"))).toEqual(ok("EDIT_FILE", "Edited 'f' lines 2-99"));
    expect(read("f")).toBe("1\na\nb\nc\n");
  });

  test.each([
    ["1\r\n2\r\n", "turned CRLF line ends into LF"],
    ["1\n2\r\n", "turned CRLF line ends into LF"],
    ["1\r2\r", "turned CR line ends into LF"],
    ["\uFEFF1\n2\n", "dropped the byte order mark"],
    ["1\n2", "added a final newline"],
    ["\uFEFF1\r\n2", "turned CRLF line ends into LF, dropped the byte order mark, added a final newline"],
  ])("says what else changed in %j", async (before, changed) => {
    const { area, run, read } = setStage();
    area.write("f", before);
    const output = `note: the edit also ${changed}`;
    expect(await run(edit("f", 2, 2))).toEqual({ ...ok("EDIT_FILE", "Edited 'f' lines 2-2"), output });
    expect(read("f")).toBe("1\nX\n");
    expect(await run(edit("f", 2, 2))).toEqual(ok("EDIT_FILE", "Edited 'f' lines 2-2"));
  });

  test("says nothing of line ends and marks that the new content brings", async () => {
    const { area, run, read } = setStage();
    area.write("f", "1\n2\n");
    expect(await run(edit("f", 1, 1, "\uFEFFa\rb"))).toEqual(ok("EDIT_FILE", "Edited 'f' lines 1-1"));
    expect(read("f")).toBe("\uFEFFa\rb\n2\n");
  });

  test("cannot delete lines: empty content is one empty line", async () => {
    const { area, run, read } = setStage();
    area.write("f", "1\n2\n3");
    await run(edit("f", 1, 2, ""));
    expect(read("f")).toBe("\n3\n");
  });

  test("ends every line with LF and drops the byte order mark", async () => {
    const { area, run, read } = setStage();
    area.write("f", "\uFEFFone\r\ntwo\rthree\n\r\nfive");
    await run(edit("f", 2, 2));
    expect(read("f")).toBe("one\nX\nthree\n\nfive\n");
  });

  test.each([
    [0, 1],
    [-1, 1],
    [2, 1],
    [4, 4],
    [4, 2_147_483_647],
    [-2_147_483_648, 2_147_483_647],
  ])("refuses the range %i-%i of three lines", async (start, end) => {
    const { area, run, read } = setStage();
    area.write("f", "1\r\n2\r\n3");
    expect(await run(edit("f", start, end))).toEqual(
      failed("EDIT_FILE", `Invalid line range ${start}-${end} for file with 3 lines`),
    );
    expect(read("f")).toBe("1\r\n2\r\n3");
  });

  test("leaves alone a file that is not text or too large", async () => {
    const { area, run } = setStage();
    area.write("latin1", Buffer.from([0x61, 0x0a, 0xe9, 0x0a]));
    expect(await run(edit("latin1", 1, 1))).toEqual(
      failed("EDIT_FILE", "Failed to edit 'latin1': not UTF-8 at byte 2"),
    );
    area.write("large", Buffer.alloc(10_485_761, "\n"));
    expect(await run(edit("large", 1, 1))).toEqual(
      failed("EDIT_FILE", "Failed to edit 'large': file too large (max 10485760 bytes)"),
    );
    area.write("full", Buffer.alloc(10_485_760, "\n"));
    expect(await run(edit("full", 1, 1))).toEqual(
      failed("EDIT_FILE", "Failed to edit 'full': content too large: 10485761 bytes (max 10485760)"),
    );
  });

  test("does not find a missing file or a directory", async () => {
    const { area, run } = setStage();
    mkdirSync(join(area.root, "dir"));
    expect(await run(edit("a/b", 1, 1))).toEqual(failed("EDIT_FILE", "File 'a/b' not found"));
    expect(await run(edit("dir", 1, 1))).toEqual(failed("EDIT_FILE", "File 'dir' not found", "is a directory"));
  });

  test("keeps the mode of the file, and edits through a link within the workspace", async () => {
    const { area, run, read } = setStage();
    execFileSync("chmod", ["754", area.write("f", "1")]);
    symlinkSync("f", join(area.root, "l"));
    await run(edit("l", 1, 1));
    expect(read("f")).toBe("X\n");
    expect(lstatSync(join(area.root, "f")).mode & 0o777).toBe(0o754);
    expect(lstatSync(join(area.root, "l")).isSymbolicLink()).toBe(true);
  });

  test("loses no line when many edits of one file run at once", async () => {
    const { area, run, read } = setStage();
    area.write("f", "0\n".repeat(20));
    const lines = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(lines.map((line) => run(edit("f", line, line, String(line)))));
    expect(read("f")).toBe(lines.map((line) => `${line}\n`).join(""));
  });
});

describe("DELETE_FILE", () => {
  test("deletes a file; a missing file or a directory is not found", async () => {
    const { area, run } = setStage();
    area.write("dir/f", "text");
    expect(await run(commandOf("DELETE_FILE", "dir/f"))).toEqual(ok("DELETE_FILE", "Deleted 'dir/f'"));
    expect(await run(commandOf("DELETE_FILE", "dir/f"))).toEqual(failed("DELETE_FILE", "File 'dir/f' not found"));
    expect(await run(commandOf("DELETE_FILE", "no/f"))).toEqual(failed("DELETE_FILE", "File 'no/f' not found"));
    for (const path of ["dir", "dir/", "", "."]) {
      expect(await run(commandOf("DELETE_FILE", path))).toEqual(
        failed("DELETE_FILE", `File '${path}' not found`, "is a directory"),
      );
    }
    expect(readdirSync(area.root)).toEqual(["dir"]);
  });

  test("deletes a link, and not its target", async () => {
    const { area, run, read } = setStage();
    area.write("dir/f", "text");
    const targets = { file: "dir/f", directory: "dir", nothing: "none", itself: "itself" };
    for (const [name, target] of Object.entries(targets)) {
      symlinkSync(target, join(area.root, name));
      expect(await run(commandOf("DELETE_FILE", name))).toEqual(ok("DELETE_FILE", `Deleted '${name}'`));
    }
    symlinkSync("dir", join(area.root, "way"));
    expect(read("dir/f")).toBe("text");
    expect(await run(commandOf("DELETE_FILE", "way/f"))).toEqual(ok("DELETE_FILE", "Deleted 'way/f'"));
    expect(readdirSync(area.root).sort()).toEqual(["dir", "way"]);
    expect(readdirSync(join(area.root, "dir"))).toEqual([]);
  });
});

describe("READ_FILE", () => {
  test("queues an existing file, and gives the reason otherwise", async () => {
    const { area, run } = setStage();
    area.write("dir/f", "text");
    expect(await run(commandOf("READ_FILE", "dir/f"))).toEqual(ok("READ_FILE", "Queued 'dir/f' for next outbox"));
    expect(await run(commandOf("READ_FILE", "f"))).toEqual(failed("READ_FILE", "File 'f' not found"));
    expect(await run(commandOf("READ_FILE", "dir"))).toEqual(
      failed("READ_FILE", "File 'dir' not found", "is a directory"),
    );
    expect(await run(commandOf("READ_FILE", ""))).toEqual(failed("READ_FILE", "File '' not found", "is a directory"));
  });
});

describe.each(fileTypes)("%s", (type) => {
  /** Sets a file that must stay unharmed behind every path. */
  function setTraps(): Stage {
    const stage = setStage();
    const { area } = stage;
    area.write("in/f", "inside\n");
    writeFileSync(join(area.outside, "f"), "SECRET");
    mkdirSync(`${area.root}-evil`);
    writeFileSync(join(`${area.root}-evil`, "f"), "SECRET");
    symlinkSync(join(area.outside, "f"), join(area.root, "file-link"));
    symlinkSync(area.outside, join(area.root, "dir-link"));
    symlinkSync("../../outside/f", join(area.root, "up-link"));
    symlinkSync("file-link", join(area.root, "link-link"));
    symlinkSync(join(area.outside, "none"), join(area.root, "nowhere-link"));
    return stage;
  }

  test.each([
    "../f",
    "..",
    "../",
    "in/../../x",
    "../s1-evil/f",
    "/etc/passwd",
    "/",
    "file-link",
    "dir-link/f",
    "dir-link/new",
    "up-link",
    "link-link",
    "nowhere-link",
  ])("rejects %s, which leads outside", async (path) => {
    const { area, run } = setTraps();
    const before = filesBelow(area.base);
    expect(await run(commandOf(type, path))).toEqual(failed(type, `REJECTED: Path is outside workspace: '${path}'`));
    expect(filesBelow(area.base)).toEqual(before);
    expect(readdirSync(area.root).sort()).toEqual(
      ["in", "file-link", "dir-link", "up-link", "link-link", "nowhere-link"].sort(),
    );
  });

  test("rejects absolute paths, even within the workspace", async () => {
    const { area, executor } = setTraps();
    for (const path of [join(area.root, "in/f"), area.root]) {
      // Only the path as it was given may name the host.
      expect(await executor.run(commandOf(type, path), area.context)).toEqual(
        failed(type, `REJECTED: Path is outside workspace: '${path}'`),
      );
    }
    expect(readFileSync(join(area.root, "in/f"), "utf8")).toBe("inside\n");
  });

  test.each([
    ["a NUL", "in/f\0", "path contains a NUL byte"],
    ["more than any path has", "x/".repeat(3_000).concat("f"), "path is too long (6001 bytes, max 4096)"],
    ["a long name", "n".repeat(300), "file name too long"],
    ["a fifo", "fifo", "not a regular file"],
    ["two hard links", "hard", "it has 2 hard links: only files with a single name are opened"],
    ["credentials", ".ssh/id", 'access to sensitive path "/.ssh/" is blocked'],
    ["what belongs to the service", "hidden/f", "access is blocked: it belongs to the service"],
    ["a link to what belongs to the service", "hidden-link", "access is blocked: it belongs to the service"],
  ])("refuses %s, and says why", async (_what, path, reason) => {
    const { area, run } = setTraps();
    execFileSync("mkfifo", [join(area.root, "fifo")]);
    linkSync(join(area.outside, "f"), join(area.root, "hard"));
    area.write(".ssh/id", "SECRET");
    area.write("hidden/f", "SECRET");
    symlinkSync("hidden/f", join(area.root, "hidden-link"));
    const before = filesBelow(area.base);
    const shown = path.length > 4_096 ? `${path.slice(0, 4_096)}…` : path;
    const expected = {
      CREATE_FILE: failed(type, `Failed to create '${shown}': ${reason}`),
      EDIT_FILE: failed(type, `Failed to edit '${shown}': ${reason}`),
      DELETE_FILE: failed(type, `Failed to delete '${shown}': ${reason}`),
      READ_FILE: failed(type, `File '${shown}' not found`, reason),
    } satisfies Record<FileType, CommandResult>;
    expect(await run(commandOf(type, path), { hidden: [join(area.root, "hidden")] })).toEqual(expected[type]);
    expect(filesBelow(area.base)).toEqual(before);
    expect(readdirSync(area.root)).toContain("hidden-link");
  });

  test("does nothing in a missing or refused workspace", async () => {
    const { area, run } = setTraps();
    const reason = "the workspace is not accessible";
    for (const more of [{ workDir: join(area.base, "gone") }, { refusal: `not in ${area.root}` }]) {
      const { success, summary, output } = await run(commandOf(type, "in/f"), more);
      expect(success).toBe(false);
      expect(`${summary} ${output}`).toContain(reason);
    }
    expect(readFileSync(join(area.root, "in/f"), "utf8")).toBe("inside\n");
  });

  test("throws in a stopped run and changes nothing", async () => {
    const { area, run, executor } = setTraps();
    const reason = new Error("stopped");
    const signal = AbortSignal.abort(reason);
    await expect(run(commandOf(type, "in/f"), { signal })).rejects.toBe(reason);
    await expect(executor.trace(commandOf(type, "in/f"), { ...area.context, signal })).rejects.toBe(reason);
    expect(readFileSync(join(area.root, "in/f"), "utf8")).toBe("inside\n");
  });

  // As X1: every path gives a result, and no path leaves the workspace.
  test("gives a result for every path, and harms nothing outside", async () => {
    const { area, run, trace } = setTraps();
    const parts = [
      "..",
      ".",
      "",
      "in",
      "f",
      "dir-link",
      "file-link",
      "s1",
      "s1-evil",
      "outside",
      "\0",
      "\\..",
      "~",
      "%2e",
    ];
    const outside = [filesBelow(area.outside), filesBelow(`${area.root}-evil`)];
    for (let index = 0; index < 300; index += 1) {
      // Every pair and some triples, always in the same order.
      const path = [parts[index % 14], parts[Math.floor(index / 14) % 14], parts[(index * 5) % 14]].join("/");
      await trace(commandOf(type, path));
      const result = await run(commandOf(type, path));
      expect([path, JSON.stringify(result).includes("SECRET")]).toEqual([path, false]);
    }
    expect([filesBelow(area.outside), filesBelow(`${area.root}-evil`)]).toEqual(outside);
  });
});

test("the result of MESSAGE and DONE is their text, and the result of a parse error is its message", async () => {
  const { run, trace } = setStage();
  const text = "Über\n\nlines ";
  expect(await run({ type: "MESSAGE", text })).toEqual(ok("MESSAGE", text));
  expect(await run({ type: "DONE", message: "" })).toEqual(ok("DONE", ""));
  const error: Command = { type: "PARSE_ERROR", message: "DONE missing closing tag", detail: "nothing more" };
  expect(await run(error)).toEqual(failed("PARSE_ERROR", "DONE missing closing tag", "nothing more"));
  expect(await trace(error)).toEqual({});
});

test("a long path is cut in its summary, never within a character", async () => {
  const { run } = setStage();
  const path = `${"x".repeat(4_095)}😀😀`;
  const { summary } = await run({ type: "READ_FILE", path });
  expect(summary).toBe(`File '${"x".repeat(4_095)}…' not found`);
});
