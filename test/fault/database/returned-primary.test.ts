// A primary is cut off from its synchronous standbys, restarts, and comes back as a standby. It shows rows that no other server
// has. Connections reach it until the router notices.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { startLoad } from "./load.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { startOn } from "./service-on.ts";

const returnedTimeoutMs = 120_000;
/** Connections that the service tries on the standby: enough for each of its batch writers, pools and followers. */
const attemptsMin = 60;

test("what only a returned primary has reaches no reader, and the log goes on where all have it", {
  timeout: returnedTimeoutMs,
}, async () => {
  const postgres = await openOwnPostgres();
  const { member } = await startOn(postgres.url, { RUNNEL_RUNS_LEASE_MS: "60000" });
  const load = await startLoad(member, { runs: 8, message: "words=400 pace=20" });
  await load.flows();

  // Commits are in the write-ahead log from here on, and wait for a standby that is not there.
  await query(postgres.url, "alter system set synchronous_standby_names = 'absent'");
  await query(postgres.url, "select pg_reload_conf()");
  await until("a commit that waits", async () => {
    const waiting =
      "select 1 from pg_stat_activity where wait_event = 'SyncRep' and application_name like 'runnel batchWriter%'";
    return (await query(postgres.url, waiting)).length > 0;
  });
  const countRead = load.countRead();
  await postgres.stop("immediate");
  await writeFile(join(postgres.data, "standby.signal"), "");
  await postgres.start();

  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  onTestFinished(() => admin.end());
  const countSessions = async (): Promise<number> => {
    const { rows } = await admin.query<{ sessions: number }>(
      "select sum(sessions)::int as sessions from pg_stat_database where datname is not null",
    );
    return rows[0]?.sessions ?? 0;
  };
  const before = await countSessions();
  await until("connections to the standby", async () => (await countSessions()) - before >= attemptsMin);
  expect(load.countRead()).toBe(countRead);

  await admin.query("select pg_promote()");
  await query(postgres.url, "alter system reset synchronous_standby_names");
  await query(postgres.url, "select pg_reload_conf()");
  await load.expectNothingLost(postgres.url);
  expect(await member.stop()).toBe(0);
});
