// The options that `npm test` and `npm run test:all` share: a few processes, and a timeout for waits without an end.

import type { ViteUserConfig } from "vitest/config";

/** Starting an embedded Postgres on a busy two-core machine takes several seconds; no healthy test comes near this. */
const testTimeoutMs = 180_000;

/** Two cores are idle a third of the time when they run two files, because tests of deaths and deadlines wait for them. */
const testWorkersMax = 3;

/** What every test run needs: a Postgres and the program. */
export const globalSetup = ["test/harness/postgres.ts", "test/harness/build.ts"];

/** These count the sockets of their process, so each of them has a process of its own. */
export const countsSockets: readonly string[] = ["test/server/port-*.test.ts"];

export const fileOptions = {
  setupFiles: ["test/harness/setup.ts"],
  pool: "forks",
  maxWorkers: testWorkersMax,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
} satisfies ViteUserConfig["test"];

export const sharedOptions = { globalSetup, ...fileOptions } satisfies ViteUserConfig["test"];
