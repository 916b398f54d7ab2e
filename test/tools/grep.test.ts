import { execFileSync } from "node:child_process";
import { linkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, onTestFinished, test } from "vitest";
import { grep } from "../../src/agent/tools/grep.ts";
import type { ToolOutcome } from "../../src/agent/tools/tool.ts";
import { inTime } from "../harness/examples.ts";
import { areaOfEachTest } from "./area.ts";
import { workspaceAt } from "./workspace.ts";

const area = areaOfEachTest();

const nothing = { content: "No matches found" };

async function search(pattern: unknown, rest: Record<string, unknown> = {}): Promise<ToolOutcome> {
  return await area.run(grep, { pattern, ...rest });
}

/** As `path:line:text`, relative to the work directory. */
async function find(pattern: string, rest: Record<string, unknown> = {}): Promise<string[]> {
  const outcome = (await search(pattern, rest)) as { content: string };
  return outcome.content === nothing.content
    ? []
    : outcome.content
        .slice(0, -1)
        .split("\n")
        .map((line) => line.replace(`${area.root}/`, ""));
}

describe("a line", () => {
  test("is returned with the absolute path and its number", async () => {
    const first = area.write("b/a.txt", "one\ntwo\nthree two");
    const second = area.write("a.txt", "two\n");
    expect(await search("two")).toEqual({ content: `${second}:1:two\n${first}:2:two\n${first}:3:three two\n` });
  });

  test("is matched on its own: ^ and $ are its ends, and so are \\A and \\z", async () => {
    area.write("f", "ab\nb\n\nab b\r\n");
    expect(await find("^b")).toEqual(["f:2:b"]);
    expect(await find("b$")).toEqual(["f:1:ab", "f:2:b"]);
    expect(await find("\\Ab\\z")).toEqual(["f:2:b"]);
    expect(await find("(?-m)^b")).toEqual(["f:2:b"]);
    expect(await find("^$")).toEqual(["f:3:"]);
    expect(await find("b[^x ]b")).toEqual([]);
    expect(await find("(?s)b.*b")).toEqual(["f:4:ab b\r"]);
  });

  // The whole file is searched first, where ^, $, \\A, \\z and line breaks mean something else.
  test("is found by any expression as if each line were matched alone", async () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      ".",
      "[^a]",
      "\\s",
      "\\w",
      "\\W",
      "^",
      "$",
      "\\A",
      "\\z",
      "\\b",
      "\\B",
      "\\r",
    );
    const piece = fc
      .tuple(atom, fc.constantFrom("", "", "", "*", "+", "?", "*?"))
      .map(([text, count]) => (/^(?:[\^$]|\\[AzbB])$/.test(text) ? text : text + count));
    const sequence = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));
    const flagged = fc
      .tuple(fc.constantFrom("", "(?i)", "(?s)", "(?m)", "(?-m:", "(?s-m:", "(?:"), sequence)
      .map(([flags, text]) => (flags.endsWith(":") ? `${flags}${text})` : flags + text));
    const expression = fc.array(flagged, { minLength: 1, maxLength: 2 }).map((all) => all.join("|"));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "A", " ", "\n", "\n", "\r"), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        expression,
        text,
        inTime(20_000, async (pattern, content) => {
          const path = area.write("f", content);
          const alone = RE2JS.compile(pattern);
          const lines = content.replace(/\n$/, "").split("\n");
          const matching = lines.flatMap((line, index) => (alone.test(line) ? [`${path}:${index + 1}:${line}\n`] : []));
          const expected = content === "" ? "" : matching.join("");
          expect(await search(pattern)).toEqual({ content: expected || "No matches found" });
        }),
      ),
      { numRuns: 500 },
    );
  });

  test("that ends in CR keeps it", async () => {
    const path = area.write("f", "a\r\n");
    expect(await search("a\\r$")).toEqual({ content: `${path}:1:a\r\n` });
    expect(await search("a$")).toEqual(nothing);
  });

  test("is matched in the syntax of Go", async () => {
    area.write("f", "Grün 42\nλόγος\nfoo.bar");
    expect(await find("(?i)GRÜN")).toEqual(["f:1:Grün 42"]);
    expect(await find("(?P<number>\\d+)$")).toEqual(["f:1:Grün 42"]);
    expect(await find("^\\p{Greek}+$")).toEqual(["f:2:λόγος"]);
    expect(await find("\\Qo.b\\E")).toEqual(["f:3:foo.bar"]);
    expect(await find("[[:upper:]]")).toEqual(["f:1:Grün 42"]);
  });

  test("is one of at most 100", async () => {
    area.write("a", "x\n".repeat(60));
    area.write("b", "x\n".repeat(60));
    const found = await find("x");
    expect(found).toHaveLength(100);
    expect(found.at(-1)).toBe("b:40:x");
  });

  test("of any length is returned up to the maximum of the answer", async () => {
    const path = area.write("f", `${"x".repeat(1_000_000)}\n`);
    const bytes = 1_000_000 + `${path}:1:\n`.length;
    expect(await search("x$")).toEqual({
      content: expect.stringMatching(
        new RegExp(`:1:x+\\n\\.\\.\\. \\(truncated: showing 102400 of ${bytes} bytes\\)$`),
      ),
    });
  });
});

