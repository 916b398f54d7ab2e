// The rounds of `npm run faults`, which are not part of `npm test`.

import { defineConfig } from "vitest/config";
import { globalSetup } from "../../harness/vitest-options.ts";

/** Far above the longest cell, in which every wait reaches its own limit. */
const testTimeoutMs = 300_000;

export default defineConfig({
  test: {
    globalSetup,
    setupFiles: ["test/harness/setup.ts"],
    include: ["test/fault/crash-matrix/rounds.ts"],
    pool: "forks",
    // A cell already starts several processes.
    maxWorkers: 1,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
  },
});
