// One version number covers all parts, and the changelog has its part.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { datePart, readVersion, versionedFiles } from "../../scripts/release.ts";
import { repositoryRoot } from "../../scripts/run-command.ts";

const version = await readVersion();
const read = (file: string) => readFileSync(join(repositoryRoot, file), "utf8");

test.each([...versionedFiles, "package-lock.json", "CHANGELOG.md"])("%s names the version of package.json", (file) => {
  expect(read(file)).toContain(version);
});

test("a release dates what was not released, and needs something to release", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- a\n";
  const released = "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-01-02\n\n### Added\n\n- a\n";
  expect(datePart(changelog, "1.2.3", "2026-01-02")).toBe(released);
  expect(() => datePart(released, "1.2.4", "2026-01-03")).toThrow("nothing below");
});