describe("the search covers", () => {
  test("one file when path names it, also through a link inside", async () => {
    area.write("d/f", "x");
    area.write("g", "x");
    symlinkSync("d/f", join(area.root, "alias"));
    expect(await find("x", { path: "d/f" })).toEqual(["d/f:1:x"]);
    expect(await find("x", { path: "alias" })).toEqual(["alias:1:x"]);
    expect(await find("x", { path: join(area.root, "d") })).toEqual(["d/f:1:x"]);
  });

  test("only the included file names", async () => {
    for (const path of ["a.go", "d/b.go", "d/c.ts", ".go"]) {
      area.write(path, "x");
    }
    expect(await find("x", { include: "*.go" })).toEqual([".go:1:x", "a.go:1:x", "d/b.go:1:x"]);
    expect(await find("x", { include: "[bc].{ts,go}" })).toEqual(["d/b.go:1:x", "d/c.ts:1:x"]);
    expect(await find("x", { include: "d/*.go" })).toEqual([]);
  });

  test("no directory of generated or foreign files, unless it is named", async () => {
    const skipped = [
      ".git",
      "node_modules",
      "vendor",
      ".idea",
      ".vscode",
      "__pycache__",
      ".mypy_cache",
      ".tox",
      "dist",
    ];
    for (const directory of [...skipped, ".github"]) {
      area.write(`${directory}/f`, "x");
    }
    expect(await find("x")).toEqual([".github/f:1:x"]);
    expect(await find("x", { path: "dist" })).toEqual(["dist/f:1:x"]);
  });

  test("no binary file and no file over 1 MiB", async () => {
    area.write("binary", `${"x".repeat(511)}\0`);
    area.write("later", `${"x".repeat(512)}\0`);
    area.write("large", `x${"\n".repeat(1_048_576)}`);
    area.write("largest", `x${"\n".repeat(1_048_575)}`);
    expect((await find("x")).map((line) => line.split(":")[0])).toEqual(["largest", "later"]);
    expect(await search("x", { path: "binary" })).toEqual(nothing);
  });

  test("invalid UTF-8, as replacement characters", async () => {
    const path = area.write("f", Buffer.from([0x61, 0xff, 0x62]));
    expect(await search("a.b")).toEqual({ content: `${path}:1:a\ufffdb\n` });
  });

  test("no link, no file with a second name, no sensitive file, no pipe", async () => {
    writeFileSync(join(area.outside, "secret"), "x");
    area.write(".ssh/id", "x");
    symlinkSync(".ssh/id", join(area.root, "alias"));
    symlinkSync(area.outside, join(area.root, "out"));
    symlinkSync(join(area.outside, "secret"), join(area.root, "file"));
    linkSync(join(area.outside, "secret"), join(area.root, "hard"));
    execFileSync("mkfifo", [join(area.root, "pipe")]);
    expect(await search("x")).toEqual(nothing);
    expect(await search("x", { path: "out" })).toEqual({
      error: `path "${join(area.root, "out")}" is outside work directory`,
    });
    expect(await search("x", { path: "alias" })).toEqual({ error: 'access to sensitive path "/.ssh/" is blocked' });
  });
});

