// `npm test`: shows every part of the product in minutes. `npm run test:all` runs the rest: test/long/vitest.config.ts.

import { globSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { globalSetup, projectsOf } from "./test/harness/vitest-options.ts";
import { longTests } from "./test/long/long-tests.ts";

// These need programs that npm does not bring: `npm run conformance`, `npm run ha`.
const elsewhere = ["test/external/**", "test/long/**", "test/console/browser/**", "test/ha/**"];
const files = globSync("test/**/*.test.ts", { exclude: [...elsewhere, ...longTests] });

// The same examples each time. `.ci/run` looks for new ones.
const env = { TEST_SEED: process.env.TEST_SEED ?? "20261122" };

export default defineConfig({ test: { globalSetup, projects: projectsOf(files, { env }) } });
