// The tests of `npm run conformance`, which need programs that npm does not install: curl, openssl, Chromium, nginx, tini, bubblewrap, Go,
// Python, Java, Rust. CopilotKit and the SDKs of providers, too large to be dependencies, are installed by their tests.
// One file: `npx vitest run --config test/external/vitest.config.ts <file>`.

import { defineConfig } from "vitest/config";
import { LongestFirst } from "../harness/longest-first.ts";
import { globalSetup } from "../harness/vitest-options.ts";

/** A browser on a busy machine needs many seconds to start; a healthy test stays far below this. */
const testTimeoutMs = 120_000;

export default defineConfig({
  test: {
    globalSetup: [...globalSetup, "test/external/languages.ts"],
    setupFiles: ["test/harness/setup.ts"],
    include: ["test/external/**/*.test.ts", "test/console/browser/**/*.test.ts"],
    pool: "forks",
    // Files share what they import.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Node's type stripping, which makes the page's script, still warns that it is experimental.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    // A file that downloads, compiles, or waits for a death or for the next poll of a page leaves a core idle.
    maxWorkers: 3,
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
  },
});
