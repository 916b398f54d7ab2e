// Batch writers: the results of many runs over one connection, against real Postgres.

import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import { BatchWriter, runLost } from "../../src/engine/log/batch-writer.ts";
import { decodeResult, type LogEntry } from "../../src/engine/log/result.ts";
import { RunQueue } from "../../src/engine/log/run-queue.ts";
import type { RunRow } from "../../src/engine/storage/run.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { Fault } from "../../src/platform/base/fault.ts";
import type { Connections } from "../../src/platform/database/database.ts";
import { test } from "../fixtures.ts";
import { addReplica, addRun, endLease, newChain, openStore, plant, readLog, type Store, text, turn } from "./store.ts";

interface TestBatchWriter {
  readonly batchWriter: BatchWriter;
  readonly durable: Map<string, LogEntry[]>;
  readonly lostLeases: string[];
  /** The runs whose log had lost acknowledged results. */
  readonly shortLogs: string[];
  readonly errors: unknown[];
}

function openBatchWriter(connections: Connections, onShortLog?: (queue: RunQueue) => Promise<void>): TestBatchWriter {
  const durable = new Map<string, LogEntry[]>();
  const lostLeases: string[] = [];
  const shortLogs: string[] = [];
  const errors: unknown[] = [];
  const batchWriter = new BatchWriter({
    name: "test batchWriter",
    connections,
    clock: systemClock,
    onDurable: (runId, entries) => durable.set(runId, [...(durable.get(runId) ?? []), ...entries]),
    onLeaseLost: (replicaId) => lostLeases.push(replicaId),
    onShortLog: async (queue) => {
      await onShortLog?.(queue);
      shortLogs.push(queue.runId);
      queue.lose(runLost(queue.runId));
    },
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => batchWriter.close());
  return { batchWriter, durable, lostLeases, shortLogs, errors };
}

function openQueue(run: RunRow, onLost: (fault: Fault) => void = () => {}): RunQueue {
  const replicaId = run.owner ?? "";
  return new RunQueue({
    runId: run.id,
    epoch: run.epoch,
    replicaId,
    chain: newChain(run.id),
    clock: systemClock,
    onLost,
  });
}

async function addRuns({ db }: Store, owner: string, count: number): Promise<RunRow[]> {
  const runs: RunRow[] = [];
  for (let index = 0; index < count; index++) {
    runs.push(await addRun(db, { owner }));
  }
  return runs;
}

function countTo(count: number): [number, number][] {
  return Array.from({ length: count }, (_, index) => [index + 1, index + 1]);
}

/** The reason why each queue was lost; undefined for a queue that was written. */
async function reasonsOf(queues: readonly RunQueue[]): Promise<(string | undefined)[]> {
  const ends = await Promise.allSettled(queues.map((queue) => queue.flush()));
  return ends.map((end) => (end.status === "rejected" ? end.reason.reason : undefined));
}

test("many runs over one batchWriter: every log is gapless, in order, and published only when it is durable", async () => {
  const store = await openStore();
  const { batchWriter, durable } = openBatchWriter(store.connections);
  const runs = await addRuns(store, await addReplica(store.db), 40);
  const resultsPerRun = 150;
  await Promise.all(
    runs.map(async (run) => {
      const queue = openQueue(run);
      for (let number = 1; number <= resultsPerRun; number++) {
        queue.push(turn(number));
        batchWriter.submit(queue);
        if (number % 7 === 0) {
          await queue.room();
        }
        if (number % 50 === 0) {
          await queue.flush();
        }
      }
      await queue.flush();
    }),
  );
  for (const run of runs) {
    expect(await readLog(store.db, run.id)).toEqual(countTo(resultsPerRun));
    expect(durable.get(run.id)?.map((entry) => entry.sequence)).toEqual(countTo(resultsPerRun).map(([n]) => n));
  }
});

test("waiting text is merged and reads the same", async ({ store }) => {
  const { batchWriter } = openBatchWriter(store.connections);
  const [run] = await addRuns(store, await addReplica(store.db), 1);
  const queue = openQueue(run as RunRow);
  const words = Array.from({ length: 100 }, (_, index) => `word ${index} `);
  for (const word of words) {
    queue.push(text(word));
    batchWriter.submit(queue);
  }
  await queue.flush();
  const log = await readLog(store.db, queue.runId);
  expect(log.length).toBeLessThan(words.length);
  expect(log.map(([, content]) => content).join("")).toBe(words.join(""));
});

test("more rows than fit in one batch are written in several batches, in order", async ({ store }) => {
  const { batchWriter } = openBatchWriter(store.connections);
  const [run] = await addRuns(store, await addReplica(store.db), 1);
  const queue = openQueue(run as RunRow);
  for (let number = 1; number <= 7_000; number++) {
    queue.push(turn(number));
  }
  batchWriter.submit(queue);
  await queue.flush();
  expect(await readLog(store.db, queue.runId)).toEqual(countTo(7_000));
});

test.for([
  ["wrote the same sequence", true],
  ["has not written yet", false],
] as const)("a run whose new owner %s loses only its own rows", async ([_, hasWritten], { store }) => {
  const { batchWriter, durable, lostLeases } = openBatchWriter(store.connections);
  const runs = await addRuns(store, await addReplica(store.db), 4);
  const taken = runs[1] as RunRow;
  const faults: Fault[] = [];
  await store.db.updateTable("run").set({ epoch: 2 }).where("id", "=", taken.id).execute();
  await plant(store.db, taken.id, 2, [1]);
  // A neighbour whose sequence is already used makes the batch fail, so the batch writer checks every epoch.
  const queues = runs.map((run) => openQueue(run, (fault) => faults.push(fault)));
  for (const queue of queues) {
    queue.push(turn(1));
    if (hasWritten || queue.runId !== taken.id) {
      queue.push(turn(2));
    }
    batchWriter.submit(queue);
  }
  const ends = await Promise.allSettled(queues.map((queue) => queue.flush()));
  expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(faults.map((fault) => fault.reason)).toEqual(["RUN_LOST"]);
  expect(lostLeases).toEqual([]);
  expect(durable.has(taken.id)).toBe(false);
  for (const run of runs.filter((each) => each !== taken)) {
    expect(await readLog(store.db, run.id)).toEqual(countTo(2));
  }
});

test("a batchWriter continues after a batch in which every run is lost", async ({ store }) => {
  const { batchWriter } = openBatchWriter(store.connections);
  const replica = await addReplica(store.db);
  const runs = await addRuns(store, replica, 3);
  await store.db.updateTable("run").set({ epoch: 9 }).execute();
  for (const run of runs) {
    await plant(store.db, run.id, 9, [1]);
  }
  const queues = runs.map((run) => openQueue(run));
  for (const queue of queues) {
    queue.push(turn(1));
    batchWriter.submit(queue);
  }
  expect(await reasonsOf(queues)).toEqual(["RUN_LOST", "RUN_LOST", "RUN_LOST"]);
  const next = openQueue(await addRun(store.db, { owner: replica }));
  next.push(turn(1));
  batchWriter.submit(next);
  await next.flush();
  expect(await readLog(store.db, next.runId)).toEqual(countTo(1));
});

test.each([
  ["has ended", endLease],
  ["was taken over", (db: Store["db"], id: string) => db.deleteFrom("replica").where("id", "=", id).execute()],
])("under a lease that %s nothing is written, all runs are lost, and the next lease can write", async (_, end) => {
  const store = await openStore();
  const { batchWriter, lostLeases, durable } = openBatchWriter(store.connections);
  const replica = await addReplica(store.db);
  const queues = (await addRuns(store, replica, 3)).map((run) => openQueue(run));
  await end(store.db, replica);
  const nextReplica = await addReplica(store.db);
  const next = openQueue(await addRun(store.db, { owner: nextReplica }));
  for (const queue of [...queues, next]) {
    queue.push(turn(1));
    batchWriter.submit(queue);
  }
  await next.flush();
  expect(await reasonsOf(queues)).toEqual(["LEASE_LOST", "LEASE_LOST", "LEASE_LOST"]);
  for (const queue of queues) {
    expect(await readLog(store.db, queue.runId)).toEqual([]);
  }
  expect(new Set(lostLeases)).toEqual(new Set([replica]));
  expect([...durable.keys()]).toEqual([next.runId]);
});

test("a result that cannot be encoded affects only its own run", async ({ store }) => {
  const { batchWriter } = openBatchWriter(store.connections);
  const replica = await addReplica(store.db);
  const [bad, good] = (await addRuns(store, replica, 2)).map((run) => openQueue(run)) as [RunQueue, RunQueue];
  const beyondInt32 = 2 ** 40;
  bad.push(turn(beyondInt32));
  batchWriter.submit(bad);
  good.push(turn(1));
  batchWriter.submit(good);
  expect(await reasonsOf([bad, good])).toEqual(["INTERNAL", undefined]);
  expect(await readLog(store.db, good.runId)).toEqual(countTo(1));
});

test("a queue that still waits when the batchWriter closes fails", async ({ store }) => {
  const { batchWriter } = openBatchWriter(store.connections);
  const queue = openQueue(await addRun(store.db, { owner: await addReplica(store.db) }));
  queue.push(turn(1));
  batchWriter.submit(queue);
  await batchWriter.close();
  expect(await reasonsOf([queue])).toEqual(["INTERNAL"]);
  expect(await readLog(store.db, queue.runId)).toEqual([]);
});

test("results contain their run and their sequence", async ({ store }) => {
  const { batchWriter, durable } = openBatchWriter(store.connections);
  const run = await addRun(store.db, { owner: await addReplica(store.db) });
  const queue = openQueue(run);
  queue.push(turn(1));
  batchWriter.submit(queue);
  await queue.flush();
  const [entry] = durable.get(run.id) ?? [];
  expect(decodeResult(entry?.bytes ?? new Uint8Array())).toMatchObject({ runId: run.id, sequence: 1n });
});

test("a check that is broken off by a short log settles the results of other runs once", async ({ store }) => {
  let attempts = 0;
  const { batchWriter, durable, shortLogs } = openBatchWriter(store.connections, async () => {
    attempts += 1;
    if (attempts === 1) {
      throw new Error("Connection terminated");
    }
  });
  const [kept, short] = await addRuns(store, await addReplica(store.db), 2);
  const queues = [kept, short].map((run) => openQueue(run ?? expect.unreachable()));
  const write = async (number: number): Promise<(string | undefined)[]> => {
    for (const queue of queues) {
      queue.push(turn(number));
      batchWriter.submit(queue);
    }
    return await reasonsOf(queues);
  };
  expect(await write(1)).toEqual([undefined, undefined]);
  await sql`delete from run_result where run_id = ${short?.id}`.execute(store.db);
  // Written by a statement whose answer was lost with its connection.
  await sql`insert into run_result (run_id, sequence, epoch, payload)
    select run_id, 2, epoch, payload from run_result where run_id = ${kept?.id}`.execute(store.db);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'runnel test batchWriter' and datname = current_database()`.execute(store.db);
  expect(await write(2)).toEqual([undefined, "RUN_LOST"]);
  expect(shortLogs).toEqual([short?.id]);
  expect(durable.get(kept?.id ?? "")?.map(({ sequence }) => sequence)).toEqual([1, 2]);
});
