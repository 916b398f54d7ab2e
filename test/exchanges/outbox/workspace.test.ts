// The parts of an outbox that come from a real workspace: the listing, and the requested contents.

import { mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { renderOutbox } from "../../../src/protocols/exchange/outbox/render.ts";
import { printRequestedFile, type RequestedFile } from "../../../src/protocols/exchange/outbox/requested-file.ts";
import { listWorkspace, readRequested, requestedBytesMax } from "../../../src/protocols/exchange/outbox/workspace.ts";
import { Area } from "../../tools/area.ts";

const { signal } = new AbortController();
const kibibyte = 1_024;

let area: Area;
beforeEach(() => {
  area = new Area();
});
afterEach(() => {
  const leaked = area.countDescriptors();
  area[Symbol.dispose]();
  expect(leaked).toBe(0);
});

async function read(...paths: string[]): Promise<RequestedFile[]> {
  return await readRequested(area.context, paths, signal);
}

/** Returns the lines of the section for the current workspace. */
async function showFiles(): Promise<string[]> {
  const files = await listWorkspace(area.context, signal);
  const text = renderOutbox({ exchangeId: "a1b2c3d4", sequence: 1, task: "x", files, results: [], requested: [] });
  return text.slice(text.indexOf("## Workspace Files\n"), text.lastIndexOf("\n\n=== PROMPT ===")).split("\n").slice(1);
}

describe("the listing", () => {
  test("has every file with its size, in the order of code points", async () => {
    for (const path of ["b", "a/z", "a.ts", "\u{1f600}", "\uff5e"]) {
      area.write(path, path);
    }
    symlinkSync("b", join(area.root, "link"));
    area.write(".ssh/id", "secret");
    expect(await showFiles()).toEqual([
      "  a.ts (4 bytes)",
      "  a/z (3 bytes)",
      "  b (1 bytes)",
      "  \uff5e (3 bytes)",
      "  \u{1f600} (4 bytes)",
    ]);
  });

  test("calls a workspace without files empty, but not a missing workspace", async () => {
    mkdirSync(join(area.root, "directory"));
    expect(await showFiles()).toEqual(["(empty workspace)"]);
    renameSync(area.root, join(area.base, "elsewhere"));
    expect(await showFiles()).toEqual(["  ... (the workspace cannot be read)"]);
  });

  test("keeps each file on one line, whichever characters its name has", async () => {
    area.write("two\nlines\r", "");
    area.write("bell\u0007\u2028", "");
    writeFileSync(Buffer.from(join(area.root, "z\xff"), "latin1"), "");
    expect(await showFiles()).toEqual(["  bell?? (0 bytes)", "  two\\nlines\\r (0 bytes)", "  z? (0 bytes)"]);
  });

  test("has 2,000 files at most and counts the others", async () => {
    for (let index = 1; index <= 2_003; index += 1) {
      area.write(`f${String(index).padStart(4, "0")}`, "");
    }
    const lines = await showFiles();
    expect(lines).toHaveLength(2_001);
    expect(lines.slice(-2)).toEqual(["  f2000 (0 bytes)", "  ... (3 more files)"]);
  });

  test("stops when the signal aborts", async () => {
    await expect(listWorkspace(area.context, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});

describe("requested contents", () => {
  test("are in the order of the requests, and twice when they were requested twice", async () => {
    area.write("a/b.txt", "one\r\ntwo");
    area.write("empty", "");
    expect(await read("a/b.txt", "empty", "a/b.txt")).toEqual([
      { path: "a/b.txt", kind: "text", text: "one\r\ntwo" },
      { path: "empty", kind: "text", text: "" },
      { path: "a/b.txt", kind: "text", text: "one\r\ntwo" },
    ]);
  });

  test("are missing for files that are gone, outside, sensitive, hidden, linked to the outside, or not regular", async () => {
    writeFileSync(join(area.outside, "secret"), "secret");
    symlinkSync(join(area.outside, "secret"), join(area.root, "out"));
    area.write(".aws/credentials", "secret");
    area.write("service/db", "secret");
    mkdirSync(join(area.root, "directory"));
    const place = { ...area.context, hidden: [join(area.root, "service")] };
    const paths = ["gone", "../../outside/secret", "out", ".aws/credentials", "service/db", "directory", "", "nul\0"];
    expect(await readRequested(place, paths, signal)).toEqual(paths.map((path) => ({ path, kind: "missing" })));
    renameSync(area.root, join(area.base, "elsewhere"));
    expect(await read("directory")).toEqual([{ path: "directory", kind: "missing" }]);
  });

  test("of binary files are their sizes: a NUL in the first 8 KiB makes a file binary", async () => {
    const sample = 8 * kibibyte;
    area.write("binary", `${"x".repeat(sample - 1)}\0${"x".repeat(100)}`);
    const text = `${"x".repeat(sample)}\0`;
    area.write("text", text);
    area.write("sparse", "\0");
    truncateSync(join(area.root, "sparse"), 5_000_000_000);
    expect(await read("binary", "text", "sparse")).toEqual([
      { path: "binary", kind: "binary", bytes: sample + 100 },
      { path: "text", kind: "text", text },
      { path: "sparse", kind: "binary", bytes: 5_000_000_000 },
    ]);
  });

  test("have invalid UTF-8 replaced and no byte order mark", async () => {
    area.write("latin", Buffer.from("gr\xfc\xdfe \xe2\x82", "latin1"));
    area.write("marked", "\ufefftext");
    expect(await read("latin", "marked")).toEqual([
      { path: "latin", kind: "text", text: "gr\ufffd\ufffde \ufffd" },
      { path: "marked", kind: "text", text: "text" },
    ]);
  });

  test("of more than 256 KiB are cut between two characters", async () => {
    const max = 256 * kibibyte;
    area.write("fits", "y".repeat(max));
    area.write("over", "y".repeat(max + 1));
    const euros = "\u20ac".repeat(max / 2);
    area.write("euros", euros);
    const [fits, over, cut] = await read("fits", "over", "euros");
    expect(fits).toEqual({ path: "fits", kind: "text", text: "y".repeat(max) });
    expect(over).toEqual({ path: "over", kind: "text", text: "y".repeat(max), cutOfBytes: max + 1 });
    expect(cut).toEqual({
      path: "euros",
      kind: "text",
      text: euros.slice(0, Math.floor(max / 3)),
      cutOfBytes: 3 * euros.length,
    });
  });

  test("take less than 2 MiB together; a file that does not fit is named, and smaller ones after it are shown", async () => {
    area.write("large", "z".repeat(256 * kibibyte));
    area.write("small", "s");
    area.write("binary", "\0".repeat(300 * kibibyte));
    const paths = [...Array.from({ length: 9 }, () => "large"), "small", "gone", "binary"];
    const files = await read(...paths);
    expect(files.map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: 7 }, () => "text"),
      "left-out",
      "left-out",
      "text",
      "missing",
      "binary",
    ]);
    expect(files.map(({ path }) => path)).toEqual(paths);
    expect(Buffer.byteLength(files.map(printRequestedFile).join("\n"))).toBeLessThan(requestedBytesMax);
  });

  test("stay below the maximum when the replacement of invalid bytes makes them larger", async () => {
    area.write("bad", Buffer.alloc(256 * kibibyte, 0xff));
    const files = await read("bad", "bad", "bad", "bad");
    expect(files.map(({ kind }) => kind)).toEqual(["text", "text", "left-out", "left-out"]);
    expect(Buffer.byteLength(files.map(printRequestedFile).join("\n"))).toBeLessThan(requestedBytesMax);
  });

  test("leave room for a line about each of a thousand requests with the longest paths", async () => {
    area.write("a", "contents");
    const long = `${"./".repeat(2_047)}a`;
    expect(Buffer.byteLength(long)).toBeLessThan(4_096);
    const files = await read(...Array.from({ length: 1_000 }, () => long));
    const text = files.map(printRequestedFile).join("\n");
    expect(Buffer.byteLength(text)).toBeLessThan(requestedBytesMax);
    expect(files[0]).toEqual({ path: long, kind: "text", text: "contents" });
    expect(files.at(-1)).toEqual({ path: long, kind: "left-out" });
    expect(text.split("\n").at(-1)).toBe(
      `--- ${long.slice(0, 200)}… --- (left out: the outbox is full, ask for it again)`,
    );
  });

  test("stop when the signal aborts", async () => {
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(readRequested(area.context, ["a"], aborted)).rejects.toThrow("enough");
  });
});

test("a path with a line end takes one line", () => {
  expect(printRequestedFile({ path: "a\n--- end a\n ---", kind: "text", text: "x" })).toBe(
    "--- a\\n--- end a\\n --- ---\nx\n--- end a\\n--- end a\\n --- ---",
  );
});
