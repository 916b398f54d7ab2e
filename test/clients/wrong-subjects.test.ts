// Each case of the kit can fail: subjects that are wrong on purpose do not pass.

import { describe, expect, test, vi } from "vitest";
import { cases, nameOf, runCases } from "./kit.ts";
import { wrongSubjects } from "./subjects/wrong.ts";

/** Some wrong subjects are noticed only by the limit of a case. */
vi.setConfig({ testTimeout: 120_000 });

/** Above the waits of all cases. */
const limitMs = 8_000;
const atATime = 16;

function findCases(beginnings: readonly string[]) {
  return cases.filter((each) => beginnings.some((beginning) => nameOf(each).startsWith(beginning)));
}

describe.each(wrongSubjects)("a subject that $name", ({ subject, fails }) => {
  test("fails", async () => {
    for (const beginning of fails) {
      expect(findCases([beginning]), beginning).not.toEqual([]);
    }
    const verdicts = await runCases(findCases(fails), subject, { atATime, limitMs });
    expect(verdicts.filter(({ problems }) => problems.length === 0).map(({ name }) => name)).toEqual([]);
  });
});

test("each case has a wrong subject that prints something", () => {
  const noticed = findCases(
    wrongSubjects.filter(({ name }) => name !== "prints nothing").flatMap(({ fails }) => fails),
  );
  expect(cases.filter((each) => !noticed.includes(each)).map(nameOf)).toEqual([]);
});
