// A database that has lost acknowledged results, as a promoted standby may have. The results are deleted here; a real standby is in
// fault/database/promoted-standby.

import { test as base, expect, onTestFinished } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { ResultLog } from "../../src/engine/log/log.ts";
import type { RunWriter } from "../../src/engine/log/writer.ts";
import { completeRun } from "../../src/engine/runs/terminal.ts";
import { findRun } from "../../src/engine/storage/run.ts";
import type { StartedRun } from "../../src/engine/storage/run-start.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { EventFields } from "../../src/platform/telemetry/events.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import {
  addReplica,
  addRun,
  connect,
  LocalWakeup,
  newChain,
  openStore,
  readLog,
  type Store,
  silentEvents,
  turn,
} from "./store.ts";

const test = base.extend("stage", () => openStage());

interface Stage {
  readonly store: Store;
  readonly run: StartedRun;
  readonly writer: RunWriter;
  readonly reports: EventFields<"resultsLost">[];
  readonly faults: string[];
  /** Cuts all connections of the log. */
  cut(): void;
}

/** A run with three acknowledged results. */
async function openStage({ seen = 0 } = {}): Promise<Stage> {
  const store = await openStore();
  const proxy = await openCuttingProxy(store.url);
  const { connections } = connect(proxy.url);
  const reports: EventFields<"resultsLost">[] = [];
  const faults: string[] = [];
  const broadcaster = new Broadcaster();
  const log = new ResultLog({
    connections,
    clock: systemClock,
    broadcaster,
    wakeup: new LocalWakeup(),
    onLeaseLost: () => {},
    onError: () => {},
    events: { ...silentEvents, resultsLost: (fields) => void reports.push(fields) },
  });
  onTestFinished(() => log.close());
  const run = await addRun(store.db, { owner: await addReplica(store.db) });
  if (seen > 0) {
    const subscription = broadcaster.subscribe(run.id);
    subscription.seen(seen);
    onTestFinished(() => subscription[Symbol.dispose]());
  }
  const writer = log.open({
    runId: run.id,
    epoch: run.epoch,
    replicaId: run.owner ?? "",
    chain: newChain(run.id),
    onLost: ({ reason }) => faults.push(reason),
  });
  const cut = (): void => {
    proxy.breakDown();
    proxy.mend();
  };
  return { store, run, writer, reports, faults, cut };
}

async function writeThree({ writer }: Stage): Promise<void> {
  for (const number of [1, 2, 3]) {
    await writer.append(turn(number));
  }
  await writer.flush();
}

async function loseAfter({ store, run }: Stage, sequence: number): Promise<void> {
  await store.db.deleteFrom("run_result").where("run_id", "=", run.id).where("sequence", ">", sequence).execute();
}

async function expectMarked(stage: Stage, { kept, lost }: { kept: number; lost: number }): Promise<void> {
  const { store, run, reports, faults } = stage;
  const log = await readLog(store.db, run.id);
  expect(log).toEqual([
    ...Array.from({ length: kept }, (_, index) => [index + 1, index + 1]),
    ...Array.from({ length: lost }, (_, index) => [kept + index + 1, "resultLost"]),
  ]);
  expect(reports).toEqual([{ runId: run.id, acknowledged: kept + lost, found: kept }]);
  expect(faults).toEqual(["RUN_LOST"]);
  // A reaper takes it: no replica has the id of its owner.
  const { status, owner } = (await findRun(store.db, run.id)) ?? {};
  expect({ status, isOwned: owner === run.owner }).toEqual({ status: "running", isOwned: false });
}

test("a batchWriter with a new connection marks what its log lacks, and writes nothing behind the gap", async ({
  stage,
}) => {
  await writeThree(stage);
  await loseAfter(stage, 1);
  stage.cut();
  await stage.writer.append(turn(4));
  await expect(stage.writer.flush()).rejects.toMatchObject({ reason: "RUN_LOST" });
  await expectMarked(stage, { kept: 1, lost: 2 });
});

test("a batchWriter with a new connection writes on where nothing is lost", async ({ stage }) => {
  await writeThree(stage);
  stage.cut();
  await stage.writer.append(turn(4));
  await stage.writer.flush();
  expect((await readLog(stage.store.db, stage.run.id)).map(([sequence]) => sequence)).toEqual([1, 2, 3, 4]);
  expect(stage.reports).toEqual([]);
});

test("a commit marks what its log lacks, and has no effects", async ({ stage }) => {
  await writeThree(stage);
  await loseAfter(stage, 0);
  const effects = async (): Promise<void> => {
    stage.faults.push("an effect");
  };
  await expect(stage.writer.commit([turn(4)], effects)).rejects.toMatchObject({ reason: "RUN_LOST" });
  await expectMarked(stage, { kept: 0, lost: 3 });
});

test("the end of a run is not written behind a gap", async ({ stage }) => {
  await writeThree(stage);
  await loseAfter(stage, 2);
  const end = { kind: "completed", finishReason: "stop", message: undefined, turns: 1 } as const;
  const { run, writer, store } = stage;
  expect(await completeRun(store.db, writer, { run, end, transcriptLength: 1, durationMs: 1 })).toBeUndefined();
  await expect(writer.transact(async () => {})).rejects.toMatchObject({ reason: "RUN_LOST" });
  await expectMarked(stage, { kept: 2, lost: 1 });
});

test("a new owner marks what readers of its process have seen and the log lacks", async () => {
  const stage = await openStage({ seen: 2 });
  await stage.writer.append(turn(1));
  await expect(stage.writer.flush()).rejects.toMatchObject({ reason: "RUN_LOST" });
  await expectMarked(stage, { kept: 0, lost: 2 });
});

test("a run that the database does not have is reported and lost", async ({ stage }) => {
  await writeThree(stage);
  await loseAfter(stage, 0);
  await stage.store.db.deleteFrom("run").where("id", "=", stage.run.id).execute();
  stage.cut();
  await stage.writer.append(turn(4));
  await expect(stage.writer.flush()).rejects.toMatchObject({ reason: "RUN_LOST" });
  expect(stage.reports).toEqual([{ runId: stage.run.id, acknowledged: 3, found: 0 }]);
  expect(await readLog(stage.store.db, stage.run.id)).toEqual([]);
});
