// The calls without authentication, however often they come.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";

// The count of the health check waits, because a transaction locks the sessions. The pool has four connections.
test("many concurrent health checks use one connection, and other requests are served", async () => {
  const service = await startService();
  const { db } = connect(service.databaseUrl);
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction().execute(async (trx) => {
    await sql`lock table session in access exclusive mode`.execute(trx);
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const asked = Array.from({ length: 50 }, () => fetch(`${service.url}/health`));
  await until("the count to wait", async () => {
    const waiting = await query(
      service.databaseUrl,
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    return waiting.length > 0;
  });
  const signal = AbortSignal.timeout(20_000);
  const other = await fetch(`${service.url}/v1/usage`, { headers: credentialsOf(), signal }).finally(release.resolve);
  expect(other.status).toBe(200);
  await holding;
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(50).fill(200));
});
