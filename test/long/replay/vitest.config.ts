// The end of `npm run test:all`: tries all that the service has signed as credentials.

import { defineConfig } from "vitest/config";
import { sharedOptions } from "../../harness/vitest-options.ts";

export default defineConfig({ test: { ...sharedOptions, include: ["test/long/replay/replay.test.ts"] } });
