// `npm test`: shows every part of the product in minutes. `npm run test:all` runs the rest: test/long/vitest.config.ts.

import { defineConfig } from "vitest/config";
import { countsSockets, fileOptions, globalSetup } from "./test/harness/vitest-options.ts";
import { longTests } from "./test/long/long-tests.ts";

const options = {
  ...fileOptions,
  // The same examples each time. `.ci/run` looks for new ones.
  env: { TEST_SEED: process.env.TEST_SEED ?? "20261122" },
};

// These need programs that npm does not bring: `npm run conformance`, `npm run ha`.
const elsewhere = ["test/external/**", "test/long/**", "test/console/browser/**", "test/ha/**", ...longTests];

// Files share what they import: a third of the time went into loading the service again for each of them.
const shared = { ...options, name: "shared", isolate: false };
const alone = { ...options, name: "alone" };

export default defineConfig({
  test: {
    globalSetup,
    projects: [
      { test: { ...shared, include: ["test/**/*.test.ts"], exclude: [...elsewhere, ...countsSockets] } },
      { test: { ...alone, include: [...countsSockets], exclude: elsewhere } },
    ],
  },
});
