// Compares an answer with what its recording says, and names each difference.

import type { Answer, AnswerCall } from "./answer.ts";
import { toCanonical } from "./exact-json.ts";

/** A difference, with at most `sideCharsMax` characters of each side. */
export interface Difference {
  readonly kind: string;
  readonly expected: string;
  readonly got: string;
}

/** The maximum that is shown of each side. */
const sideCharsMax = 200;

/** What stands before the first difference, so that a reader finds the place. */
const leadCharsMax = 30;

/** Returns every difference; none means that the answer is exact. */
export function compare(expected: Answer, got: Answer): readonly Difference[] {
  const isFailed = expected.finish === "failure";
  const pairs: readonly (readonly [string, string, string])[] = [
    ["finish", expected.finish, got.finish],
    ["failure", ...failuresOf(expected, got)],
    ["text", expected.text, got.text],
    ["reasoning", ...reasoningOf(expected, got)],
    ["calls", printCalls(expected.calls), printCalls(got.calls)],
    // A failed response has no end that could say the rest.
    ...(isFailed ? [] : endPairs(expected, got)),
  ];
  return pairs.flatMap(([kind, one, other]) => (one === other ? [] : [{ kind, ...clip(one, other) }]));
}

function endPairs(expected: Answer, got: Answer): readonly (readonly [string, string, string])[] {
  return [
    ["provider calls", printNames(expected.providerCalls), printNames(withoutLeft(got.providerCalls, expected))],
    ["input tokens", String(expected.inputTokens), String(got.inputTokens)],
    ["output tokens", String(expected.outputTokens), String(got.outputTokens)],
  ];
}

/** The product words a failure its own way, and says the provider's words in it. */
function failuresOf({ failure: expected = "" }: Answer, { failure: got = "" }: Answer): readonly [string, string] {
  const isSaid = (expected === "") === (got === "") && got.includes(expected.slice(0, sideCharsMax));
  return isSaid ? ["", ""] : [expected, got];
}

/** Blocks may be joined by line ends, which no recording has. */
function reasoningOf({ reasoning: expected }: Answer, { reasoning }: Answer): readonly [string, string] {
  const blocks = expected.filter((block) => block !== "");
  const got = reasoning.join("");
  return [["", "\n", "\n\n"].map((end) => blocks.join(end)).find((text) => text === got) ?? blocks.join(""), got];
}

function printCalls(calls: readonly AnswerCall[]): string {
  return calls
    .map(({ id, name, arguments: json }) => `${id} ${name}(${json === undefined ? "cut" : toCanonical(json)})`)
    .join(" ");
}

/** Removes the calls that the provider has left to its caller, each of them once. */
function withoutLeft(names: readonly string[], { leftCalls = [] }: Answer): readonly string[] {
  const left = [...leftCalls];
  return names.filter((name) => !left.includes(name) || left.splice(left.indexOf(name), 1).length === 0);
}

/** Results may arrive in another order than their calls. */
function printNames(names: readonly string[]): string {
  return names.toSorted().join(", ");
}

function clip(one: string, other: string): Pick<Difference, "expected" | "got"> {
  let same = 0;
  while (same < one.length && one[same] === other[same]) {
    same += 1;
  }
  const start = Math.max(0, same - leadCharsMax);
  return { expected: clipSide(one, start), got: clipSide(other, start) };
}

function clipSide(text: string, start: number): string {
  const shown = text.slice(start);
  const end = shown.length > sideCharsMax ? "…" : "";
  return JSON.stringify((start > 0 ? "…" : "") + shown.slice(0, sideCharsMax) + end);
}
