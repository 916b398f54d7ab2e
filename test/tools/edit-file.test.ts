import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { editFile } from "../../src/agent/tools/edit-file.ts";
import { countOccurrences, replaceOccurrences } from "../../src/agent/tools/occurrences.ts";
import type { ToolOutcome } from "../../src/agent/tools/tool.ts";
import { areaOfEachTest } from "./area.ts";

const area = areaOfEachTest();
afterEach(() => {
  expect(readdirSync(area.root).filter((name) => name.startsWith(".runnel-"))).toEqual([]);
});

const edited = { content: "File edited successfully" };

async function edit(args: Record<string, unknown>): Promise<ToolOutcome> {
  return await area.run(editFile, { file_path: "f", ...args });
}

function read(): string {
  return readFileSync(join(area.root, "f"), "utf8");
}

describe("the old text", () => {
  test("is replaced where it occurs once, as it is and not as a pattern", async () => {
    area.write("f", "a $1 (b)*\nc");
    expect(await edit({ old_string: "$1 (b)*\n", new_string: "$& $$ \\n" })).toEqual(edited);
    expect(read()).toBe("a $& $$ \\nc");
  });

  test("that occurs several times is replaced only with replace_all", async () => {
    area.write("f", "aXbXcX");
    expect(await edit({ old_string: "X", new_string: "--" })).toEqual({
      error: "old_string found 3 times; use replace_all or provide more context",
    });
    expect(await edit({ old_string: "X", new_string: "--", replace_all: "true" })).toHaveProperty("error");
    expect(read()).toBe("aXbXcX");
    expect(await edit({ old_string: "X", new_string: "--", replace_all: true })).toEqual(edited);
    expect(read()).toBe("a--b--c--");
  });

  test("counts without overlaps", async () => {
    area.write("f", "aaa");
    expect(await edit({ old_string: "aa", new_string: "b" })).toEqual(edited);
    expect(read()).toBe("ba");
  });

  test("that does not occur changes nothing", async () => {
    area.write("f", "grün");
    expect(await edit({ old_string: "Grün", new_string: "x" })).toEqual({ error: "old_string not found in file" });
    expect(read()).toBe("grün");
  });

  test.each([{}, { new_string: 7 }, { new_string: null }])("is deleted for %j", async (args) => {
    area.write("f", "abc");
    expect(await edit({ old_string: "b", ...args })).toEqual(edited);
    expect(read()).toBe("ac");
  });

  test("is found and replaced as in a simple model", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "ab", "ä", "😀"), maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.string({ unit: fc.constantFrom("a", "b", "ä"), minLength: 1, maxLength: 4 }),
        text,
        async (content, part, replacement) => {
          const signal = new AbortController().signal;
          const pieces = content.split(part);
          const count = await countOccurrences(Buffer.from(content), Buffer.from(part), signal);
          expect(count).toBe(pieces.length - 1);
          const change = { part: Buffer.from(part), replacement: Buffer.from(replacement), count };
          const result = await replaceOccurrences(Buffer.from(content), change, signal);
          expect(result.toString()).toBe(pieces.join(replacement));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  // Node's buffer search takes two minutes for this pair.
  test("is found in linear time", async () => {
    area.write("f", "a".repeat(10_000_000));
    const half = "a".repeat(50_000);
    expect(await edit({ old_string: `${half}b${half}`, new_string: "" })).toEqual({
      error: "old_string not found in file",
    });
  });
});

describe("the file", () => {
  test("keeps its mode, and all bytes outside the old text", async () => {
    chmodSync(area.write("f", Buffer.from([0xff, 0x00, 0x41, 0xc3])), 0o640);
    expect(await edit({ old_string: "A", new_string: "ü" })).toEqual(edited);
    expect([...readFileSync(join(area.root, "f"))]).toEqual([0xff, 0x00, 0xc3, 0xbc, 0xc3]);
    expect(statSync(join(area.root, "f")).mode & 0o777).toBe(0o640);
  });

  test("may be named through links inside", async () => {
    area.write("real/f", "old");
    symlinkSync("real", join(area.root, "alias"));
    symlinkSync("alias/f", join(area.root, "f"));
    expect(await edit({ old_string: "old", new_string: "new" })).toEqual(edited);
    expect(readFileSync(join(area.root, "real/f"), "utf8")).toBe("new");
  });

  test("gets every edit when one turn has several calls", async () => {
    area.write("f", Array.from({ length: 20 }, (_, index) => `<${index}>`).join(""));
    const edits = Array.from({ length: 20 }, (_, index) => edit({ old_string: `<${index}>`, new_string: "." }));
    expect(await Promise.all(edits)).toEqual(edits.map(() => edited));
    expect(read()).toBe(".".repeat(20));
  });

  test("may have 10 MiB, before and after", async () => {
    const path = area.write("f", "b");
    truncateSync(path, 10_485_760);
    expect(await edit({ old_string: "b", new_string: "c" })).toEqual(edited);
    expect(await edit({ old_string: "c", new_string: "dd" })).toEqual({
      error: "content too large: 10485761 bytes (max 10485760)",
    });
    truncateSync(path, 10_485_761);
    expect(await edit({ old_string: "c", new_string: "" })).toEqual({
      error: `file too large: ${path} (10485761 bytes, max 10485760)`,
    });
  });
});

describe("refused is", () => {
  test("a path that is missing, a directory, outside, or has two names", async () => {
    mkdirSync(join(area.root, "d"));
    area.write("one", "old");
    linkSync(join(area.root, "one"), join(area.root, "two"));
    const call = (path: string) => edit({ file_path: path, old_string: "o", new_string: "x" });
    const at = (path: string) => join(area.root, path);
    expect(await call("no/file")).toEqual({ error: `open ${at("no/file")}: no such file or directory` });
    expect(await call("one/file")).toEqual({ error: `open ${at("one/file")}: no such file or directory` });
    expect(await call("d")).toEqual({ error: `open ${at("d")}: is a directory` });
    expect(await call("../x")).toEqual({ error: `path "${at("../x")}" is outside work directory` });
    expect(await call("one")).toEqual({
      error: `${at("one")} has 2 hard links: only files with a single name are opened`,
    });
    expect(readdirSync(area.root).sort()).toEqual(["d", "one", "two"]);
  });
});
