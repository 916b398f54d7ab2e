// The database server is another one than at the reaper's last pass, and the reaper saw no outage between them.

import { expect, test } from "vitest";
import type { Db } from "../../../src/platform/database/database.ts";
import { migrate } from "../../../src/platform/database/migrate.ts";
import { createManualClock } from "../../harness/manual-clock.ts";
import { until } from "../../harness/wait.ts";
import { addReplica, connect, endLease } from "../../runlog/store.ts";
import { openReaper } from "../../runs/stage.ts";
import { openOwnPostgres } from "./own-postgres.ts";

const leaseMs = 5_000;
const restartTimeoutMs = 60_000;

test("replicas get time to renew their leases after a change of the server", {
  timeout: restartTimeoutMs,
}, async () => {
  const postgres = await openOwnPostgres();
  const store = connect(postgres.url);
  await migrate(store.connections);
  const clock = createManualClock();
  openReaper(store, { clock, leaseMs });
  await clock.slept(1);

  await postgres.stop("fast");
  await postgres.start();
  const late = await addReplica(store.db);
  await endLease(store.db, late);
  clock.advance(leaseMs);
  await clock.slept(2);
  expect(await countReplicas(store.db)).toBe(1);

  clock.advance(leaseMs);
  await until("the replica to be reaped", async () => (await countReplicas(store.db)) === 0);
});

async function countReplicas(db: Db): Promise<number> {
  return (await db.selectFrom("replica").select("id").execute()).length;
}
