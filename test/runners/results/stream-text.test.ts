// Chunks as public runners send them, and the increments that the log gets.
//
// S1  Joined increments are the runner's text, whichever way it sends it. A revision is the one exception: it replaces the text.
// S2  No chunk waits for a later one. A guess that a later chunk disproves is corrected by that chunk.

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

/** In front of a text that replaces all before it. */
const replacing = "\u{f0000}";

/** What the log gets of each chunk. */
function increments(chunks: readonly Chunk[], setting: ChunkContent = "auto"): string[] {
  let message = noMessage;
  return chunks.map(({ content, allContent, isFinal = false }) => {
    const step = readStreamed(message, { content, ...(allContent !== undefined && { allContent }), isFinal }, setting);
    message = step.message;
    return `${step.replacesText ? replacing : ""}${step.added}`;
  });
}

/** The text that a reader of the log has. */
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

  test("a snapshot that goes on after a final chunk continues that text, as after a call of a tool", () => {
    const turns = [chunk("Let me"), final("Let me look. "), chunk("Let me look. It"), final("Let me look. It rains.")];
    expect(increments(turns)).toEqual(["Let me", " look. ", "It", " rains."]);
  });

  test("another text after a final chunk is another message", () => {
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

  test("a snapshot that changes what was said replaces it", () => {
    const text = ["Reading [1]", "Reading [1] and", "Reading (source) and more"].map(chunk);
    expect(increments(text)).toEqual(["Reading [1]", " and", `${replacing}Reading (source) and more`]);
  });
});

describe("S2: what looks like snapshots and is not is corrected", () => {
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

  test("only what never differs from snapshots is read as such, and a setting says otherwise", () => {
    const digits = [chunk("1"), chunk("10")];
    expect(readText(digits)).toBe("10");
    expect(readText(digits, "increment")).toBe("110");
    expect(readText([chunk("ab"), chunk("abab"), final("abab")], "increment")).toBe("ababababab");
  });

  test("a snapshot without news at the beginning is corrected too", () => {
    const words = [chunk("Hello"), chunk("Hello")];
    expect(increments([...words, chunk("Hello you")])).toEqual(["Hello", "Hello", `${replacing}Hello you`]);
    expect(increments([...words, final("Hello")])).toEqual(["Hello", "Hello", `${replacing}Hello`]);
  });

  test("a setting for snapshots takes each chunk for the whole text", () => {
    expect(increments([chunk("Thinking"), chunk("Answer"), chunk("Answer: 4")], "snapshot")).toEqual([
      "Thinking",
      `${replacing}Answer`,
      ": 4",
    ]);
  });
});

test("large chunks that repeat themselves are increments, however many there are", () => {
  const piece = chunk("x".repeat(65_536));
  const parts = increments(Array.from({ length: 100 }, () => piece));
  expect(new Set(parts)).toEqual(new Set([piece.content]));
});

/** Cuts a text into parts that are not empty. */
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

test("S1: increments of any text give that text, and the whole of it at the end adds nothing", () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      // The first part again cannot be told from a snapshot.
      const told = ["Said: ", "so ", ...parts].map(chunk);
      expect(readText(told)).toBe(`Said: so ${parts.join("")}`);
      expect(readText([...told, final(`Said: so ${parts.join("")}`)])).toBe(`Said: so ${parts.join("")}`);
    }),
    { numRuns: 500 },
  );
});

test("S1: increments beside the text so far give that text, whatever they repeat", () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      const chunks = parts.map((part, index) => beside(part, parts.slice(0, index + 1).join("")));
      expect(readText(chunks)).toBe(parts.join(""));
    }),
    { numRuns: 500 },
  );
});
