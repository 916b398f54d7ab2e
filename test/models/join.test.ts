// Joining pieces of text that arrived together.

import { expect, test } from "vitest";
import type { ModelPart } from "../../src/agent/models/model.ts";
import { joinTexts } from "../../src/agent/models/wire/join.ts";

const text = (said: string): ModelPart => ({ type: "text", text: said });
const thought: ModelPart = { type: "reasoning", text: "hm" };

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
