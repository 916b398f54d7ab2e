import fc from "fast-check";
import { expect, test } from "vitest";
import { editLines, type LineEdit } from "../../../src/protocols/exchange/execute/edit-lines.ts";
import { setStage } from "./stage.ts";

/** The reference: works on a list of lines. */
function editNaively(text: string, { startLine, endLine, content }: LineEdit): ReturnType<typeof editLines> {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") {
    lines.pop();
  }
  if (startLine < 1 || endLine < startLine || startLine > lines.length) {
    return { lines: lines.length };
  }
  lines.splice(startLine - 1, endLine - startLine + 1, ...content.split("\n"));
  return { text: lines.map((line) => `${line}\n`).join("") };
}

const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "\r", "\r\n", "\u2028", "\f"), maxLength: 30 });
const content = fc.string({ unit: fc.constantFrom("x", "y", "\n", "\r", "\t"), maxLength: 8 });
const line = fc.oneof(fc.integer({ min: -2, max: 14 }), fc.constantFrom(2_147_483_647, -2_147_483_648));

// E1, E2, E3
test("an edit of lines gives the same text as the edit of a list of lines", () => {
  fc.assert(
    fc.property(text, line, line, content, (before, startLine, endLine, replacement) => {
      const edit = { startLine, endLine, content: replacement };
      expect(editLines(before, edit)).toEqual(editNaively(before, edit));
    }),
    { numRuns: 3_000 },
  );
});

test("EDIT_FILE does the same to a file, and leaves it alone when the range is invalid", async () => {
  const { area, run, read } = setStage();
  await fc.assert(
    fc.asyncProperty(text, line, line, content, async (before, startLine, endLine, replacement) => {
      area.write("f", before);
      const result = await run({ type: "EDIT_FILE", path: "f", startLine, endLine, content: replacement });
      const expected = editNaively(before, { startLine, endLine, content: replacement });
      expect(result.success).toBe("text" in expected);
      expect(read("f")).toBe("text" in expected ? expected.text : before);
    }),
    { numRuns: 150 },
  );
});

test("a text of a million empty lines is edited at both ends", () => {
  const before = "\n".repeat(1_048_576);
  expect(editLines(before, { startLine: 1, endLine: 1, content: "a" })).toEqual({ text: `a${before}` });
  expect(editLines(before, { startLine: 1_048_576, endLine: 2_147_483_647, content: "z" })).toEqual({
    text: `${before.slice(1)}z\n`,
  });
  expect(editLines(before, { startLine: 1_048_577, endLine: 1_048_577, content: "z" })).toEqual({ lines: 1_048_576 });
});
