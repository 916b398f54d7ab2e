// The language of comments, pages and the contract: words that hide who does what, or make a riddle of a plain fact.
// docs/decisions are dated records and stay as they were written.

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";

const avoided =
  /\b(?:told|whoever|nobody|somebody|anybody|whatever|wherever|stands? for|comes? to|gone on with|goes on with|(?:is|are) none|for ever|what is|house|walls|furniture)\b/i;

/** An account of the system, not a word. */
const accountName = "nobody";

test.each([
  ["comments in src", ["src/**/*.ts"], commentsOf],
  ["texts in src", ["src/**/*.ts"], textsOf],
  ["comments in the console", ["console/src/**/*.{ts,tsx}"], commentsOf],
  ["comments in scripts", ["scripts/*.ts"], commentsOf],
  ["comments in tests", ["test/**/!(*.d).ts"], commentsOf],
  ["the contract", ["proto/**/*.proto"], commentsOf],
  [
    "the pages",
    ["*.md", "docs/*.md", "docs/{call,operations,reference}/*.md", "clients/*/README.md", "examples/{*,*/*,*/*/*}.md"],
    proseOf,
  ],
] as const)("%s has no avoided word", (_, patterns, linesOf) => {
  const paths = globSync([...patterns], { cwd: repositoryRoot });
  expect(paths.length).toBeGreaterThan(5);
  const found = paths.flatMap((path) =>
    linesOf(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).flatMap(([number, line]) =>
      avoided.test(line) && line !== accountName
        ? [`${path}:${number}: ${avoided.exec(line)?.[0]}: ${line.trim()}`]
        : [],
    ),
  );
  expect(found).toEqual([]);
});

type NumberedLine = readonly [number: number, text: string];

function numbered(text: string): NumberedLine[] {
  return text.split("\n").map((line, index) => [index + 1, line]);
}

/** Lines that are comments, and comments at the end of a line. */
function commentsOf(text: string): NumberedLine[] {
  return numbered(text).flatMap(([number, line]): NumberedLine[] => {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*)(.*)$/.exec(line)?.[1] ?? /\s\/\/ (.*)$/.exec(line)?.[1];
    return comment === undefined ? [] : [[number, comment]];
  });
}

/** Lines of a page outside code blocks. */
function proseOf(text: string): NumberedLine[] {
  const withoutBlocks = text.replaceAll(/```[\s\S]*?```/g, (block) => block.replaceAll(/[^\n]/g, ""));
  return numbered(withoutBlocks).map(([number, line]) => [number, line.replaceAll(/`[^`]*`|"[^"]*"/g, "")]);
}

/** Returns the strings and templates of each line. */
function textsOf(text: string): NumberedLine[] {
  return numbered(text).flatMap(([number, line]): NumberedLine[] => {
    const texts = /^\s*(?:\/\/|\/\*|\*)/.test(line) ? [] : [...line.matchAll(/"((?:[^"\\]|\\.)*)"|`([^`]*)`/g)];
    return texts.map(([, quoted, template]) => [number, quoted ?? template ?? ""]);
  });
}
