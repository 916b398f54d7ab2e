// The end of `npm run test:all`: tests that need the results of all others, or the machine to themselves.

import { defineConfig } from "vitest/config";
import { sharedOptions } from "../../harness/vitest-options.ts";

export default defineConfig({
  test: { ...sharedOptions, include: ["test/long/alone/*.test.ts"], maxWorkers: 1 },
});
