// The colours of code in the console: they never change the text.

import fc from "fast-check";
import { languages } from "sugar-high/lang";
import { expect, test } from "vitest";
import { languageOfPath } from "../../console/src/ui/code-language.ts";
import { type CodePiece, colourCode } from "../../console/src/ui/colour.ts";

const joined = (pieces: readonly CodePiece[] | undefined): string | undefined =>
  pieces?.map(({ text }) => text).join("");
const words = (pieces: readonly CodePiece[] | undefined, type: CodePiece["type"]): string[] =>
  (pieces ?? []).filter((piece) => piece.type === type).map(({ text }) => text);

test("words of a language have their type, and a language has many names", () => {
  for (const name of ["ts", "TypeScript", languageOfPath("a.b/src/main.ts")]) {
    expect(words(colourCode("const a = 1; // why", name), "keyword")).toEqual(["const"]);
    expect(words(colourCode("const a = 1; // why", name), "comment")).toEqual(["// why"]);
  }
  expect(words(colourCode('{"a": ["b", 1]}', "json"), "property")).toEqual(['"a"']);
  expect(words(colourCode("RUN true # why", languageOfPath("deploy/Dockerfile")), "comment")).toEqual(["# why"]);
});

test("a text in an unknown language has no colours", () => {
  for (const name of ["", "klingon", "constructor", languageOfPath("README"), languageOfPath(".gitignore")]) {
    expect(colourCode("const a = 1;", name)).toBeUndefined();
  }
});

test("the pieces together are the text, whatever the text is", () => {
  const part = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(
      "<a>",
      "</a>",
      "{",
      "}",
      "`${",
      '"""',
      "'",
      "/*",
      "*/",
      "--",
      "[",
      "\\",
      "\r",
      "\n",
      "\u2028",
      "\0",
    ),
  );
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.constantFrom(...languages), (code, { id }) => {
      expect(joined(colourCode(code, id))).toBe(code);
    }),
    { numRuns: 2_000 },
  );
});

test("the end of a long text is plain", () => {
  const line = "const a = 1;\n";
  const pieces = colourCode(line.repeat(10_000), "ts");
  expect(joined(pieces)).toBe(line.repeat(10_000));
  expect(words(pieces, "keyword").length).toBe(Math.floor(8_000 / line.length));
  // A line without an end is not cut within a word.
  expect(colourCode("const ".repeat(10_000), "ts")?.length).toBe(1);
});
