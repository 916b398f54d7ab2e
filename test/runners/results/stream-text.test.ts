// Chunks as public runners send them, and the increments that the log gets.
//
// S1  Joined increments are the runner's text, in any way of sending it. The exception is a revision: it replaces the text.
// S2  No chunk waits for a later one. A chunk that disproves an earlier guess corrects it.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChunkContent,
  noMessage,
  readStreamed,
} from "../../../src/protocols/langbot/runners/results/stream-text.ts";

interface Chunk {
  readonly content: string;
  readonly allContent?: string;
  readonly isFinal?: boolean;
}

const chunk = (content: string): Chunk => ({ content });
const final = (content: string): Chunk => ({ content, isFinal: true });
const beside = (content: string, allContent: string): Chunk => ({ content, allContent });

/** Marks a text that replaces everything before it. */
const replacing = "\u{f0000}";

/** The log's increment of each chunk. */
function increments(chunks: readonly Chunk[], setting: ChunkContent = "auto"): string[] {
  let message = noMessage;
  return chunks.map(({ content, allContent, isFinal = false }) => {
    const step = readStreamed(message, { content, ...(allContent !== undefined && { allContent }), isFinal }, setting);
    message = step.message;
    return `${step.replacesText ? replacing : ""}${step.added}`;
  });
}

/** The text that a reader of the log assembles. */
function readText(chunks: readonly Chunk[], setting?: ChunkContent): string {
  const parts = increments(chunks, setting);
  const from = parts.findLastIndex((part) => part.startsWith(replacing));
  return parts.slice(Math.max(from, 0)).join("").replace(replacing, "");
}

describe("S1: the log has increments", () => {
  test.each<[string, readonly Chunk[], readonly string[]]>([
    ["of snapshots", [chunk("Hel"), chunk("Hello, "), chunk("Hello, you")], ["Hel", "lo, ", "you"]],
    ["of increments", [chunk("Hel"), chunk("lo, "), chunk("you")], ["Hel", "lo, ", "you"]],
    ["of a snapshot that comes again at the end", [chunk("Hello"), final("Hello")], ["Hello", ""]],
    ["of increments and the whole text at the end", [chunk("Hel"), chunk("lo"), final("Hello")], ["Hel", "lo", ""]],
    ["of increments whose end has more", [chunk("Hel"), chunk("lo"), final("Hello!")], ["Hel", "lo", "!"]],
    ["of a whole text without its outer blanks", [chunk("Hel"), chunk("lo \n"), final("Hello")], ["Hel", "lo \n", ""]],
    ["of one chunk", [final("Hello")], ["Hello"]],
    ["of a last increment", [chunk("Hel"), chunk("lo"), final("!")], ["Hel", "lo", "!"]],
    [
      "of increments beside the text so far",
      [beside("a", "a"), beside("b", "ab"), beside("b", "abb")],
      ["a", "b", "b"],
    ],
    [
      "of the text so far in both members",
      [beside("Hel", "Hel"), beside("Hello", "Hello"), { ...beside("Hello", "Hello"), isFinal: true }],
      ["Hel", "lo", ""],
    ],
    ["of chunks without text between", [chunk("Hel"), chunk(""), chunk("Hello"), final("")], ["Hel", "", "lo", ""]],
    [
      "of a snapshot without news",
      [chunk("Hel"), chunk("Hello"), chunk("Hello"), chunk("Hello.")],
      ["Hel", "lo", "", "."],
    ],
  ])("%s", (_, chunks, expected) => {
    expect(increments(chunks)).toEqual(expected);
  });

  test("a snapshot that continues after a final chunk extends that text, as after a tool call", () => {
    const turns = [chunk("Let me"), final("Let me look. "), chunk("Let me look. It"), final("Let me look. It rains.")];
    expect(increments(turns)).toEqual(["Let me", " look. ", "It", " rains."]);
  });

  test("another text after a final chunk is a new message", () => {
    expect(increments([chunk("Hel"), final("Hello"), chunk("Next"), final("Next one")])).toEqual([
      "Hel",
      "lo",
      "Next",
      " one",
    ]);
    expect(increments([chunk("a"), chunk("b"), final("c"), chunk("abc"), chunk("d")])).toEqual([
      "a",
      "b",
      "c",
      "abc",
      "d",
    ]);
  });

  test("a snapshot that changes the text replaces it", () => {
    const text = ["Reading [1]", "Reading [1] and", "Reading (source) and more"].map(chunk);
    expect(increments(text)).toEqual(["Reading [1]", " and", `${replacing}Reading (source) and more`]);
  });
});

describe("S2: chunks that only look like snapshots are corrected", () => {
  test.each<[string, readonly string[]]>([
    ["a repeated word", ["ha", "ha", " he"]],
    ["a growing line", ["=", "==", "====", "=", " title"]],
    ["a repeated verse", ["Row, row, row\n", "Row, row, row\n", "your boat"]],
    ["digits", ["1", "10", "2"]],
    ["one letter", ["x", "x", "x", "x"]],
    ["a word twice", ["hello", "hello"]],
  ])("%s", (_, parts) => {
    expect(readText(parts.map(chunk))).toBe(parts.join(""));
  });

  test("chunks that always look like snapshots are read as such, unless a setting says otherwise", () => {
    const digits = [chunk("1"), chunk("10")];
    expect(readText(digits)).toBe("10");
    expect(readText(digits, "increment")).toBe("110");
    expect(readText([chunk("ab"), chunk("abab"), final("abab")], "increment")).toBe("ababababab");
  });

  test("an unchanged snapshot at the beginning is corrected too", () => {
    const words = [chunk("Hello"), chunk("Hello")];
    expect(increments([...words, chunk("Hello you")])).toEqual(["Hello", "Hello", `${replacing}Hello you`]);
    expect(increments([...words, final("Hello")])).toEqual(["Hello", "Hello", `${replacing}Hello`]);
  });

  test("the setting for snapshots reads each chunk as the whole text", () => {
    expect(increments([chunk("Thinking"), chunk("Answer"), chunk("Answer: 4")], "snapshot")).toEqual([
      "Thinking",
      `${replacing}Answer`,
      ": 4",
    ]);
  });
});

test("large repeated chunks are increments, in any number", () => {
  const piece = chunk("x".repeat(65_536));
  const parts = increments(Array.from({ length: 100 }, () => piece));
  expect(new Set(parts)).toEqual(new Set([piece.content]));
});

/** Texts of one character or more. */
const anyParts = fc.array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 30 });

test("S1: snapshots of any text give that text", () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      const snapshots = parts.map((_, index) => chunk(parts.slice(0, index + 1).join("")));
      expect(readText([...snapshots, final(parts.join(""))])).toBe(parts.join(""));
    }),
    { numRuns: 500 },
  );
});

test("S1: increments of any text give that text, and the whole text at the end adds nothing", () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      // A repetition of the very first part would look like a snapshot.
      const told = ["Said: ", "so ", ...parts].map(chunk);
      expect(readText(told)).toBe(`Said: so ${parts.join("")}`);
      expect(readText([...told, final(`Said: so ${parts.join("")}`)])).toBe(`Said: so ${parts.join("")}`);
    }),
    { numRuns: 500 },
  );
});

test("S1: increments with the text so far beside them give that text, even when they repeat", () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      const chunks = parts.map((part, index) => beside(part, parts.slice(0, index + 1).join("")));
      expect(readText(chunks)).toBe(parts.join(""));
    }),
    { numRuns: 500 },
  );
});
