// The log alone: results of many open runs through the batch writers into real Postgres, within this process; beside the same rows
// in a bare statement.

import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { LogChain, startOfChain } from "../../../src/engine/hash-chain/chain.ts";
import { Broadcaster } from "../../../src/engine/log/broadcaster.ts";
import { ResultLog } from "../../../src/engine/log/log.ts";
import { PostgresWakeup } from "../../../src/engine/log/postgres-wakeup.ts";
import type { ResultInit } from "../../../src/engine/log/result.ts";
import type { Wakeup, WakeupMessage } from "../../../src/engine/log/wakeup.ts";
import type { RunWriter } from "../../../src/engine/log/writer.ts";
import { insertReplica } from "../../../src/engine/storage/replica.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import { openConnections } from "../../../src/platform/database/database.ts";
import { openEmbeddedPostgres } from "../../../src/platform/database/embedded/open.ts";
import { migrate } from "../../../src/platform/database/migrate.ts";
import { createPartitions } from "../../../src/platform/database/partition.ts";
import { measureBareUnnest } from "../bare/unnest.ts";
import type { Bench, Variant } from "../bench.ts";
import { percentile } from "../harness/load.ts";
import { type Cost, measure } from "../harness/meter.ts";
import type { Stage } from "../harness/stage.ts";

export const runs = 64;
/** As a thousand models that each send fifty results a second. */
const pacedRuns = 1_000;
const pacedPerSecond = 50_000;
/** Longer than the bench, so that nothing has to renew the lease. */
const leaseMs = 600_000;
/**
 * Watching each of a hundred thousand results a second would be most of the work. A prime number, so that the sample covers
 * every run.
 */
const sampledInterval = 97;

export const appendPath: Bench = {
  name: "append",
  title: "The append path alone: results that do not merge, through two batchWriters into Postgres",
  notMeasured:
    "runs, models, readers and RPC; merging, which makes real text cheaper; hours of load; a slower disk. Notifications for other replicas are sent, but no other replica listens.",
  roundsMax: 3,
  async *measure(stage) {
    await using log = await openLog(stage);
    const perRun = stage.quick ? 500 : 3_000;
    await appendAll(log, 50, false);
    for (;;) {
      const oneByOne = await measureAppends("one in flight per run", log, stage.quick ? 100 : 300, true);
      const paced = await measurePaced(log, stage.quick ? 500 : 2_500);
      const bare = await measureBareUnnest(stage.home, runs * perRun);
      const fast = await measureAppends("as fast as possible", log, perRun, false);
      yield [oneByOne, paced, compareWithBare(fast, bare), bare];
    }
  },
};

function compareWithBare(variant: Variant, bare: Variant): Variant {
  const ratio = (variant.metrics["results/s"] ?? Number.NaN) / (bare.metrics["results/s"] ?? Number.NaN);
  return { ...variant, metrics: { ...variant.metrics, "results/s, ratio to bare": ratio } };
}

interface StoredSize {
  readonly wal: number;
  readonly table: number;
}

export interface BenchLog extends AsyncDisposable {
  /** Troubles that the log reported; it continues after most of them. */
  readonly troubles: readonly string[];
  readonly postmasterPid: number | undefined;
  /** The bytes of WAL so far, and those of the table with its indexes. */
  readonly size: () => Promise<StoredSize>;
  readonly openRuns: (count: number) => Promise<readonly OpenRun[]>;
}

interface OpenRun {
  readonly writer: RunWriter;
  /** Resolves when the result with this sequence is durable. Call it before the append. */
  readonly durable: (sequence: number) => Promise<void>;
}

export async function openLog({ home }: Stage): Promise<BenchLog> {
  const closers = new AsyncDisposableStack();
  const troubles: string[] = [];
  const note = (error: unknown): void => {
    troubles.push(String(error));
  };
  const embedded = closers.use(await openEmbeddedPostgres({ directory: home.databaseDirectory }));
  const connections = closers.adopt(openConnections(embedded.login, { poolSize: 4, onConnectionError: note }), (each) =>
    each.close(),
  );
  const { db } = connections;
  await migrate(connections);
  await createPartitions(db, { nowMs: systemClock.nowMs(), daysAhead: 1 });
  const replicaId = newUuid(systemClock.nowMs());
  await insertReplica(db, { id: replicaId, leaseMs });
  const announced = new AnnouncedResults(
    closers.adopt(new PostgresWakeup({ connections, clock: systemClock, onError: note }), (each) => each.close()),
  );
  const options = {
    connections,
    clock: systemClock,
    broadcaster: new Broadcaster(),
    wakeup: announced,
    onLeaseLost: note,
    onError: note,
  };
  const log = closers.adopt(new ResultLog(options), (each) => each.close());
  return {
    troubles,
    postmasterPid: home.postmasterPid(),
    size: async () => {
      const { rows } = await sql<StoredSize>`
        select (pg_current_wal_insert_lsn() - '0/0')::int8 as wal,
          (select sum(pg_total_relation_size(relid)) from pg_partition_tree('run_result'))::int8 as table`.execute(db);
      return rows[0] ?? { wal: Number.NaN, table: Number.NaN };
    },
    openRuns: async (count) => {
      const { rows } = await insertRuns(count, replicaId).execute(db);
      return rows.map(({ id: runId }) => ({
        writer: log.open({ runId, epoch: 1, replicaId, chain: new LogChain(startOfChain(runId)), onLost: note }),
        durable: (sequence) => announced.wait(runId, sequence),
      }));
    },
    [Symbol.asyncDispose]: () => closers.disposeAsync(),
  };
}

