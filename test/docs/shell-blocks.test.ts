// Every shell block of the pages is run by a test, or says why none can.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listPages, readPage } from "../../scripts/docs/pages.ts";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { namedBlocks, unnamedBlocks } from "./shell-blocks.ts";

const blocks = listPages().flatMap((page) =>
  [...readPage(page).matchAll(/^ *```(?:sh|bash)(?: (\S+))?$/gm)].map(([, name]) => ({ page, name })),
);

test("each named block is pasted by the test of its page", () => {
  const named = blocks.filter(({ name }) => name !== undefined);
  expect(named.length).toBeGreaterThan(25);
  const lost = named.filter(({ page, name }) => {
    const pastes = new RegExp(`["\` ]${name}["\`\\\\]`);
    return !namedBlocks[page]?.some((file) => pastes.test(readPage(file)));
  });
  expect(lost).toEqual([]);
});

test("each other block has a test that does the same, or a reason", () => {
  const counts: Record<string, number> = {};
  for (const { page } of blocks.filter(({ name }) => name === undefined)) {
    counts[page] = (counts[page] ?? 0) + 1;
  }
  expect(Object.fromEntries(Object.entries(unnamedBlocks).map(([page, { length }]) => [page, length]))).toEqual(counts);
  const judges = Object.values(unnamedBlocks).flat();
  expect(judges.filter((judge) => !judge.startsWith("needs ") && !existsSync(join(repositoryRoot, judge)))).toEqual([]);
});
