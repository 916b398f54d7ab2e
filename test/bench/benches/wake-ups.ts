// What the wake-ups of other replicas cost the commits: none, the service's coalesced ones beside the commits, and a NOTIFY in
// each commit.

import type pg from "pg";
import { PostgresWakeup } from "../../../src/engine/log/postgres-wakeup.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import { openConnections } from "../../../src/platform/database/database.ts";
import type { Bench, Variant } from "../bench.ts";
import { runLoad } from "../harness/load.ts";

const writers = 32;

export const wakeUps: Bench = {
  name: "wake-ups",
  title: `Commits of one row over ${writers} connections, with and without wake-ups`,
  notMeasured: "batches, which make commits rare; the queries of replicas that hear of a result; a slower disk.",
  roundsMax: 3,
  async *measure(stage) {
    await using home = await stage.openHome();
    const faults: string[] = [];
    const connections = openConnections(home.login, { poolSize: 1, onConnectionError: () => {} });
    await using closers = new AsyncDisposableStack();
    closers.defer(() => connections.close());
    const onError = (error: unknown): void => void faults.push(String(error));
    const wakeup = new PostgresWakeup({ connections, clock: systemClock, onError });
    closers.defer(() => wakeup.close());
    const open = await Promise.all(Array.from({ length: writers }, () => home.connect()));
    closers.defer(async () => void (await Promise.all(open.map((connection) => connection.end()))));
    await open[0]?.query("create table if not exists written (run_id uuid, sequence int8)");
    const commit = (connection: pg.Client) =>
      connection.query({
        name: "write",
        text: "insert into written values ($1, $2)",
        values: [newUuid(Date.now()), 1],
      });
    const notify = (connection: pg.Client) =>
      connection.query({
        name: "write and notify",
        text: "with row as (insert into written values ($1, $2) returning run_id) select pg_notify('written', run_id::text) from row",
        values: [newUuid(Date.now()), 1],
      });
    const ways: readonly (readonly [string, (connection: pg.Client) => Promise<unknown>])[] = [
      ["commits alone", commit],
      [
        "coalesced wake-ups beside",
        async (connection) => {
          await commit(connection);
          wakeup.publish({ topic: "result", key: newUuid(Date.now()), value: 1 });
        },
      ],
      ["NOTIFY in each commit", notify],
    ];
    const limitMs = stage.quick ? 500 : 3_000;
    for (;;) {
      const rates: number[] = [];
      for (const [, work] of ways) {
        rates.push(await measureRate(open, work, limitMs));
      }
      const [alone = Number.NaN] = rates;
      yield ways.map(
        ([name], index): Variant => ({
          name,
          metrics: {
            "commits/s": rates[index] ?? Number.NaN,
            "commits/s, ratio to alone": (rates[index] ?? Number.NaN) / alone,
          },
          faults,
        }),
      );
    }
  },
};

async function measureRate(
  open: readonly pg.Client[],
  work: (connection: pg.Client) => Promise<unknown>,
  limitMs: number,
): Promise<number> {
  const free = [...open];
  const startedMs = performance.now();
  const done = await runLoad({ concurrency: open.length, count: Number.POSITIVE_INFINITY, limitMs }, async () => {
    const connection = free.pop() as pg.Client;
    await work(connection);
    free.push(connection);
  });
  return (1_000 * done.length) / (performance.now() - startedMs);
}
