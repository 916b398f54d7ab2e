// Which commit runs: the file that the builder left beside package.json, and nothing that only looks like it.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { readBuildCommit } from "../../src/platform/telemetry/build-commit.ts";
import { openFolder } from "../fixtures.ts";

test("the file names the commit; without a file, or with other content in it, the commit is unknown", async () => {
  const folder = await openFolder();
  const file = join(folder, "COMMIT");
  const read = (): string => readBuildCommit(pathToFileURL(file));
  expect(read()).toBe("unknown");
  await writeFile(file, "0123456789abcdef0123456789abcdef01234567\n");
  expect(read()).toBe("0123456789abcdef0123456789abcdef01234567");
  await writeFile(file, 'main"} 1\nrunnel_fake 1');
  expect(read()).toBe("unknown");
});
