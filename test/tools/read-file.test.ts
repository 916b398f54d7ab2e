import { appendFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFile } from "../../src/agent/tools/read-file.ts";
import { areaOfEachTest } from "./area.ts";

const area = areaOfEachTest();

const nothing = { content: "(empty file or offset beyond end)" };

async function read(content: string | Uint8Array, window: Record<string, unknown> = {}) {
  area.write("f.txt", content);
  return await area.run(readFile, { file_path: "f.txt", ...window });
}

describe("lines", () => {
  test("carry their number, right-aligned to six, and a tab", async () => {
    expect(await read("a\nb\n")).toEqual({ content: "     1\ta\n     2\tb\n" });
  });

  test("end in a newline, also the last one of a file without it", async () => {
    expect(await read("a\n\nb")).toEqual({ content: "     1\ta\n     2\t\n     3\tb\n" });
  });

  test("lose the CR of a CRLF, and keep every other CR", async () => {
    expect(await read("a\r\nb\rc\n\r\n\r\r\n")).toEqual({
      content: "     1\ta\n     2\tb\rc\n     3\t\n     4\t\r\n",
    });
  });

  test("of any length are read, also where a chunk of the file ends between CR and LF", async () => {
    for (const length of [65_535, 65_536, 65_537]) {
      expect(await read(`${"x".repeat(length)}\r\ny`)).toEqual({
        content: `     1\t${"x".repeat(length)}\n     2\ty\n`,
      });
    }
  });

  test("keep a CR that ends a chunk of the file but not the line", async () => {
    expect(await read(`${"x".repeat(65_535)}\ry\n`)).toEqual({ content: `     1\t${"x".repeat(65_535)}\ry\n` });
  });

  test("keep characters whole where a chunk of the file ends inside one", async () => {
    expect(await read(`x${"😀".repeat(20_000)}`)).toEqual({ content: `     1\tx${"😀".repeat(20_000)}\n` });
  });

  test("show invalid UTF-8 as replacement characters, and keep a byte order mark", async () => {
    expect(await read(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3]))).toEqual({
      content: "     1\ta\ufffdb\n     2\t\ufffd\n",
    });
    expect(await read("\ufeffa")).toEqual({ content: "     1\t\ufeffa\n" });
  });
});

describe("the window", () => {
  const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

  test("starts at offset and has limit lines", async () => {
    expect(await read(ten, { offset: 9 })).toEqual({ content: "     9\t9\n    10\t10\n" });
    expect(await read(ten, { offset: 2, limit: 2 })).toEqual({ content: "     2\t2\n     3\t3\n" });
    expect(await read(ten, { limit: 1 })).toEqual({ content: "     1\t1\n" });
  });

  test("rounds its numbers down", async () => {
    expect(await read(ten, { offset: 2.9, limit: 1.9 })).toEqual({ content: "     2\t2\n" });
  });

  test("is the whole file where the numbers have another type or are not positive", async () => {
    const whole = await read(ten);
    expect(await read(ten, { offset: "3", limit: "1" })).toEqual(whole);
    expect(await read(ten, { offset: -3, limit: 0 })).toEqual(whole);
    expect(await read(ten, { offset: null, limit: [] })).toEqual(whole);
  });

  test("past the end says so, also for an empty file", async () => {
    expect(await read(ten, { offset: 11 })).toEqual(nothing);
    expect(await read("")).toEqual(nothing);
  });
});

describe("a long file", () => {
  test("is cut at the maximum and says how long the answer would have been", async () => {
    const outcome = await read(`${"x".repeat(99)}\r\n`.repeat(2_000));
    const line = `\t${"x".repeat(99)}\n`;
    const bytes = 2_000 * (6 + line.length);
    expect(outcome).toEqual({
      content: expect.stringMatching(
        new RegExp(`^     1${line}[^]*\\n\\.\\.\\. \\(truncated: showing 102400 of ${bytes} bytes\\)$`),
      ),
    });
  });

  test("is read up to 10 MiB, and refused beyond", async () => {
    const path = area.write("big", "a\n");
    truncateSync(path, 10_485_760);
    expect(await area.run(readFile, { file_path: "big", limit: 1 })).toEqual({ content: "     1\ta\n" });
    expect(await area.run(readFile, { file_path: "big" })).toEqual({
      content: expect.stringMatching(/showing 102400 of 10485775 bytes\)$/),
    });
    appendFileSync(path, "x");
    expect(await area.run(readFile, { file_path: "big", limit: 1 })).toEqual({
      error: `file too large: ${path} (10485761 bytes, max 10485760)`,
    });
  });

  test("is abandoned when the run ends", async () => {
    area.write("big", "\n".repeat(10_485_760));
    const stop = new AbortController();
    const outcome = readFile.run({ file_path: "big" }, { ...area.context, signal: stop.signal });
    setImmediate(() => stop.abort(new Error("stopped")));
    await expect(outcome).rejects.toThrow("stopped");
  });
});

describe("a path that cannot be read", () => {
  test("is named in full when it does not exist", async () => {
    const missing = join(area.root, "no/file");
    expect(await area.run(readFile, { file_path: "./x/../no//file" })).toEqual({
      error: `stat ${missing}: no such file or directory`,
    });
  });
});
