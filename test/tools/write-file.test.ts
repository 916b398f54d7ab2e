import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolOutcome } from "../../src/agent/tools/tool.ts";
import { writeFile } from "../../src/agent/tools/write-file.ts";
import { areaOfEachTest } from "./area.ts";
import { workspaceAt } from "./workspace.ts";

const area = areaOfEachTest();
beforeEach(() => {
  writeFileSync(join(area.outside, "secret"), "SECRET");
});
afterEach(() => {
  const left = readdirSync(area.root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.includes(".runnel-"),
  );
  const foreign = readdirSync(area.outside).map((name) => [name, readFileSync(join(area.outside, name), "utf8")]);
  expect(left).toEqual([]);
  expect(foreign).toEqual([["secret", "SECRET"]]);
});

async function write(path: string, content: unknown = "new"): Promise<ToolOutcome> {
  return await area.run(writeFile, { file_path: path, content });
}

function read(path: string): string {
  return readFileSync(join(area.root, path), "utf8");
}

function modeOf(path: string): number {
  return statSync(join(area.root, path)).mode & 0o777;
}

describe("a file", () => {
  test("is made with its directories, modes 0755 and 0644, and its bytes are counted", async () => {
    expect(await write("a/b/c.txt", "grün\n")).toEqual({ content: `Wrote 6 bytes to ${join(area.root, "a/b/c.txt")}` });
    expect(read("a/b/c.txt")).toBe("grün\n");
    expect([modeOf("a"), modeOf("a/b"), modeOf("a/b/c.txt")]).toEqual([0o755, 0o755, 0o644]);
  });

  test("that exists is replaced and keeps its mode", async () => {
    chmodSync(area.write("run.sh", "old and longer"), 0o750);
    expect(await write("run.sh")).toEqual({ content: `Wrote 3 bytes to ${join(area.root, "run.sh")}` });
    expect(read("run.sh")).toBe("new");
    expect(modeOf("run.sh")).toBe(0o750);
  });

  test("is replaced atomically: a reader with an open descriptor still sees the old content", async () => {
    const reader = openSync(area.write("f", "old"), "r");
    await write("f");
    const buffer = Buffer.alloc(8);
    expect(buffer.toString("utf8", 0, readSync(reader, buffer))).toBe("old");
    closeSync(reader);
  });

  test.each([{}, { content: 7 }, { content: null }, { content: "" }])("is empty for %j", async (args) => {
    expect(await area.run(writeFile, { file_path: "f", ...args })).toEqual({
      content: `Wrote 0 bytes to ${join(area.root, "f")}`,
    });
    expect(read("f")).toBe("");
  });

  test("may have 10 MiB and no more", async () => {
    expect(await write("f", "x".repeat(10_485_760))).toHaveProperty("content");
    expect(await write("f", "ü".repeat(5_242_881))).toEqual({
      error: "content too large: 10485762 bytes (max 10485760)",
    });
    expect(read("f")).toHaveLength(10_485_760);
  });

  test("may be named by an absolute path and through links inside; the answer has its real path", async () => {
    mkdirSync(join(area.root, "real"));
    symlinkSync("real", join(area.root, "alias"));
    symlinkSync("alias/made.txt", join(area.root, "dangling"));
    const written = { content: `Wrote 3 bytes to ${join(area.root, "real/made.txt")}` };
    expect(await write(join(area.root, "alias/made.txt"))).toEqual(written);
    expect(await write("dangling", "two")).toEqual(written);
    expect(read("real/made.txt")).toBe("two");
    expect(readlinkSync(join(area.root, "dangling"))).toBe("alias/made.txt");
  });

  test("is written by several calls of one turn one after the other, never in part", async () => {
    const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(100_000));
    const outcomes = await Promise.all(contents.map((content) => write("f", content)));
    expect(outcomes.every((outcome) => "content" in outcome)).toBe(true);
    expect(read("f") === contents.at(-1)).toBe(true);
  });
});

