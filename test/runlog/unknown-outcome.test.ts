// The connection breaks after Postgres executed a statement and before its answer arrived. Nothing is lost, and nothing is
// written twice.

import { fromBinary } from "@bufbuild/protobuf";
import { test as base, expect, onTestFinished } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { ResultLog } from "../../src/engine/log/log.ts";
import type { RunWriter } from "../../src/engine/log/writer.ts";
import { applyEffects } from "../../src/engine/runs/effects.ts";
import { type RunRow, requeueRun } from "../../src/engine/storage/run.ts";
import { readResults } from "../../src/engine/storage/run-result.ts";
import { readTranscript } from "../../src/engine/storage/transcript.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { type CuttingProxy, openCuttingProxy } from "../harness/cutting-proxy.ts";
import { until } from "../harness/wait.ts";
import { plainChainValue } from "../receipts/plain-chain.ts";
import { addReplica, addRun, connect, LocalWakeup, newChain, openStore, readLog, type Store, turn } from "./store.ts";

const test = base.extend("stage", () => openStage());

interface Stage {
  readonly store: Store;
  readonly proxy: CuttingProxy;
  readonly log: ResultLog;
  readonly run: RunRow;
  readonly writer: RunWriter;
  readonly wakeup: LocalWakeup;
}

async function openStage(): Promise<Stage> {
  const store = await openStore();
  const proxy = await openCuttingProxy(store.url);
  const { connections } = connect(proxy.url);
  const wakeup = new LocalWakeup();
  const log = new ResultLog({
    connections,
    clock: systemClock,
    broadcaster: new Broadcaster(),
    wakeup,
    onLeaseLost: () => {},
    onError: () => {},
  });
  onTestFinished(() => log.close());
  const run = await addRun(store.db, { owner: await addReplica(store.db) });
  const writer = log.open({
    runId: run.id,
    epoch: run.epoch,
    replicaId: run.owner ?? "",
    chain: newChain(run.id),
    onLost: () => {},
  });
  return { store, proxy, log, run, writer, wakeup };
}

test("a batch whose answer was cut off is in the log once, and later results follow it", async () => {
  const { store, proxy, run, writer } = await openStage();
  proxy.cutAnswerTo("insert results under fence");
  for (let number = 1; number <= 30; number++) {
    await writer.append(turn(number));
    if (number === 10) {
      await until("the cut", () => proxy.cuts === 1);
    }
  }
  await writer.flush();
  expect(await readLog(store.db, run.id)).toEqual(Array.from({ length: 30 }, (_, index) => [index + 1, index + 1]));
  expect(await chainValueOf(writer)).toEqual(await storedChainValue(store, run.id));
});

test("readers get a wake-up for a batch whose answer was cut off", async () => {
  const { proxy, run, writer, wakeup } = await openStage();
  proxy.cutAnswerTo("insert results under fence");
  await writer.append(turn(1));
  await writer.flush();
  expect(proxy.cuts).toBe(1);
  expect(wakeup.published).toEqual([{ topic: "result", key: run.id, value: 1 }]);
});

test("a commit whose answer was cut off has its results and its effects once", async () => {
  const { store, proxy, run, writer } = await openStage();
  await writer.append(turn(1));
  await writer.flush();
  proxy.cutAnswerTo("commit");
  await writer.commit([turn(2), turn(3)], (trx) => commitTurn(trx, run.id));
  expect(proxy.cuts).toBe(1);
  await writer.append(turn(4));
  await writer.flush();
  expect((await readLog(store.db, run.id)).map(([sequence]) => sequence)).toEqual([1, 2, 3, 4]);
  expect(await chainValueOf(writer)).toEqual(await storedChainValue(store, run.id));
  const { turn: turns } = await store.db
    .selectFrom("run")
    .select("turn")
    .where("id", "=", run.id)
    .executeTakeFirstOrThrow();
  expect(turns).toBe(1);
});

test("a commit that was cut off before it reached Postgres is repeated", async () => {
  const { store, proxy, run, writer } = await openStage();
  proxy.cutAnswerTo("begin");
  await writer.commit([turn(1)], (trx) => commitTurn(trx, run.id));
  expect(proxy.cuts).toBe(1);
  expect(await readLog(store.db, run.id)).toEqual([[1, 1]]);
});

