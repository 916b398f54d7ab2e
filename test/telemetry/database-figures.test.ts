// Metrics of the ways to the database: the pools, their statements, the listening connection.

import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { PostgresWakeup } from "../../src/engine/log/postgres-wakeup.ts";
import { openConnections } from "../../src/platform/database/database.ts";
import { query, testDatabase } from "../harness/database.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";

test("a pool reports its used connections and its waiting calls, and no call waits for a free connection", async () => {
  const { connections, main } = await openPools();
  await sql`select 1`.execute(connections.db);
  expect(main()).toEqual({ name: "main", size: 2, inUse: 0, waiting: 0 });
  const free = sql`select 1`.execute(connections.db);
  expect(main().waiting).toBe(0);
  await free;
  const held = Promise.withResolvers<void>();
  const holders = [1, 2].map(() => connections.db.transaction().execute(() => held.promise));
  await until("both to be held", () => main().inUse === 2);
  const waiting = [1, 2, 3].map(() => sql`select 1`.execute(connections.db));
  await until("three to wait", () => main().waiting === 3);
  expect(connections.readPools().map(({ name }) => name)).toEqual(["main", "control"]);
  held.resolve();
  await Promise.all([...holders, ...waiting]);
  expect(main()).toMatchObject({ inUse: 0, waiting: 0 });
});

test("every statement is timed, failed ones too, without its text", async () => {
  const { connections, timed } = await openPools();
  await sql`select pg_sleep(0.05)`.execute(connections.db);
  await expect(sql`select 1 / 0`.execute(connections.control)).rejects.toThrow("division by zero");
  expect(timed).toHaveLength(2);
  expect(timed[0]).toEqual([expect.any(Number)]);
  expect(timed[0]?.[0]).toBeGreaterThanOrEqual(45);
});

test("the listener reports whether it listens: not after its connection broke, and again with the next one", async () => {
  const { connections, url } = await openPools();
  const clock = createManualClock();
  const wakeup = new PostgresWakeup({ connections, clock, onError: () => {} });
  onTestFinished(async () => {
    // It sends its pending notifications before it closes, with pauses by this clock.
    let isClosed = false;
    const closing = wakeup.close().then(() => {
      isClosed = true;
    });
    await until("it to close", () => {
      clock.advance(1_000);
      return isClosed;
    });
    await closing;
  });
  expect(wakeup.isListening).toBe(false);
  await until("it to listen", () => wakeup.isListening);
  await query(url, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'runnel listen'");
  await until("it to notice", () => !wakeup.isListening);
  await until("the next connection", () => {
    clock.advance(1_000);
    return wakeup.isListening;
  });
});

async function openPools() {
  const url = await testDatabase();
  const timed: unknown[][] = [];
  const connections = openConnections(
    { connectionString: url },
    { poolSize: 2, onConnectionError: () => {}, onStatement: (...told) => timed.push(told) },
  );
  onTestFinished(() => connections.close());
  const main = () => {
    const [pool] = connections.readPools();
    return pool ?? expect.unreachable("there is a pool");
  };
  return { url, connections, timed, main };
}
