// Asynchronous standbys: a failover may lose acknowledged results, and an operator learns of it before.

import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "../../cli/command.ts";
import { query } from "../../harness/database.ts";
import { linesOf } from "../cluster.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { startOn } from "./service-on.ts";

test("asynchronous standbys are reported at the start and by doctor, synchronous ones are not", async () => {
  const { url } = await openOwnPostgres();
  // What a standby opens to receive the write-ahead log.
  const standby = new pg.Client({ connectionString: url, replication: "database" } as pg.ClientConfig);
  await standby.connect();
  onTestFinished(() => standby.end());
  const { member } = await startOn(url, { RUNNEL_DATABASE_FAILOVER_SECONDS: "30", RUNNEL_RUNS_LEASE_MS: "9999" });
  expect(linesOf(member, "lease.short")).toMatchObject([{ leaseMs: 9_999, neededMs: 10_000 }]);
  expect(linesOf(member, "standbys.asynchronous")).toMatchObject([{ standbys: 1 }]);
  expect(await judgeReplication(url)).toMatchObject({ outcome: "warn", found: "1 standby, asynchronous" });
  expect(await member.stop()).toBe(0);

  await query(url, "alter system set synchronous_standby_names = '*'");
  await query(url, "select pg_reload_conf()");
  expect(await judgeReplication(url)).toMatchObject({ outcome: "ok", found: "1 standby, synchronous" });
});

async function judgeReplication(databaseUrl: string): Promise<unknown> {
  const environment = { RUNNEL_DATABASE_URL: databaseUrl, RUNNEL_DEFAULTS_MODEL: "demo" };
  const { stdout } = await runCommand(["doctor", "--no-config", "--port", "0", "--json"], { environment });
  const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
  return checks.find(({ name }) => name === "replication");
}
