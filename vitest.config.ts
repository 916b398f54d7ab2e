// How the tests run: each file in a process of its own, few at a time, with a limit that a stuck wait cannot exceed.

import { defineConfig } from "vitest/config";

/** Starting an embedded Postgres on a busy two-core machine takes several seconds; no healthy test comes near this. */
const testTimeoutMs = 60_000;

/** Two cores run two files; more of them only make every wait longer, since each may hold a database and a server. */
const testWorkersMax = 2;

export default defineConfig({
  test: {
    globalSetup: ["test/harness/postgres.ts"],
    include: ["test/**/*.test.ts"],
    // These need programs that npm does not bring: `npm run conformance`.
    exclude: ["test/external/**"],
    pool: "forks",
    maxWorkers: testWorkersMax,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
  },
});
