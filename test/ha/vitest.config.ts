// `npm run ha`: failovers and partitions of a Postgres that Patroni manages, with the files of deploy/ha. About a quarter of an hour.

import { defineConfig } from "vitest/config";
import { globalSetup, sharedOptions } from "../harness/vitest-options.ts";

export default defineConfig({
  test: {
    ...sharedOptions,
    globalSetup: [...globalSetup, "test/ha/programs.ts"],
    include: ["test/ha/**/*.test.ts"],
    // The cases follow each other on one cluster.
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
