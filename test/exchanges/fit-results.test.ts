// Results of one outbox never exceed their maximum size together, and stay unchanged when they fit.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommandResult } from "../../src/protocols/exchange/command.ts";
import { countBytes, fitResults, resultsBytesMax } from "../../src/protocols/exchange/fit-results.ts";

const frameBytes = 64;
const leftOut = "(output left out: the results are too long for one message)";

function run(summary: string, output: string): CommandResult {
  return { type: "RUN_COMMAND", success: true, summary, output };
}

test("results of exactly the maximum size stay unchanged, and one more byte shortens them", () => {
  const fill = "x".repeat(resultsBytesMax - 2 * frameBytes - 3);
  const results = [run("a", fill), run("b", "y")];
  expect(countBytes(results)).toBe(resultsBytesMax);
  expect(fitResults(results)).toEqual(results);
  expect(fitResults([run("a", `${fill}x`), run("b", "y")])).toEqual([run("a", leftOut), run("b", "y")]);
});

test("when outputs are too large together, a line replaces each of the later ones", () => {
  const output = "\u20ac".repeat(4_000);
  const results = Array.from({ length: 1_000 }, (_, index) => run(`Ran '${index}' (exit code 0)`, output));
  const fitted = fitResults(results);
  const whole = fitted.filter((result) => result.output === output).length;
  expect(whole).toBeGreaterThan(70);
  expect(fitted.slice(0, whole)).toEqual(results.slice(0, whole));
  expect(fitted.slice(whole)).toEqual(results.slice(whole).map((result) => ({ ...result, output: leftOut })));
  expect(countBytes(fitted)).toBeLessThanOrEqual(resultsBytesMax);
});

test("a summary that is too long is cut between two characters", () => {
  const [fitted] = fitResults([run(`${"a".repeat(99)}\u{1f600}${"b".repeat(resultsBytesMax)}`, "")]);
  expect(fitted).toEqual(run(`${"a".repeat(99)}\ufffd…`, ""));
});

test("any results fit, keep their order and the beginning of each summary, and fitting them again changes nothing", () => {
  const lengths = fc.constantFrom(0, 1, 50, 100, 101, 4_000, 300_000, 1_100_000);
  const characters = fc.constantFrom("x", "\u20ac", "\u{1f600}", "\n");
  const result = fc.record({
    type: fc.constantFrom("RUN_COMMAND" as const, "MESSAGE" as const, "PARSE_ERROR" as const),
    success: fc.boolean(),
    summary: fc.tuple(characters, lengths).map(([character, length]) => character.repeat(length)),
    output: fc.tuple(characters, lengths).map(([character, length]) => character.repeat(length)),
  });
  fc.assert(
    fc.property(fc.array(result, { maxLength: 12 }), (results) => {
      const fitted = fitResults(results);
      expect(countBytes(fitted)).toBeLessThanOrEqual(resultsBytesMax);
      expect(fitted.map(({ type, success }) => ({ type, success }))).toEqual(
        results.map(({ type, success }) => ({ type, success })),
      );
      const begin = ({ summary }: CommandResult): string => summary.slice(0, 100).toWellFormed();
      expect(fitted.map(begin)).toEqual(results.map(begin));
      expect(fitResults(fitted)).toEqual(fitted);
      if (countBytes(results) <= resultsBytesMax) {
        expect(fitted).toEqual(results);
      }
    }),
    { numRuns: 60 },
  );
});
