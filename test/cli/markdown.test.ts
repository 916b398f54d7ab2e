// How the Markdown of a model is printed on a terminal.

import { stripVTControlCharacters, styleText } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MarkdownStyle } from "../../src/cli/chat/markdown.ts";
import type { Paint } from "../../src/cli/output.ts";

const tags: Paint = (style, text) => `<${style}>${text}</${style}>`;

/** Neighbours of one style are printed as one. */
function print(pieces: readonly string[], paint: Paint = tags): string {
  const style = new MarkdownStyle(paint);
  const printed = `${pieces.map((piece) => style.write(piece)).join("")}${style.end()}`;
  return printed.replace(/<\/(\w+)><\1>/g, "");
}

test.each([
  ["# Title\ntext", "<bold>Title</bold>\ntext"],
  ["a **bold** and *it* and `co_de`.", "a <bold>bold</bold> and <italic>it</italic> and <cyan>co_de</cyan>."],
  ["***both***", "<italic><bold>both</bold></italic>"],
  ["- one\n  * two\n1. three", "• one\n  • two\n1. three"],
  ["> said\nno", "<dim>│ said</dim>\nno"],
  ["```js\na_b_c **d**\n```\nend", "<dim>```js</dim>\n<cyan>a_b_c **d**</cyan>\n<dim>```</dim>\nend"],
])("%j is styled", (text, printed) => {
  expect(print([text])).toBe(printed);
});

test.each([
  "a_b_c",
  "2*3*4",
  "2 * 3 * 4",
  "2**3",
  "an **open end",
  "`open",
  "#tag",
  "-1",
  "a `b",
  "snake_case_",
  "|a|b|",
])("%j is printed as it is written", (text) => {
  expect(print([text])).toBe(text);
});

const markdown = fc
  .array(fc.constantFrom("*", "**", "_", "`", "```", "#", "# ", "- ", "> ", "\n", "\n\n", " ", "a", "word", "1. ", "é"))
  .map((parts) => parts.join(""));

test("the pieces in which a text arrives do not change what is printed", () => {
  fc.assert(
    fc.property(markdown, (text) => {
      expect(print([...text])).toBe(print([text]));
    }),
  );
});

test("no text is lost, but for the marks", () => {
  const bare = (text: string): string => text.replace(/[*_`#>•│ -]/g, "");
  const paint: Paint = (style, text) => styleText(style, text, { validateStream: false });
  fc.assert(
    fc.property(markdown, (text) => {
      expect(bare(stripVTControlCharacters(print([text], paint)))).toBe(bare(text));
    }),
  );
});

test("text does not wait for the end of a span that is too long", () => {
  const style = new MarkdownStyle(tags);
  expect(style.write(`**${"a".repeat(500)}`)).toBe(`**${"a".repeat(500)}`);
});
