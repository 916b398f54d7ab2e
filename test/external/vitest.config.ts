// The tests that need programs which npm does not bring: curl, openssl, Chromium, nginx, tini and bubblewrap;
// and what is written in other languages: signers and runners in Go and Python.
// Not part of `npm test`. `vitest run -c test/external/vitest.config.ts`

import { defineConfig } from "vitest/config";
import { globalSetup } from "../harness/vitest-options.ts";

/** A browser that starts on a busy machine takes many seconds; no healthy test comes near this. */
const testTimeoutMs = 120_000;

export default defineConfig({
  test: {
    globalSetup: [...globalSetup, "test/external/languages.ts"],
    setupFiles: ["test/harness/setup.ts"],
    include: ["test/external/**/*.test.ts"],
    pool: "forks",
    // Node's type stripping by call, which makes the page's script, still warns that it is new.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    // A browser is several processes already.
    maxWorkers: 1,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
  },
});
