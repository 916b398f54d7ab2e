// `npm test`: shows every part of the product in minutes. `npm run test:all` runs the rest: test/long/vitest.config.ts.

import { defineConfig } from "vitest/config";
import { sharedOptions } from "./test/harness/vitest-options.ts";
import { longTests } from "./test/long/long-tests.ts";

export default defineConfig({
  test: {
    ...sharedOptions,
    // Files share what they import: a third of the time went into loading the service again for each of them.
    isolate: false,
    include: ["test/**/*.test.ts"],
    // These need programs that npm does not bring: `npm run conformance`, `npm run ha`.
    exclude: ["test/external/**", "test/long/**", "test/console/browser/**", "test/ha/**", ...longTests],
    // The same examples each time. `.ci/run` looks for new ones.
    env: { TEST_SEED: process.env.TEST_SEED ?? "20261122" },
  },
});
