// Which tests are in `npm run test:all` but not in `npm test`. They kill processes by the dozen, start a Postgres or a chain of
// their own, attack the port, or start the command line again and again. `npm test` keeps some of each kind.

import { globSync } from "node:fs";
import { basename } from "node:path";

export const longTests: readonly string[] = [
  "test/auth/secret-leaks.test.ts",
  "test/auth/crowded-address.test.ts",
  "test/auth/signed-calls.test.ts",
  ...globSync("test/bench/**/*.test.ts"),
  ...globSync("test/chain/**/*.test.ts"),
  ...allOf("test/cli", { but: ["built", "migrate", "output"] }),
  "test/clients/wrong-subjects.test.ts",
  "test/conformance/bash.test.ts",
  "test/conformance/data-life.test.ts",
  "test/conformance/delete-cases.test.ts",
  "test/conformance/feeds.test.ts",
  "test/conformance/remote-tools.test.ts",
  "test/conformance/unreadable.test.ts",
  "test/deploy/secrets.test.ts",
  "test/docs/resuming-page.test.ts",
  ...globSync("test/document/**/*.test.ts"),
  ...globSync("test/drivers/decision-cycle/**/*.test.ts"),
  "test/durable-streams/clients.test.ts",
  // One kill, one takeover and one stop of a service are in `npm test`.
  ...allOf("test/fault", { but: ["invariants", "kill", "takeover"] }),
  ...globSync("test/fault/*/**/*.test.ts"),
  "test/forum/secret-leaks.test.ts",
  "test/growth/growth.test.ts",
  "test/forum/odd-input.test.ts",
  "test/exchanges/waiting.test.ts",
  "test/jobs/early-failure.test.ts",
  "test/jobs/races.test.ts",
  "test/jobs/receipts.test.ts",
  "test/mcp/tasks.test.ts",
  "test/mcp-client/programs.test.ts",
  "test/model/broadcaster-and-tail.test.ts",
  "test/model/log-and-readers.test.ts",
  "test/model/offers.test.ts",
  "test/model/runs.test.ts",
  "test/protocols/deletion.test.ts",
  "test/receipts/verify-log.test.ts",
  "test/runners/approvals.test.ts",
  "test/runners/dialled.test.ts",
  "test/runners/lifecycle.test.ts",
  "test/runners/worker-readme.test.ts",
  "test/runners/worker.test.ts",
  ...globSync("test/server/attack/**/*.test.ts"),
  "test/server/answer-headers.test.ts",
  "test/server/port-sessions.test.ts",
  "test/server/port-settings.test.ts",
  "test/server/too-large.test.ts",
  "test/sessions/directory-claims.test.ts",
  ...globSync("test/storage/{embedded*,reads-of-calls,slow-migration}.test.ts"),
  "test/telemetry/traces-of-callers.test.ts",
  "test/telemetry/traces-of-runs.test.ts",
  "test/tools/any-tree.test.ts",
  "test/tools/callbacks-page.test.ts",
  "test/tools/races.test.ts",
  "test/tools/walk.test.ts",
  ...globSync("test/tools/bash/**/*.test.ts"),
  ...globSync("test/versions/**/*.test.ts"),
];

function allOf(folder: string, { but }: { readonly but: readonly string[] }): string[] {
  return globSync(`${folder}/*.test.ts`).filter((file) => !but.includes(basename(file, ".test.ts")));
}
