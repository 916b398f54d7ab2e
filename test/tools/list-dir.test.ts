import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listDir } from "../../src/agent/tools/list-dir.ts";
import { areaOfEachTest } from "./area.ts";

const area = areaOfEachTest();

test("entries are sorted, hidden ones included, directories with a slash, each with its size", async () => {
  area.write("b.txt", "12345");
  area.write(".hidden", "");
  mkdirSync(join(area.root, "a"));
  const directoryBytes = statSync(join(area.root, "a")).size;
  expect(await area.run(listDir, {})).toEqual({ content: `.hidden\t0\na/\t${directoryBytes}\nb.txt\t5\n` });
});

test("names of all languages sort by their bytes", async () => {
  for (const name of ["ä", "z", "Z", "\u{ffee}", "😀", "a-b", "a"]) {
    area.write(name, "");
  }
  expect(await area.run(listDir, {})).toEqual({ content: "Z\t0\na\t0\na-b\t0\nz\t0\nä\t0\n\u{ffee}\t0\n😀\t0\n" });
});

test("a link is listed as itself, with any target", async () => {
  writeFileSync(join(area.outside, "secret"), "SECRET");
  symlinkSync(join(area.outside, "secret"), join(area.root, "file"));
  symlinkSync("..", join(area.root, "up"));
  symlinkSync("missing", join(area.root, "void"));
  const linkBytes = join(area.outside, "secret").length;
  expect(await area.run(listDir, {})).toEqual({ content: `file\t${linkBytes}\nup\t2\nvoid\t7\n` });
});

test("an entry whose name is not UTF-8 is listed too", async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${area.root}/`), Buffer.from([0x61, 0xff])]), "xyz");
  expect(await area.run(listDir, {})).toEqual({ content: "a\ufffd\t3\n" });
});

test("an empty directory has an empty listing", async () => {
  expect(await area.run(listDir, {})).toEqual({ content: "" });
});

test.each([{}, { path: "" }, { path: "." }, { path: 7 }, { path: null }])(
  "%j lists the work directory",
  async (args) => {
    area.write("a", "");
    expect(await area.run(listDir, args)).toEqual({ content: "a\t0\n" });
  },
);

test("a long listing is cut at the maximum and says how long it would have been", async () => {
  const stem = "x".repeat(200);
  for (let index = 1000; index < 1600; index += 1) {
    area.write(`${stem}${index}`, "");
  }
  const bytes = 600 * (stem.length + "1000\t0\n".length);
  expect(await area.run(listDir, {})).toEqual({
    content: expect.stringMatching(
      new RegExp(`^x+1000\\t0\\n[^]*\\n\\.\\.\\. \\(truncated: showing 102400 of ${bytes} bytes\\)$`),
    ),
  });
});

test("listing stops when the run ends", async () => {
  area.write("a", "");
  const context = { ...area.context, signal: AbortSignal.abort(new Error("stopped")) };
  await expect(listDir.run({}, context)).rejects.toThrow("stopped");
});