test("a commit of messages alone adds them to the transcript once", async () => {
  const { store, proxy, run, writer } = await openStage();
  const target = { runId: run.id, session: run.session, transcriptLength: 0 };
  const transcript = [fromBinary(MessageSchema, run.input)];
  proxy.cutAnswerTo("commit");
  await writer.commit([], (trx, sequences) => applyEffects(trx, target, { transcript }, sequences));
  expect(proxy.cuts).toBe(1);
  expect((await readTranscript(store.db, { session: run.session, newestMax: 10 })).messages).toHaveLength(1);
});

test("messages never overwrite those of another run", async ({ stage: { store, run, writer } }) => {
  const target = { runId: run.id, session: run.session, transcriptLength: 0 };
  const transcript = [fromBinary(MessageSchema, run.input)];
  await writer.commit([], (trx, sequences) => applyEffects(trx, target, { transcript }, sequences));
  await store.db.updateTable("transcript").set({ run_id: run.session }).execute();
  const again = writer.commit([], (trx, sequences) => applyEffects(trx, target, { transcript }, sequences));
  await expect(again).rejects.toThrow(/another run/);
});

test("a commit of a run that was lost leaves no trace", async ({ stage: { store, run, writer } }) => {
  await store.db.transaction().execute((trx) => requeueRun(trx, { id: run.id, takeover: true }));
  const lost = writer.commit([turn(1)], (trx) => commitTurn(trx, run.id));
  await expect(lost).rejects.toMatchObject({ reason: "RUN_LOST" });
  expect(await readLog(store.db, run.id)).toEqual([]);
  expect(() => writer.append(turn(2))).toThrow(expect.objectContaining({ reason: "RUN_LOST" }));
});

test("effects that fail undo their results, and the sequences are used again", async () => {
  const { store, run, writer } = await openStage();
  const failed = writer.commit([turn(1)], async () => {
    throw new TypeError("a defect");
  });
  await expect(failed).rejects.toThrow("a defect");
  await writer.append(turn(2));
  await writer.flush();
  expect(await readLog(store.db, run.id)).toEqual([[1, 2]]);
  expect(await chainValueOf(writer)).toEqual(await storedChainValue(store, run.id));
});

test("a run that is given up stops waiting for an unreachable database", async ({ stage: { store, log, run } }) => {
  const away = connect("postgres://nobody@127.0.0.1:9/nothing");
  const errors: unknown[] = [];
  const waitingLog = new ResultLog({
    connections: away.connections,
    clock: systemClock,
    broadcaster: new Broadcaster(),
    wakeup: new LocalWakeup(),
    onLeaseLost: () => {},
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => waitingLog.close());
  const writer = waitingLog.open({
    runId: run.id,
    epoch: run.epoch,
    replicaId: run.owner ?? "",
    chain: newChain(run.id),
    onLost: () => {},
  });
  const committed = Promise.allSettled([writer.commit([turn(1)], async () => {})]);
  await until("a try", () => errors.length > 0);
  writer.abandon();
  expect(await committed).toMatchObject([{ status: "rejected", reason: { reason: "LEASE_LOST" } }]);
  expect(await readLog(store.db, run.id)).toEqual([]);
  await log.close();
});

/** The chain as the last transaction of the run would find it. */
async function chainValueOf(writer: RunWriter): Promise<Uint8Array> {
  return await writer.transact(async (_trx, _run, chain) => chain.value);
}

async function storedChainValue({ db }: Store, runId: string): Promise<Uint8Array> {
  const rows = await readResults(db, { runId, after: 0, limit: 1_000 });
  return plainChainValue(
    runId,
    rows.map(({ payload }) => payload),
  );
}

async function commitTurn(trx: Parameters<typeof requeueRun>[0], runId: string): Promise<void> {
  await trx
    .updateTable("run")
    .set(({ eb }) => ({ turn: eb("turn", "+", 1) }))
    .where("id", "=", runId)
    .execute();
}
