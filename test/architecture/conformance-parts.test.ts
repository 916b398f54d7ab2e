// Every test that needs programs of others belongs to one part of `npm run conformance`: a file without a part would never run.

import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { filesOf, partNames, parts } from "../../scripts/conformance-parts.ts";

test("each file of test/external and test/console/browser is in one part", () => {
  const files = globSync(["test/external/**/*.test.ts", "test/console/browser/**/*.test.ts"], {
    exclude: ["**/node_modules/**"],
  });
  expect(files.length).toBeGreaterThan(30);
  expect(partNames.flatMap(filesOf).toSorted()).toEqual(files.toSorted());
});

test("each pattern of a part finds a file", () => {
  const patterns: readonly string[] = Object.values(parts).flatMap(({ files }) => [...files]);
  expect(patterns.filter((pattern) => globSync(pattern).length === 0)).toEqual([]);
});
