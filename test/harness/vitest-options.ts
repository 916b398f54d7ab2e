// What `npm test` and `npm run test:all` have in common: a few processes, and a limit that a wait without an end reaches.

import type { ViteUserConfig } from "vitest/config";

/** Starting an embedded Postgres on a busy two-core machine takes several seconds; no healthy test comes near this. */
const testTimeoutMs = 60_000;

/** Two cores have a third of their time left when they run two files, since tests of deaths and deadlines wait for them. */
const testWorkersMax = 3;

/** What every test run has: a Postgres and the program. */
export const globalSetup = ["test/harness/postgres.ts", "test/harness/build.ts"];

export const sharedOptions = {
  globalSetup,
  setupFiles: ["test/harness/setup.ts"],
  pool: "forks",
  maxWorkers: testWorkersMax,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
} satisfies ViteUserConfig["test"];
