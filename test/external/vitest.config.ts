// The tests that need programs which npm does not install: curl, openssl, Chromium, nginx, tini and bubblewrap; and the parts
// in other languages: signers and runners in Go and Python, the client in Java. CopilotKit and the SDKs of providers, too large to be
// dependencies, are installed by their tests.
// Not part of `npm test`. `vitest run -c test/external/vitest.config.ts`

import { defineConfig } from "vitest/config";
import { globalSetup } from "../harness/vitest-options.ts";

/** A browser on a busy machine needs many seconds to start; a healthy test stays far below this. */
const testTimeoutMs = 120_000;

export default defineConfig({
  test: {
    globalSetup: [...globalSetup, "test/external/languages.ts"],
    setupFiles: ["test/harness/setup.ts"],
    include: ["test/external/**/*.test.ts", "test/console/browser/**/*.test.ts"],
    pool: "forks",
    // Node's type stripping, which makes the page's script, still warns that it is experimental.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    // One browser is already several processes.
    maxWorkers: 1,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
  },
});
