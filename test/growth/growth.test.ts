// Every input costs work in proportion to its size: no request can keep the process busy for minutes. `cases` has the readers and the inputs that could make them slow.

import { expect, test } from "vitest";
import { findProblems } from "./growth.ts";
import { measureCases } from "./measured.ts";

const measured = await measureCases("./cases.ts");
const byReader = Object.entries(Object.groupBy(measured, ({ reader }) => reader));

test("every case is measured once", () => {
  const names = measured.map(({ reader, input }) => `${reader}: ${input}`);
  expect(names.length).toBeGreaterThan(1_000);
  expect(new Set(names).size).toBe(names.length);
});

test.each(byReader)("%s takes work in proportion to its input", (_reader, cases = []) => {
  const problems = cases.flatMap(({ input, limit, doublings }) =>
    findProblems(doublings, limit).map((problem) => `${input}: ${problem}`),
  );
  expect(problems).toEqual([]);
});
