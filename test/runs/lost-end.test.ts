// Runs whose end was acknowledged and that the database has as running.

import { expect, test } from "vitest";
import { encodeResult, type LogEntry } from "../../src/engine/log/result.ts";
import { failLostEnd } from "../../src/engine/runs/lost-end.ts";
import { findRun, requeueRun } from "../../src/engine/storage/run.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { until } from "../harness/wait.ts";
import { addReplica, addRun, LocalWakeup, openStore, plant, readLog, silentEvents } from "../runlog/store.ts";
import { openLog, openReplica, reached } from "./stage.ts";

async function openStage() {
  const store = await openStore();
  const wakeup = new LocalWakeup();
  const log = openLog(store, wakeup, systemClock, () => {});
  const run = await addRun(store.db, { owner: await addReplica(store.db) });
  const reports: string[] = [];
  const events = {
    ...silentEvents,
    resultsLost: ({ acknowledged, found }: { acknowledged: number; found: number }) =>
      void reports.push(`${found} of ${acknowledged}`),
    runUnreadable: () => void reports.push("unreadable"),
  };
  const deps = { db: store.db, log, wakeup, clock: systemClock, events };
  const acknowledge = (sequence: number): void => log.announce(run.id, [end(run.id, sequence)]);
  return { store, run, reports, deps, acknowledge };
}

function end(runId: string, sequence: number): LogEntry {
  const payload = { case: "runCompleted", value: { finishReason: "stop", turns: 1 } } as const;
  return encodeResult({ payload }, { runId, sequence, timeMs: 0 });
}

test("fails with every lost result marked", async () => {
  const { store, run, reports, deps, acknowledge } = await openStage();
  acknowledge(2);
  expect(await failLostEnd(run.id, deps)).toBe(true);
  expect(await readLog(store.db, run.id)).toEqual([
    [1, "resultLost"],
    [2, "resultLost"],
    [3, "runFailed"],
  ]);
  expect(reports).toEqual(["0 of 2"]);
  expect(await findRun(store.db, run.id)).toMatchObject({ status: "failed", owner: null });
});

test("fails when it is claimed again, and no driver works on it", async () => {
  const store = await openStore();
  const worked: string[] = [];
  const { log, dispatcher, wakeup } = await openReplica(store, {
    supervise: async ({ id }) => void worked.push(id),
  });
  const run = await addRun(store.db);
  await until("the first start", () => worked.length === 1);
  log.announce(run.id, [end(run.id, 1)]);
  // A reaper that met the promoted standby first took the run over.
  await store.db.transaction().execute((trx) => requeueRun(trx, { id: run.id, takeover: true }));
  wakeup.publish({ topic: "queue", key: "", value: 0 });
  await reached(store, run.id, "failed");
  expect(await readLog(store.db, run.id)).toEqual([
    [1, "resultLost"],
    [2, "runFailed"],
  ]);
  await until("the slot to be free", () => dispatcher.activeCount === 0);
  expect(worked).toEqual([run.id]);
});

test("fails also when its rows cannot be read, so that it stops nothing else", async () => {
  const { store, run, reports, deps, acknowledge } = await openStage();
  await plant(store.db, run.id, 1, [1]);
  acknowledge(2);
  expect(await failLostEnd(run.id, deps)).toBe(true);
  expect(await findRun(store.db, run.id)).toMatchObject({ status: "failed", owner: null, last_sequence: 3 });
  expect(reports).toEqual(["unreadable", "1 of 2"]);
});

test("leaves a run alone whose end this process did not announce", async () => {
  const { store, run, deps } = await openStage();
  expect(await failLostEnd(run.id, deps)).toBe(false);
  expect((await findRun(store.db, run.id))?.status).toBe("running");
  expect(await readLog(store.db, run.id)).toEqual([]);
});
