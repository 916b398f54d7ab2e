// Maintenance of the store: what it finds wrong is told, also when the pass cannot go on because of it.

import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { newUuid } from "../../src/base/ids.ts";
import { Maintenance, type MaintenanceOptions } from "../../src/runlog/maintain.ts";
import { withMaintenanceLock } from "../../src/storage/maintenance-lock.ts";
import { createPartitions } from "../../src/storage/partition.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { addRun, addSession, LocalWakeup, openStore, plant, silentEvents } from "./store.ts";

const settings = {
  wakeup: new LocalWakeup(),
  sessionTtlMinutes: 30,
  retentionDays: 7,
  runTimeoutMs: 1_000,
  removeWorkDir: async () => {},
};

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
    ...settings,
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
  const maintenance = new Maintenance({ db, clock, events, ...settings });
  onTestFinished(() => maintenance.close());
  await maintenance.open();
  expect(errors).toEqual([]);
  await plant(db, newUuid(clock.nowMs()), 1, [1]);
  expect(await db.selectFrom("run_result").select("sequence").execute()).toHaveLength(1);
});

/** Resolves once every part of the upkeep has had its turn. */
async function maintainOnce(options: Partial<MaintenanceOptions> & Pick<MaintenanceOptions, "db">): Promise<void> {
  const clock = createManualClock({ nowMs: systemClock.nowMs() });
  const maintenance = new Maintenance({ ...settings, events: silentEvents, clock, ...options });
  await maintenance.open();
  await clock.slept(1);
  await maintenance.close();
}

test("a part that fails keeps no other part from its work", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  await sql`update session set create_time = now() - interval '1 day'`.execute(db);
  await sql`alter table client_usage rename to gone`.execute(db);
  await plant(db, (await addRun(db)).id, 1, [1]);
  const failed: string[] = [];
  const expired: number[] = [];
  await maintainOnce({
    db,
    events: {
      ...silentEvents,
      maintenanceFailed: ({ part }) => failed.push(part),
      sessionsExpired: ({ sessions }) => expired.push(sessions),
    },
  });
  expect(failed).toEqual(["partitions", "answers"]);
  expect(expired).toEqual([1]);
  const { rows } = await sql`select from session where id = ${session} and delete_time is not null`.execute(db);
  expect(rows).toHaveLength(1);
});

test("what goes is told, and those who wait for a session that goes are woken", async () => {
  const { db } = await openStore();
  const dayMs = 86_400_000;
  const nowMs = systemClock.nowMs();
  await createPartitions(db, { nowMs: nowMs - 20 * dayMs, daysAhead: 0 });
  const idle = await addSession(db);
  await sql`update session set create_time = now() - interval '1 day'`.execute(db);
  const old = await addRun(db);
  await sql`update session set delete_time = now() - interval '8 days' where id = ${old.session}`.execute(db);
  await sql`update run set status = 'failed', end_time = now() - interval '8 days'`.execute(db);
  const told: unknown[] = [];
  const wakeup = new LocalWakeup();
  const removed: string[] = [];
  await maintainOnce({
    db,
    wakeup,
    removeWorkDir: async ({ id }) => void removed.push(id),
    events: {
      ...silentEvents,
      sessionsExpired: (fields) => told.push(fields),
      sessionsErased: (fields) => told.push(fields),
      partitionsDropped: (fields) => told.push(fields),
    },
  });
  const day = new Date(nowMs - 20 * dayMs).toISOString().slice(0, 10).replaceAll("-", "");
  expect(told).toEqual([{ sessions: 1 }, { names: [`run_result_${day}`] }, { sessions: 1, runs: 1 }]);
  expect(wakeup.published).toEqual([{ topic: "session", key: idle, value: 0 }]);
  expect(removed).toEqual([old.session]);
  expect(await db.selectFrom("session").select("id").execute()).toEqual([{ id: idle }]);
});

test("a directory that cannot be removed is told of and keeps no row from going", async () => {
  const { db } = await openStore();
  await addSession(db);
  await sql`update session set delete_time = now() - interval '8 days'`.execute(db);
  const failed: string[] = [];
  await maintainOnce({
    db,
    removeWorkDir: async () => {
      throw new Error("a busy device");
    },
    events: { ...silentEvents, maintenanceFailed: ({ part }) => failed.push(part) },
  });
  expect(failed).toEqual(["work directories"]);
  expect(await db.selectFrom("session").select("id").execute()).toEqual([]);
});

test("sessions have their turn each minute, what is kept for days every ten", async () => {
  const { db } = await openStore();
  const clock = createManualClock({ nowMs: systemClock.nowMs() });
  const dropped: number[] = [];
  const expired: number[] = [];
  const maintenance = new Maintenance({
    ...settings,
    db,
    clock,
    events: {
      ...silentEvents,
      sessionsExpired: ({ sessions }) => expired.push(sessions),
      sessionsErased: ({ sessions }) => dropped.push(sessions),
    },
  });
  await maintenance.open();
  onTestFinished(() => maintenance.close());
  for (let minute = 1; minute <= 11; minute++) {
    await clock.slept(minute);
    await addSession(db);
    await sql`update session set create_time = now() - interval '1 day'`.execute(db);
    await sql`update session set delete_time = now() - interval '8 days' where delete_time is not null`.execute(db);
    clock.advance(60_000);
  }
  await clock.slept(12);
  expect(expired).toHaveLength(11);
  expect(dropped).toHaveLength(1);
});
