import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { compileGlob, globDepth, leadsUp, splitGlob } from "../../src/agent/tools/search/glob-pattern.ts";

describe("a pattern", () => {
  test.each([
    ["*.go", ["a.go", ".go", ".hidden.go"], ["a.gox", "d/a.go"]],
    ["**/*.go", ["a.go", "d/a.go", "d/e/.a.go"], ["a.ts", "d/a.go/x"]],
    ["src/**/*.ts", ["src/a.ts", "src/d/e/a.ts"], ["a.ts", "srcs/a.ts", "src.ts"]],
    ["deep/**", ["deep/a", "deep/a/b"], ["deeper/a"]],
    ["a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c"], ["a/c", "a/b"]],
    ["a**b", ["ab", "axxb"], ["a/b"]],
    ["*.{a,b}", ["x.a", "x.b"], ["x.c", "x.{a,b}"]],
    ["{src,test}/**/*.{ts,js{,x}}", ["src/a.ts", "test/d/a.js", "src/a.jsx"], ["lib/a.ts"]],
    ["{a,**/b}/c", ["a/c", "b/c", "x/y/b/c"], ["x/a/c"]],
    ["[!x]", ["a", "é", "😀"], ["x", "/", "ab"]],
    ["[^a-c]?", ["d1", "]1"], ["a1", "d/"]],
    ["[]-]", ["]", "-"], ["a"]],
    ["[[:digit:]&&[a]", ["7", "&", "[", "a"], ["b"]],
    ["a.c+(x)$^|", ["a.c+(x)$^|"], ["abc+(x)$^|", "a.c"]],
    ["\\*\\{a,b\\}", ["*{a,b}"], ["x{a,b}"]],
    ["{a}[b{c", ["{a}[b{c"], ["a[b{c", "a"]],
    ["{a,b", ["{a,b"], ["a"]],
    ["ünï*?😀", ["ünïx😀", "ünï-x😀"], ["ünï😀"]],
    ["a\nb*", ["a\nb\nc"], ["a"]],
    ["\\", ["\\"], [""]],
  ] as const)("%s", (pattern, matching, others) => {
    const glob = compileGlob(pattern);
    expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
    expect(others.filter((path) => glob.matches(path))).toEqual([]);
  });

  test("matches the same paths as another matcher", () => {
    const part = fc.constantFrom("*", "?", "a", "b", ".", "[ab]", "[!a]", "{a,b}", "{a,.b}", "[a-b]", "-");
    const segment = fc.oneof(
      fc.constant("**"),
      fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
    );
    const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/"));
    const name = fc.string({ unit: fc.constantFrom("a", "b", "c", ".", "-"), minLength: 1, maxLength: 3 });
    const path = fc
      .array(name, { minLength: 1, maxLength: 4 })
      .filter((names) => !names.some((each) => each.endsWith(".")))
      .map((names) => names.join("/"));
    fc.assert(
      fc.property(pattern, fc.array(path, { minLength: 20, maxLength: 20 }), (glob, paths) => {
        // Left out are patterns for which the other matcher has rules of its own: names that end in a dot, "." as a segment,
        // `**{a,b}`, `***/a.`, which it matches with `a/aa`, and `a/**` or `a/***`, which it also matches with `a`.
        fc.pre(!/\/\*{2,}$|\*\*\{|\*{3}/.test(glob) && !glob.split("/").includes("."));
        const ours = compileGlob(glob);
        const theirs = picomatch(glob, { dot: true, noextglob: true, nonegate: true, posix: true });
        expect(paths.filter((each) => ours.matches(each))).toEqual(paths.filter((each) => theirs(each)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("is matched in linear time, where backtracking would take years", () => {
    const glob = compileGlob(`${"*a".repeat(100)}*b`);
    expect(glob.matches("a".repeat(255))).toBe(false);
    expect(compileGlob(`${"**/a*/".repeat(50)}b`).matches("a/".repeat(1_000))).toBe(false);
  });

  test("of any text is compiled or refused, and matches itself when all of it is escaped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 20 }), (text) => {
        fc.pre(text.isWellFormed());
        expect(compileGlob(text.replaceAll(/./gsu, "\\$&")).matches(text)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."[]{},*?!^-\\/a:"), maxLength: 12 }), (text) => {
        try {
          compileGlob(text);
        } catch (error) {
          expect(String(error)).toMatch(/invalid character class range/);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

test("the directory at the start of a pattern is split off", () => {
  expect(splitGlob("src/**/*.ts")).toEqual({ directory: "src/", rest: "**/*.ts" });
  expect(splitGlob("a/b*/c")).toEqual({ directory: "a/", rest: "b*/c" });
  expect(splitGlob("a/b/c.txt")).toEqual({ directory: "a/b/", rest: "c.txt" });
  expect(splitGlob("*")).toEqual({ directory: "", rest: "*" });
  expect(splitGlob("/w/{a,b}//c")).toEqual({ directory: "/w/", rest: "{a,b}/c" });
});

test("a pattern without ** looks no deeper than its number of segments", () => {
  expect(globDepth("*.ts")).toBe(0);
  expect(globDepth("*/{a,b/c}")).toBe(2);
  expect(globDepth("**")).toBe(Number.POSITIVE_INFINITY);
});

test("a pattern that leaves the directory is recognized by a segment of two dots", () => {
  for (const pattern of ["../a", "*/..", "{..,a}/b", "{a,..}", "a/../b"]) {
    expect([pattern, leadsUp(pattern)]).toEqual([pattern, true]);
  }
  for (const pattern of ["a..b", "...", "..a/*", "{a..b}", "*.."]) {
    expect([pattern, leadsUp(pattern)]).toEqual([pattern, false]);
  }
});
