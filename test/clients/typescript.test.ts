// `@runnel/client` passes the conformance kit. The subject runs in this process; test/external runs it with the packed package.

import { expect, test, vi } from "vitest";
import { cases, runCases } from "./kit.ts";
import { answer } from "./subjects/answer.ts";

vi.setConfig({ testTimeout: 120_000 });

test("the TypeScript client passes all cases", async () => {
  const verdicts = await runCases(cases, (request, print, signal) => answer(request, print, signal), { atATime: 16 });
  expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
});
