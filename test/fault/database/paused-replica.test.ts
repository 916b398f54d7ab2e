// The replica is away and not the database: it was stopped for a while, as by a host that moves it.

import { expect, test } from "vitest";
import { query, testDatabase } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { startRun } from "../cluster.ts";
import { readLog } from "../log-reader.ts";
import { watchCommits } from "./commit-watch.ts";
import { startOn } from "./service-on.ts";

/** Longer than the maximum silence of the database, and shorter than the rest of the lease. */
const pausedMs = 2_000;

// When it continues, all its timers are due at once, and waiting probes ask before the database could answer.
test("a replica that was stopped for less than its lease is ready when it continues", async () => {
  const databaseUrl = await testDatabase();
  const commits = watchCommits(databaseUrl);
  const { member, probes } = await startOn(databaseUrl);
  const { runId } = await startRun(member.client, "words=60 pace=100");
  for (let pauses = 0; pauses < 3; pauses++) {
    const pausedAtMs = performance.now();
    member.signal("SIGSTOP");
    await until("the pause to have lasted", () => performance.now() - pausedAtMs > pausedMs);
    member.signal("SIGCONT");
    await until("it to renew its lease", renewed(databaseUrl));
  }
  expect((await readLog(member.client, runId)).at(-1)?.payload.case).toBe("runCompleted");
  expect(commits.unfounded(probes.outages)).toEqual([]);
});

/** True once the end of the lease has moved. */
function renewed(databaseUrl: string): () => Promise<boolean> {
  let first: number | undefined;
  return async () => {
    const [replica] = await query<{ lease_until: Date }>(databaseUrl, "select lease_until from replica");
    const end = replica?.lease_until.getTime();
    first ??= end;
    return end !== first;
  };
}
