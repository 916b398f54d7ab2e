// Starts the suite against the server at CONFORMANCE_TEST_URL, whose polls last 25 s. Its own command finds no test files in vitest 4.

import { runConformanceTests } from "@durable-streams/server-conformance-tests";

runConformanceTests({ baseUrl: process.env.CONFORMANCE_TEST_URL, longPollTimeoutMs: 25_000 });
