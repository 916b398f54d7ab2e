// Commits wait for a synchronous standby that is away: statements that read are answered, and no commit is.

import { expect, test } from "vitest";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { watchCommits } from "./commit-watch.ts";
import { startLoad } from "./load.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { offMaxMs, onMaxMs } from "./probe-watch.ts";
import { startOn } from "./service-on.ts";

const stalledTimeoutMs = 120_000;
/** Each check that is not answered needs a new connection. The probe checks about once a second. */
const checksMin = 5;

test("stalled commits turn readiness off, lose nothing, and leave no pile of probes", {
  timeout: stalledTimeoutMs,
}, async () => {
  const postgres = await openOwnPostgres();
  const commits = watchCommits(postgres.url);
  const { member, probes } = await startOn(postgres.url);
  const load = await startLoad(member, { runs: 10, message: "words=200 pace=60" });
  await load.flows();

  const stalledAtMs = performance.now();
  await reconfigure(postgres.url, "alter system set synchronous_standby_names = 'absent'");
  expect(await probes.notReadySince(stalledAtMs)).toBeLessThan(offMaxMs);
  const seen = new Set<number>();
  await until("more checks", async () => {
    const probes = await query<{ pid: number }>(
      postgres.url,
      "select pid from pg_stat_activity where application_name = 'runnel probe'",
    );
    expect(probes.length).toBeLessThanOrEqual(2);
    for (const { pid } of probes) {
      seen.add(pid);
    }
    return seen.size >= checksMin;
  });

  await reconfigure(postgres.url, "alter system reset synchronous_standby_names");
  expect(await probes.readySince(performance.now())).toBeLessThan(onMaxMs);
  await load.expectNothingLost(postgres.url);
  expect(probes.outages[0]?.reason).toContain("the database does not answer");
  expect(commits.unfounded(probes.outages)).toEqual([]);
  expect(await member.stop()).toBe(0);
});

async function reconfigure(url: string, statement: string): Promise<void> {
  await query(url, statement);
  await query(url, "select pg_reload_conf()");
}
