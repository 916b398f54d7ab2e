// Merging of waiting text: readers see the same text, in fewer rows.

import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeCharsMax, mergeResults, textLength } from "../../src/engine/log/merge.ts";
import type { ResultInit } from "../../src/engine/log/result.ts";

const content = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.nat({ max: mergeCharsMax + 1 }).map((length) => "x".repeat(length)),
);

const delta = fc
  .record({ content, role: fc.constantFrom("assistant", "user"), msgSequence: fc.integer({ min: 1, max: 2 }) })
  .map((chunk): ResultInit => ({ payload: { case: "messageDelta", value: { chunk } } }));
const reasoning = content.map(
  (each): ResultInit => ({ payload: { case: "reasoningDelta", value: { content: each } } }),
);
const turnStarted = fc.nat().map((turn): ResultInit => ({ payload: { case: "turnStarted", value: { turn } } }));
const anyResult = fc.oneof({ weight: 6, arbitrary: delta }, { weight: 3, arbitrary: reasoning }, turnStarted);

test("merging keeps the text of every block in order, and no piece exceeds the limit", () => {
  fc.assert(
    fc.property(fc.array(anyResult, { maxLength: 30 }), (results) => {
      const merged = mergeAll(results);
      expect(blocks(merged)).toEqual(blocks(results));
      const longest = Math.max(0, ...results.map((result) => textOf(result).length));
      for (const result of merged) {
        expect(textOf(result).length).toBeLessThanOrEqual(Math.max(mergeCharsMax, longest));
      }
    }),
  );
});

test("two results of different kinds are not merged", () => {
  fc.assert(
    fc.property(anyResult, anyResult, (first, second) => {
      fc.pre(kindOf(first) !== kindOf(second));
      expect(mergeResults(first, second)).toBeUndefined();
    }),
  );
});

test("pieces merge up to the limit and not one character further", () => {
  const half = chunk({ content: "x".repeat(mergeCharsMax / 2) });
  expect(mergeResults(half, half)).toBeDefined();
  expect(mergeResults(half, chunk({ content: "x".repeat(mergeCharsMax / 2 + 1) }))).toBeUndefined();
});

test.each([
  ["a final chunk", { isFinal: true }],
  ["the whole text so far", { allContent: "all" }],
  ["a provider's own fields", { providerSpecificFields: "{}" }],
  ["more than its fields say", { source: "{}" }],
  ["tool calls", { toolCalls: [{ id: "c", name: "list_dir", arguments: "{}" }] }],
])("a chunk with %s is not merged, before or after", (_, fields) => {
  expect(mergeResults(chunk({}), chunk(fields))).toBeUndefined();
  expect(mergeResults(chunk(fields), chunk({}))).toBeUndefined();
});

test("log probabilities merge with their texts, in order, up to a limit", () => {
  const likely = (...tokens: readonly string[]) => ({ logprobs: tokens.map((token) => ({ token, logprob: -1 })) });
  const merge = (first: object, second: object) => mergeResults(chunk(first), chunk(second));
  expect(merge(likely("a"), likely("b"))).toEqual(chunk({ content: "texttext", ...likely("a", "b") }));
  expect(merge(likely("a"), {})).toEqual(chunk({ content: "texttext", ...likely("a") }));
  expect(merge({}, likely("b"))).toEqual(chunk({ content: "texttext", ...likely("b") }));
  const many = likely(...Array.from({ length: 255 }, String));
  expect(merge(many, likely("b"))).toBeDefined();
  expect(merge(many, likely("b", "c"))).toBeUndefined();
});

test("tokens with log probabilities weigh more than their texts, merged or not", () => {
  const likely = chunk({ content: "", logprobs: [{ token: "a", logprob: -1 }] });
  const merged = mergeResults(likely, chunk({})) ?? expect.fail("not merged");
  expect(textLength(likely)).toBe(512);
  expect(textLength(merged)).toBe(textLength(likely) + textLength(chunk({})));
});

test("a result with usage is not merged", () => {
  const counted: ResultInit = { ...chunk({}), usage: { totalTokens: 1n } };
  expect(mergeResults(counted, chunk({}))).toBeUndefined();
  expect(mergeResults(chunk({}), counted)).toBeUndefined();
});

test("a result that a runner numbered is not merged", () => {
  const reported: ResultInit = { ...chunk({}), runnerSequence: 1n };
  expect(mergeResults(reported, chunk({}))).toBeUndefined();
  expect(mergeResults(chunk({}), reported)).toBeUndefined();
});

function chunk(fields: object): ResultInit {
  const value = { chunk: { role: "assistant", content: "text", msgSequence: 1, ...fields } };
  return { payload: { case: "messageDelta", value } };
}

function mergeAll(results: readonly ResultInit[]): ResultInit[] {
  const merged: ResultInit[] = [];
  for (const result of results) {
    const newest = merged.pop();
    if (newest === undefined) {
      merged.push(result);
    } else {
      merged.push(...joined(newest, result));
    }
  }
  return merged;
}

function joined(first: ResultInit, second: ResultInit): ResultInit[] {
  const both = mergeResults(first, second);
  return both === undefined ? [first, second] : [both];
}

/** What a reader can distinguish: the kind of each block and its whole text; every turn is its own block. */
function blocks(results: readonly ResultInit[]): [string, string][] {
  const found: [string, string][] = [];
  for (const result of results) {
    const newest = found.at(-1);
    const kind = kindOf(result);
    if (newest?.[0] === kind && !kind.startsWith("turn")) {
      newest[1] += textOf(result);
    } else {
      found.push([kind, textOf(result)]);
    }
  }
  return found;
}

function kindOf({ payload }: ResultInit): string {
  if (payload?.case === "messageDelta") {
    return `text ${payload.value.chunk?.role} ${payload.value.chunk?.msgSequence}`;
  }
  return payload?.case === "turnStarted" ? `turn ${payload.value.turn}` : (payload?.case ?? "");
}

function textOf({ payload }: ResultInit): string {
  if (payload?.case === "messageDelta") {
    return payload.value.chunk?.content ?? "";
  }
  return payload?.case === "reasoningDelta" ? (payload.value.content ?? "") : "";
}
