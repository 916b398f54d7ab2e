// `test.override` outside of a `describe` replaces a fixture in the `test` that it is called on. The files of one process share that
// `test`, so every later file would get the replaced fixture. `test.extend` makes a `test` of its own.

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { lineAt } from "./source-file.ts";

const overrideOfAll = /^(?=\S).*\.(?:override|scoped)\(/gm;

function findOverrides(text: string): number[] {
  return [...text.matchAll(overrideOfAll)].map(({ index }) => lineAt(text, index));
}

test("no file replaces the fixtures of other files", () => {
  const paths = globSync("test/**/*.ts", { cwd: repositoryRoot });
  const found = paths.flatMap((path) =>
    findOverrides(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).map((line) => `${path}:${line}`),
  );
  expect(paths.length).toBeGreaterThan(400);
  expect(found).toEqual([]);
  const planted =
    'const test = base.override("service", open);\ndescribe("x", () => {\n  test.override("kind", kind);\n});\n';
  expect(findOverrides(planted)).toEqual([1]);
});
