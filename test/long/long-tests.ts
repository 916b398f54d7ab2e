// Which tests are in `npm run test:all` and not in `npm test`. They kill processes by the dozen, start a Postgres or a chain of
// their own, attack the port, or start the command line again and again. `npm test` keeps one of each kind.

export const longTests: readonly string[] = [
  "test/auth/canary.test.ts",
  "test/auth/signed-calls.test.ts",
  "test/bench/**/*.test.ts",
  "test/chain/**/*.test.ts",
  "test/cli/!(migrate|output|run|terminal|words).test.ts",
  "test/conformance/bash.test.ts",
  "test/conformance/feeds.test.ts",
  "test/deploy/secrets.test.ts",
  "test/document/**/*.test.ts",
  "test/drivers/decision-cycle/**/*.test.ts",
  // One kill, takeover and cancel of a service, and one kill of a worker, are in `npm test`.
  "test/fault/!(cancel|invariants|kill|takeover).test.ts",
  "test/fault/{crash-matrix,database,decisions,exchanges}/**/*.test.ts",
  "test/fault/runners/!(worker-killed).test.ts",
  "test/forum/{canary,odd-input}.test.ts",
  "test/jobs/races.test.ts",
  "test/model/{offers,runs,log-and-readers}.test.ts",
  "test/runners/{dialled,worker,worker-readme}.test.ts",
  "test/server/attack/**/*.test.ts",
  "test/server/{too-large,port-sessions}.test.ts",
  "test/storage/{embedded,leftovers}*.test.ts",
  "test/telemetry/{metrics,traces-of-callers}.test.ts",
  "test/tools/{any-tree,callbacks-page}.test.ts",
  "test/tools/bash/**/*.test.ts",
  "test/versions/**/*.test.ts",
];
