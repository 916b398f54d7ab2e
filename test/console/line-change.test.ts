// The lines that the console shows of a changed file.

import fc from "fast-check";
import { expect, test } from "vitest";
import { changesOf } from "../../console/src/run/changes-of.ts";
import { type LineChange, linesOf } from "../../console/src/run/line-change.ts";

const printed = ({ lines }: LineChange): string[] => lines.map(({ sign, text }) => `${sign}${text}`);

test("changes at both ends of a file are shown with the lines around each, and not those between them", () => {
  const before = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const after = before.with(1, "first").with(28, "last");
  const change = linesOf({ path: "a", before: before.join("\n"), after: after.join("\n") });
  expect(printed(change)).toEqual([
    ...[" line 0", "-line 1", "+first", " line 2", " line 3", " line 4", "…"],
    ...[" line 25", " line 26", " line 27", "-line 28", "+last", " line 29"],
  ]);
  expect([change.added, change.removed]).toEqual([2, 2]);
});

test("a text without one before is all new, and a lost end of the last line is said", () => {
  expect(printed(linesOf({ path: "a", before: undefined, after: "one\n-two\n" }))).toEqual(["+one", "+-two"]);
  expect(printed(linesOf({ path: "a", before: "one\n", after: "one" }))).toEqual([
    "-one",
    "+one",
    "…No newline at end of file",
  ]);
});

test("the lines that stay and went make the text before, and those that stay and came the text after", () => {
  const text = fc.array(fc.constantFrom("a", "b", "", "-", "+c", "\\ x"), { maxLength: 8 });
  fc.assert(
    fc.property(text, text, (old, next) => {
      const [before, after] = [old, next].map((lines) => lines.map((line) => `${line}\n`).join("")) as [string, string];
      const { lines } = linesOf({ path: "a", before, after });
      const side = (sign: string) => lines.filter((line) => line.sign === " " || line.sign === sign);
      if (before === after) {
        expect(lines).toEqual([]);
      } else {
        expect(before).toContain(
          side("-")
            .map(({ text: line }) => `${line}\n`)
            .join(""),
        );
        expect(after).toContain(
          side("+")
            .map(({ text: line }) => `${line}\n`)
            .join(""),
        );
      }
    }),
  );
});

test("two large texts that share nothing are compared in a moment", () => {
  const sideOf = (mark: string): string =>
    Array.from({ length: 30_000 }, (_, index) => `${mark}${index % 7}`).join("\n");
  const startMs = performance.now();
  const { added, removed } = linesOf({ path: "a", before: sideOf("a"), after: sideOf("b") });
  expect([added, removed]).toEqual([30_000, 30_000]);
  expect(performance.now() - startMs).toBeLessThan(2_000);
});

test("coding agents send diffs, and the built-in tools have their texts in the arguments", () => {
  const diffs = [{ path: "a.txt", old_text: "old", new_text: "new" }, { path: "b.txt", new_text: "made" }, 7, null];
  const expected = [
    { path: "a.txt", before: "old", after: "new" },
    { path: "b.txt", before: undefined, after: "made" },
  ];
  expect(changesOf({ title: "Edit" }, { diffs })).toEqual(expected);
  expect(changesOf({ diffs }, { diffs: [] })).toEqual(expected);
  expect(changesOf({ file_path: "c", old_string: "x", new_string: "" })).toEqual([
    { path: "c", before: "x", after: "" },
  ]);
  expect(changesOf({ path: "c", content: "x" })).toEqual([{ path: "c", before: undefined, after: "x" }]);
  expect(changesOf({ path: "c" })).toEqual([]);
});
