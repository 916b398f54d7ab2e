// The meter itself: it tells linear growth from quadratic growth, for every kind of work.

import { expect, test } from "vitest";
import { findProblems } from "./growth.ts";
import { measureCases } from "./measured.ts";

const measured = await measureCases("./known.ts");

test.each(measured.filter(({ reader }) => reader === "linear"))("linear: $input", ({ doublings }) => {
  expect(findProblems(doublings, undefined)).toEqual([]);
});

test.each(measured.filter(({ reader }) => reader === "quadratic"))("quadratic: $input", ({ doublings }) => {
  expect(findProblems(doublings, undefined)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(?:steps|reads|bytes) grow (?:3|4)\.\d+ times from 8000 to 16000$/),
    ]),
  );
});

test("a limit of the product allows quadratic work, but little of it", () => {
  const work = (steps: number) => ({ steps, reads: 0, bytes: 0 });
  const doublings = [{ size: 1, from: work(1_000), to: work(4_000_000) }];
  expect(findProblems(doublings, "a limit")).toEqual([]);
  expect(findProblems([{ size: 1, from: work(1_000), to: work(4_000_001) }], "a limit")).toEqual([
    "4000001 steps at the limit: a limit",
  ]);
});

test("two measurements of the same code are the same", async () => {
  const again = await measureCases("./known.ts");
  const stepsOf = (all: typeof measured) => all.map(({ doublings }) => doublings.map(({ to }) => [to.steps, to.reads]));
  expect(stepsOf(again)).toEqual(stepsOf(measured));
});
