// The options that `npm test` and `npm run test:all` share: a few processes, and a timeout for waits without an end.

import { matchesGlob } from "node:path";
import type { TestProjectConfiguration, ViteUserConfig } from "vitest/config";

/** Starting an embedded Postgres on a busy two-core machine takes several seconds; no healthy test comes near this. */
const testTimeoutMs = 180_000;

/** Two cores are idle a third of the time when they run two files, because tests of deaths and deadlines wait for them. */
const testWorkersMax = 3;

/** What every test run needs: a Postgres and the program. */
export const globalSetup = ["test/harness/postgres.ts", "test/harness/build.ts"];

/**
 * Each of these has a process of its own: they count its sockets or timers, or need each of their statements among the limited number
 * that the process prepares.
 */
const measureProcess: readonly string[] = [
  "test/server/port-*.test.ts",
  "test/exchanges/waiting.test.ts",
  "test/storage/reads-of-calls.test.ts",
];

const fileOptions = {
  setupFiles: ["test/harness/setup.ts"],
  pool: "forks",
  maxWorkers: testWorkersMax,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
} satisfies ViteUserConfig["test"];

export const sharedOptions = { globalSetup, ...fileOptions } satisfies ViteUserConfig["test"];

/** Returns the projects of these files: those that measure their process, and all others. */
export function projectsOf(
  files: readonly string[],
  options: { readonly env: Record<string, string>; readonly maxWorkers?: number },
): TestProjectConfiguration[] {
  const { alone = [], shared = [] } = Object.groupBy(files, (file) =>
    measureProcess.some((pattern) => matchesGlob(file, pattern)) ? "alone" : "shared",
  );
  return [
    // Files share what they import: a third of the time went into loading the service again for each of them.
    { test: { ...fileOptions, ...options, name: "shared", isolate: false, include: shared } },
    { test: { ...fileOptions, ...options, name: "alone", include: alone } },
  ];
}
