// Joining pieces of text that arrived together.

import { expect, test } from "vitest";
import type { ModelPart } from "../../src/agent/models/model.ts";
import { joinTexts, partCharsMax, splitTexts } from "../../src/agent/models/wire/join.ts";

const text = (said: string): ModelPart => ({ type: "text", text: said });
const thought: ModelPart = { type: "reasoning", text: "hm" };

test.each(["text", "reasoning"] as const)(
  "a long %s is split between its characters, and others stay as they are",
  (type) => {
    const said = `a${"\u{1f600}".repeat(partCharsMax)}\ud83d`;
    const others: ModelPart[] = [{ type: "call-piece", text: said }, text("b"), thought];
    const pieces = splitTexts([{ type, text: said }, ...others]);
    expect(pieces.slice(-3)).toEqual(others);
    const split = pieces.slice(0, -3).map((part) => (part.type === type ? part.text : ""));
    expect(split.join("")).toBe(said);
    expect(split.map((piece) => piece.isWellFormed())).toEqual([true, true, false]);
    for (const piece of split) {
      expect(piece.length).toBeLessThanOrEqual(partCharsMax);
    }
    expect(splitTexts(others)).toBe(others);
  },
);

test("adjacent texts become one, and nothing changes its place", () => {
  const parts = [
    text("a"),
    text("b"),
    thought,
    thought,
    text("c"),
    { type: "call-piece", text: "{" } as const,
    text("d"),
  ];
  expect(joinTexts(parts)).toEqual([
    text("ab"),
    thought,
    thought,
    text("c"),
    { type: "call-piece", text: "{" },
    text("d"),
  ]);
  expect(joinTexts([])).toEqual([]);
});

test("no joined piece is longer than the maximum of a result, and no text is lost", () => {
  const parts = [text("x".repeat(4_000)), text("y".repeat(97)), text("z".repeat(9_000)), text("w")];
  const joined = joinTexts(parts).map((part) => (part.type === "text" ? part.text : ""));
  expect(joined.map((each) => each.length)).toEqual([4_000, 97, 9_000, 1]);
  expect(joined.join("")).toBe(parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
});

test("a usage between two texts comes after both, and the last one counts", () => {
  const none = { completionTokens: undefined, cachedTokens: undefined, reasoningTokens: undefined };
  const usage = (totalTokens: number, promptTokens?: number) =>
    ({ type: "usage", usage: { ...none, totalTokens, promptTokens } }) as const;
  expect(joinTexts([usage(1, 1), text("a"), usage(2), text("b"), usage(3), thought])).toEqual([
    usage(1, 1),
    text("ab"),
    usage(3),
    thought,
  ]);
});
