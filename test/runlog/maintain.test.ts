// Maintenance of the store: what it finds wrong is told, also when the pass cannot go on because of it.

import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { newUuid } from "../../src/base/ids.ts";
import { Maintenance } from "../../src/runlog/maintain.ts";
import { withMaintenanceLock } from "../../src/storage/maintenance-lock.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { addRun, openStore, plant, silentEvents } from "./store.ts";

test("results that have no partition of their own are told of, although they keep theirs from being made", async () => {
  const { db } = await openStore();
  await plant(db, (await addRun(db)).id, 1, [1, 2]);
  const missed: number[] = [];
  const failed: string[] = [];
  const maintenance = new Maintenance({
    db,
    clock: createManualClock({ nowMs: systemClock.nowMs() }),
    events: {
      ...silentEvents,
      partitionMissed: ({ rows }) => missed.push(rows),
      maintenanceFailed: ({ part }) => failed.push(part),
    },
    retentionDays: 7,
    runTimeoutMs: 1_000,
  });
  onTestFinished(() => maintenance.close());
  await maintenance.open();
  expect(missed).toEqual([2]);
  expect(failed).toEqual(["partitions"]);
});

test("one pass at a time: the second does not run, and a pass that failed does not keep the next one out", async () => {
  const { db } = await openStore();
  const passes: string[] = [];
  await withMaintenanceLock(db, async () => {
    passes.push("first");
    expect(await withMaintenanceLock(db, async () => void passes.push("beside"))).toBe(false);
  });
  const failing = withMaintenanceLock(db, async () => {
    throw new Error("a defect");
  });
  await expect(failing).rejects.toThrow("a defect");
  expect(await withMaintenanceLock(db, async () => void passes.push("after"))).toBe(true);
  expect(passes).toEqual(["first", "after"]);
});

test("a pass makes do with a pool of one connection", async () => {
  const { db } = await openStore({ poolSize: 1 });
  const errors: unknown[] = [];
  const events = { ...silentEvents, maintenanceFailed: ({ error }: { error: unknown }) => errors.push(error) };
  const clock = createManualClock({ nowMs: systemClock.nowMs() });
  const maintenance = new Maintenance({ db, clock, events, retentionDays: 7, runTimeoutMs: 1_000 });
  onTestFinished(() => maintenance.close());
  await maintenance.open();
  expect(errors).toEqual([]);
  await plant(db, newUuid(clock.nowMs()), 1, [1]);
  expect(await db.selectFrom("run_result").select("sequence").execute()).toHaveLength(1);
});
