// `npm run test:all`: the tests that take long, with new examples for their property tests each time.

import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "../harness/longest-first.ts";
import { globalSetup, projectsOf } from "../harness/vitest-options.ts";
import { longTests } from "./long-tests.ts";
import { signedFile } from "./signed-file.ts";

/** They wait for more deaths, leases and deadlines than those of `npm test`. */
const maxWorkers = 4;

/** `TEST_SEED` repeats a run. */
const seed = process.env.TEST_SEED ?? String(randomInt(2 ** 31));
process.stdout.write(`the seed of the property tests is ${seed}: TEST_SEED=${seed} npm run test:all repeats them\n`);

// Each request that the service signs meanwhile is tried as a credential afterwards: `test/long/alone`.
writeFileSync(signedFile, "");

export default defineConfig({
  test: {
    globalSetup,
    sequence: { sequencer: LongestFirst },
    projects: projectsOf(longTests, { maxWorkers, env: { TEST_SEED: seed, TEST_SIGNED_FILE: signedFile } }),
  },
});