/** Runs that the replica owns, each in a session of its own. */
function insertRuns(count: number, replicaId: string) {
  return sql<{ id: string }>`
    with made as materialized (select uuidv7() as id, uuidv7() as run_id from generate_series(1, ${count}::int)),
    sessions as (
      insert into session (id, client, name, agent, latest_run_id) select id, 'bench', id::text, '', run_id from made
    )
    insert into run (id, client, session, driver, input, status, epoch, turn, owner, deadline)
    select run_id, 'bench', id, 'llm-loop', '', 'running', 1, 0, ${replicaId}::uuid, now() + interval '1 day' from made
    returning id`;
}

/** The real wake-up, with a tap: the log announces a result as soon as it is durable. */
class AnnouncedResults implements Wakeup {
  readonly wake: Wakeup["wake"];
  readonly subscribe: Wakeup["subscribe"];
  readonly onGap: Wakeup["onGap"];
  readonly #inner: Wakeup;
  readonly #waiting = new Map<string, { sequence: number; resolve: () => void }[]>();

  constructor(inner: Wakeup) {
    this.#inner = inner;
    this.wake = (topic) => inner.wake(topic);
    this.subscribe = (topic, listener) => inner.subscribe(topic, listener);
    this.onGap = (listener) => inner.onGap(listener);
  }

  publish(message: WakeupMessage): void {
    this.#inner.publish(message);
    const waiting = this.#waiting.get(message.key) ?? [];
    // The waiting callers are in the order of their sequences.
    while (waiting[0] !== undefined && waiting[0].sequence <= message.value) {
      waiting.shift()?.resolve();
    }
  }

  /** Call it before the result is appended. */
  wait(runId: string, sequence: number): Promise<void> {
    const waiting = this.#waiting.get(runId) ?? [];
    this.#waiting.set(runId, waiting);
    return new Promise((resolve) => waiting.push({ sequence, resolve }));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

export async function measureAppends(
  name: string,
  log: BenchLog,
  resultsPerRun: number,
  oneByOne: boolean,
): Promise<Variant> {
  const before = await log.size();
  const { result: durableMs, cost } = await measure({ postmasterPid: log.postmasterPid }, () =>
    appendAll(log, resultsPerRun, oneByOne),
  );
  const after = await log.size();
  const results = runs * resultsPerRun;
  const variant = describe(name, log, { results, durableMs, cost });
  const bytes = {
    "WAL per result, B": (after.wal - before.wal) / results,
    "table and index per result, B": (after.table - before.table) / results,
  };
  return { ...variant, metrics: { ...variant.metrics, ...bytes } };
}

/** Offers results at a fixed pace, however long the log takes for them. */
async function measurePaced(log: BenchLog, durationMs: number): Promise<Variant> {
  const open = (await log.openRuns(pacedRuns)).map((run) => ({ ...run, appended: 0 }));
  const count = (pacedPerSecond * durationMs) / 1_000;
  const { result: durableMs, cost } = await measure({ postmasterPid: log.postmasterPid }, async () => {
    const startedMs = performance.now();
    const sampled: Promise<number>[] = [];
    for (let sent = 0; sent < count; ) {
      const due = Math.min(count, Math.floor(((performance.now() - startedMs) * pacedPerSecond) / 1_000));
      for (; sent < due; sent++) {
        const run = open[sent % pacedRuns] as (typeof open)[number];
        const sequence = ++run.appended;
        if (sent % sampledInterval === 0) {
          sampled.push(timeOf(() => run.durable(sequence)));
        }
        await run.writer.append(resultAt(sequence));
      }
      await delay(1);
    }
    await Promise.all(open.map(({ writer }) => writer.flush()));
    return await Promise.all(sampled);
  });
  return describe("50,000 a second", log, { results: count, durableMs, cost });
}

interface Appended {
  readonly results: number;
  readonly durableMs: readonly number[];
  readonly cost: Cost;
}

function describe(name: string, log: BenchLog, { results, durableMs, cost }: Appended): Variant {
  return {
    name,
    metrics: {
      results,
      "results/s": results / cost.wall,
      "append → durable p50, ms": percentile(durableMs, 0.5),
      "append → durable p99, ms": percentile(durableMs, 0.99),
      "own CPU per result, µs": (1_000_000 * cost.client) / results,
      "Postgres CPU per result, µs": (1_000_000 * cost.postgres) / results,
    },
    faults: log.troubles,
  };
}

/**
 * Resolves with the times from append to durable: of every result, or of a sample when the runs do not wait for each result.
 */
export async function appendAll(log: BenchLog, resultsPerRun: number, oneByOne: boolean): Promise<number[]> {
  const sampleEvery = oneByOne ? 1 : sampledInterval;
  const perRun = (await log.openRuns(runs)).map(async ({ writer, durable }) => {
    const sampled: Promise<number>[] = [];
    for (let index = 0; index < resultsPerRun; index++) {
      // No deltas merge, so the sequence of the result is known.
      if (index % sampleEvery === 0) {
        sampled.push(timeOf(() => durable(index + 1)));
      }
      await writer.append(resultAt(index));
      if (oneByOne) {
        await writer.flush();
      }
    }
    await writer.flush();
    return await Promise.all(sampled);
  });
  return (await Promise.all(perRun)).flat();
}

async function timeOf(wait: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await wait();
  return performance.now() - startedMs;
}

/** Returns a delta with a message of its own, because deltas of one message would merge. */
export function resultAt(index: number): ResultInit {
  const value = { chunk: { role: "assistant", content: "some", msgSequence: index + 1 } };
  return { payload: { case: "messageDelta", value } };
}
