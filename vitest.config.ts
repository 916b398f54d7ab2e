// How the tests run: each file in a process of its own, few at a time, with a limit that a stuck wait cannot exceed.

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Starting an embedded Postgres on a busy two-core machine takes several seconds; no healthy test comes near this. */
const testTimeoutMs = 60_000;

/** Two cores have a third of their time left when they run two files, since tests of deaths and deadlines wait for them. */
const testWorkersMax = 3;

/** What takes minutes by itself: begun last, it would leave a core without work. */
const longest: readonly string[] = ["test/fault/crash-matrix/crash-matrix.test.ts"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.some((path) => moduleId.endsWith(path));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    globalSetup: ["test/harness/postgres.ts"],
    include: ["test/**/*.test.ts"],
    // These need programs that npm does not bring: `npm run conformance`.
    exclude: ["test/external/**"],
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    maxWorkers: testWorkersMax,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
  },
});