describe("refused is", () => {
  test("a directory, also the work directory itself", async () => {
    mkdirSync(join(area.root, "d"));
    symlinkSync(".", join(area.root, "self"));
    for (const [path, name] of [
      ["d", "d"],
      ["d/", "d"],
      [".", ""],
      ["self", "self"],
    ] as const) {
      expect(await write(path)).toEqual({ error: `open ${join(area.root, name)}: is a directory` });
    }
  });

  test("a path outside, and no directory is made on the way", async () => {
    symlinkSync(area.outside, join(area.root, "out"));
    symlinkSync(join(area.outside, "new"), join(area.root, "dangling"));
    const paths = ["../x/y", "/etc/runnel-test", "out/new/f", "out/secret", "dangling", "dangling/f", "new/../../x"];
    for (const path of paths) {
      const joined = path.startsWith("/") ? path : join(area.root, path);
      expect(await write(path)).toEqual({ error: `path "${joined}" is outside work directory` });
    }
    expect(readdirSync(area.root).sort()).toEqual(["dangling", "out"]);
    expect(readdirSync(join(area.base, "area"))).toEqual(["s1"]);
  });

  test("anything but a regular file, without waiting for it", async () => {
    execFileSync("mkfifo", [join(area.root, "pipe")]);
    expect(await write("pipe")).toEqual({ error: `${join(area.root, "pipe")} is not a regular file` });
  });

  test("a file with a second name, which may be outside", async () => {
    const path = join(area.root, "hard");
    linkSync(join(area.outside, "secret"), path);
    expect(await write("hard")).toEqual({
      error: `${path} has 2 hard links: only files with a single name are opened`,
    });
  });

  test("a name that the system refuses", async () => {
    const name = "x".repeat(256);
    expect(await write(name)).toEqual({ error: `open ${join(area.root, name)}: file name too long` });
    expect(await write("a\0b")).toEqual({ error: "path contains a NUL byte" });
  });
});

test("a call of a run that has ended writes nothing", async () => {
  area.write("f", "old");
  const context = { ...workspaceAt(area.root), sessionId: "s1", signal: AbortSignal.abort(new Error("stopped")) };
  await expect(writeFile.run({ file_path: "f", content: "new" }, context)).rejects.toThrow("stopped");
  expect(read("f")).toBe("old");
});

test("a failed write leaves the old content and nothing else", async () => {
  area.write("f", "old");
  const stop = new AbortController();
  const outcome = writeFile.run(
    { file_path: "f", content: "x".repeat(10_485_760) },
    { ...workspaceAt(area.root), sessionId: "s1", signal: stop.signal },
  );
  // The new file appears beside the old one when writing has begun.
  while (readdirSync(area.root).length < 2) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  stop.abort(new Error("stopped"));
  await expect(outcome).rejects.toThrow();
  expect(read("f")).toBe("old");
});

// A maximum file size replaces a full disk: both refuse after a part was written.
test("a write that the system refuses midway leaves the old content and nothing else, and gives an error", () => {
  const path = area.write("f", "old");
  const program = `
    import { writeFile } from ${JSON.stringify(join(import.meta.dirname, "../../src/agent/tools/write-file.ts"))};
    process.on("SIGXFSZ", () => {});
    const workDir = process.argv[1];
    const context = { workDir, realPath: workDir, hidden: [], sessionId: "s1", signal: new AbortController().signal };
    const outcome = await writeFile.run({ file_path: "f", content: "x".repeat(300_000) }, context);
    process.stdout.write(JSON.stringify(outcome));
  `;
  // In blocks of 1 KiB.
  const limited = 'ulimit -f 100; exec "$0" --input-type=module -e "$1" "$2"';
  const outcome = execFileSync("bash", ["-c", limited, process.execPath, program, area.root], { encoding: "utf8" });
  expect(JSON.parse(outcome)).toEqual({ error: `write ${path}: file too large` });
  expect(read("f")).toBe("old");
});