describe("refused is", () => {
  test.each([
    ["(a", "missing closing ): `(a`"],
    ["*a", "missing argument to repetition operator: `*`"],
    ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
    ["(?<!a)b", "invalid named capture: `(?<!a)b`"],
    ["(a)\\1", "invalid escape sequence: `\\1`"],
    ["[z-a]", "invalid character class range: `z-a`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
  ])("%s, with the message of Go", async (pattern, words) => {
    expect(await search(pattern)).toEqual({ error: `invalid regex: error parsing regexp: ${words}` });
  });

  test("a path that is missing or outside", async () => {
    expect(await search("x", { path: "no" })).toEqual({
      error: `open ${join(area.root, "no")}: no such file or directory`,
    });
    expect(await search("x", { path: "/etc" })).toEqual({ error: 'path "/etc" is outside work directory' });
  });
});

describe("a hostile pattern", () => {
  /** About 1,800 states, all active at every byte: half a minute for one file on an idle machine. */
  const slow = "(?:.{1,30}a){30}[xy]$";

  function writeLongLine(): void {
    let bits = 1;
    const line = Array.from({ length: 1_000_000 }, () => {
      bits = (bits * 48_271) % 2_147_483_647;
      return bits % 2 === 0 ? "a" : "b";
    });
    area.write("line", line.join(""));
  }

  test("that makes other engines backtrack is matched in linear time", async () => {
    area.write("f", `${"a".repeat(1_000_000)}!`);
    for (const pattern of ["(a+)+$", "(a|aa)+$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"]) {
      expect(await search(pattern)).toEqual(nothing);
    }
  });

  test("ends with its run, and leaves the event loop free until then", async () => {
    writeLongLine();
    const stop = new AbortController();
    const outcome = grep.run({ pattern: slow }, { ...workspaceAt(area.root), sessionId: "s1", signal: stop.signal });
    for (let turns = 0; turns < 100; turns += 1) {
      await turn();
    }
    stop.abort(new Error("stopped"));
    await expect(outcome).rejects.toThrow("stopped");
    expect(await search("b")).toHaveProperty("content");
  });

  test("delays other searches only as long as it runs", async () => {
    writeLongLine();
    area.write("small/f", "x");
    const stop = new AbortController();
    const context = { ...workspaceAt(area.root), sessionId: "s1", signal: stop.signal };
    const hostile = Array.from({ length: 4 }, () => grep.run({ pattern: slow }, context).catch(String));
    const patient = search("x", { path: "small" });
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(
      grep.run({ pattern: "x" }, { ...workspaceAt(area.root), sessionId: "s1", signal: gone }),
    ).rejects.toThrow("gone");
    stop.abort(new Error("stopped"));
    expect(await Promise.all(hostile)).toEqual(hostile.map(() => "Error: stopped"));
    expect(await patient).toEqual({ content: `${join(area.root, "small/f")}:1:x\n` });
  });

  test("keeps no other client waiting, however many searches its client sends", async () => {
    writeLongLine();
    area.write("small/f", "x");
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const context = { ...workspaceAt(area.root), client: "hostile", sessionId: "s1", signal: stop.signal };
    let ended = 0;
    const hostile = Array.from({ length: 8 }, () => grep.run({ pattern: slow }, context).catch(() => ended++));
    // The searches of the hostile client have their turns or wait before the other client's one comes.
    await turn();
    for (const client of ["one", "another"]) {
      // A third of the time that one hostile search takes.
      const call = { ...workspaceAt(area.root), client, sessionId: "s1", signal: AbortSignal.timeout(10_000) };
      expect(await grep.run({ pattern: "x", path: "small" }, call)).toHaveProperty("content");
    }
    expect(ended).toBe(0);
    stop.abort(new Error("stopped"));
    await Promise.all(hostile);
    expect(ended).toBe(8);
  });
});

test("many concurrent searches get their own answers", async () => {
  for (let index = 0; index < 20; index += 1) {
    area.write(`d${index}/f`, `number ${index}`);
  }
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => find(`^number ${index}$`)));
  expect(outcomes).toEqual(Array.from({ length: 20 }, (_, index) => [`d${index}/f:1:number ${index}`]));
});
