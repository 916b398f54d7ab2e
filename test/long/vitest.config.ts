// `npm run test:all`: the tests that take long, with new examples for their property tests each time.

import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { sharedOptions } from "../harness/vitest-options.ts";
import { longTests } from "./long-tests.ts";
import { signedFile } from "./signed-file.ts";

/** Tests that take minutes alone: if they began last, a core would be idle. */
const longest: readonly string[] = ["test/fault/crash-matrix/crash-matrix.test.ts"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.some((path) => moduleId.endsWith(path));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** `TEST_SEED` repeats a run. */
const seed = process.env.TEST_SEED ?? String(randomInt(2 ** 31));
process.stdout.write(`the seed of the property tests is ${seed}: TEST_SEED=${seed} npm run test:all repeats them\n`);

// Each request that the service signs meanwhile is tried as a credential afterwards: `test/long/alone`.
writeFileSync(signedFile, "");

export default defineConfig({
  test: {
    ...sharedOptions,
    include: [...longTests],
    sequence: { sequencer: LongestFirst },
    env: { TEST_SEED: seed, TEST_SIGNED_FILE: signedFile },
  },
});
