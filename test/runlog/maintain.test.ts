// Maintenance of the store: it reports problems, also when a problem ends the pass.

import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import { retention } from "../../src/app/protocols.ts";
import { Maintenance, type MaintenanceOptions } from "../../src/engine/log/maintain.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { withMaintenanceLock } from "../../src/platform/database/maintenance-lock.ts";
import { createPartitions, dropPartitionsBefore } from "../../src/platform/database/partition.ts";
import { insertCommunication, listCommunications } from "../../src/protocols/community/storage/communication.ts";
import { insertJob } from "../../src/protocols/jobspec/storage/job.ts";
import { deleteSurplusRefusals, insertTrustEvent } from "../../src/protocols/jobspec/storage/trust-event.ts";
import { test } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { addRun, addSession, LocalWakeup, openStore, plant, silentEvents } from "./store.ts";

const settings = {
  wakeup: new LocalWakeup(),
  sessionTtlMinutes: 30,
  retentionDays: 7,
  runTimeoutMs: 1_000,
  removeWorkDir: async () => {},
  retention,
};

test("results without a partition of their own are reported, although they prevent its creation", async () => {
  const { db } = await openStore();
  await dropPartitionsBefore(db, Number.MAX_SAFE_INTEGER);
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

test("a second concurrent pass does not run, and a failed pass does not block the next one", async () => {
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

test("a pass needs only one connection", async () => {
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

/** Resolves once every part of the maintenance has run once. */
async function maintainOnce(options: Partial<MaintenanceOptions> & Pick<MaintenanceOptions, "db">): Promise<void> {
  const clock = createManualClock({ nowMs: systemClock.nowMs() });
  const maintenance = new Maintenance({ ...settings, events: silentEvents, clock, ...options });
  await maintenance.open();
  await clock.slept(1);
  await maintenance.close();
}

test("a part that fails does not stop the other parts", async ({ store: { db } }) => {
  const session = await addSession(db);
  await sql`update session set create_time = now() - interval '1 day'`.execute(db);
  await sql`alter table client_usage rename to gone`.execute(db);
  await dropPartitionsBefore(db, Number.MAX_SAFE_INTEGER);
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

test("deletions are reported, and readers that wait for an expired session are woken", async ({ store: { db } }) => {
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

test("a directory that cannot be removed is reported, and its rows are still deleted", async ({ store: { db } }) => {
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

test("sessions are checked each minute, data that is kept for days every ten minutes", async ({ store: { db } }) => {
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

test("a pass looks at 10,000 old sessions in use, and the next one goes on after them", async () => {
  const { db } = await openStore({ own: true });
  const { session } = await addRun(db);
  await sql`update session set create_time = now() - interval '3 days'`.execute(db);
  // Each has the run that is active.
  await sql`
    insert into session (id, client, name, agent, latest_run_id, create_time)
    select gen_random_uuid(), client, name || number, agent, latest_run_id, create_time + interval '1 day'
    from session cross join generate_series(1, 10200) as number where id = ${session}`.execute(db);
  // As a service does when its tables have grown.
  await sql`analyze session`.execute(db);
  const idle = await addSession(db);
  await sql`update session set create_time = now() - interval '1 day' where id = ${idle}`.execute(db);
  const clock = createManualClock({ nowMs: systemClock.nowMs() });
  const expired: number[] = [];
  const events = { ...silentEvents, sessionsExpired: ({ sessions }: { sessions: number }) => expired.push(sessions) };
  const maintenance = new Maintenance({ ...settings, db, clock, events });
  await maintenance.open();
  onTestFinished(() => maintenance.close());
  await clock.slept(1);
  expect(expired).toEqual([]);
  clock.advance(60_000);
  await clock.slept(2);
  expect(expired).toEqual([1]);
});

const anyJob = {
  client: "key/ada",
  document: Buffer.alloc(0),
  client_job_id: "",
  jobspec_id: "",
  version: "1.0",
  benchmark: "who",
  signature_version: 1,
  public_key: Buffer.alloc(32),
  key_id: "k",
  canonical_sha256: Buffer.alloc(32),
  canonical_len: 2,
  min_regions: 1,
  min_success_rate: 1,
  total_regions: 1,
  successes_min: 1,
};

test("old job nonces, old jobs without runs, and old trust events are deleted", async ({ store: { db } }) => {
  const nowMs = systemClock.nowMs();
  const minuteMs = 60_000;
  const dayMs = 1_440 * minuteMs;
  for (const [nonce, ageMs] of [
    ["old", 21 * minuteMs],
    ["new", 19 * minuteMs],
  ] as const) {
    await sql`insert into job_nonce (public_key, nonce, create_time)
      values ('\\x01', ${nonce}, now() - ${ageMs} * interval '1 millisecond')`.execute(db);
  }
  const oldMs = nowMs - settings.retentionDays * dayMs - minuteMs;
  const ids = { old: newUuid(oldMs), kept: newUuid(oldMs), new: newUuid(oldMs + 2 * minuteMs) };
  for (const id of Object.values(ids)) {
    await db.transaction().execute((trx) => insertJob(trx, { ...anyJob, id }));
  }
  const session = await addSession(db);
  await sql`update session set job = ${ids.kept} where id = ${session}`.execute(db);
  const events = { old: newUuid(nowMs - 90 * dayMs - minuteMs), new: newUuid(nowMs - 90 * dayMs + minuteMs) };
  for (const id of Object.values(events)) {
    await insertTrustEvent(db, { id, type: "key.created", actor: "admin" });
  }
  await maintainOnce({ db });
  expect(await db.selectFrom("job_nonce").select("nonce").execute()).toEqual([{ nonce: "new" }]);
  const jobs = await db.selectFrom("job").select("id").execute();
  expect(jobs.map(({ id }) => id).toSorted()).toEqual([ids.kept, ids.new].toSorted());
  expect(await db.selectFrom("trust_event").select("id").execute()).toEqual([{ id: events.new }]);
});

test("of refused JobSpecs the newest are kept, and no event of a key is deleted for them", async () => {
  const { db } = await openStore();
  const types = ["jobspec.refused", "key.created", "jobspec.refused", "jobspec.refused", "jobspec.refused"] as const;
  const ids = types.map((_, at) => newUuid(1_000 + at));
  for (const [at, type] of types.entries()) {
    await insertTrustEvent(db, { id: ids[at] ?? "", type, actor: "ada" });
  }
  expect(await deleteSurplusRefusals(db, { kept: 5, limit: 10 })).toBe(0);
  expect(await deleteSurplusRefusals(db, { kept: 2, limit: 1 })).toBe(1);
  expect(await deleteSurplusRefusals(db, { kept: 2, limit: 10 })).toBe(1);
  const kept = await db.selectFrom("trust_event").select("id").orderBy("id").execute();
  expect(kept.map(({ id }) => id)).toEqual([ids[1], ids[3], ids[4]]);
});

test("entries of the communication log are deleted after 14 days", async ({ store: { db } }) => {
  const nowMs = systemClock.nowMs();
  const dayMs = 86_400_000;
  const add = async (daysOld: number) => {
    const createdMs = Math.floor(nowMs - daysOld * dayMs);
    const id = newUuid(createdMs);
    const stamp = { instanceId: "i", port: "1", pid: 1 } as const;
    const said = { agentId: "a", direction: "agent_to_runner", actionTypes: [], content: "c" } as const;
    await db.transaction().execute((trx) => insertCommunication(trx, { id, createdMs, ...stamp, ...said }));
    return id;
  };
  const [old, kept, fresh] = [await add(14.1), await add(13.9), await add(0)];
  const maintenance = new Maintenance({ db, clock: createManualClock({ nowMs }), events: silentEvents, ...settings });
  onTestFinished(() => maintenance.close());
  await maintenance.open();
  const listed = async () => {
    const { rows } = await listCommunications(db, { agentId: "a", before: undefined, limit: 10 });
    return rows.map(({ id }) => id);
  };
  await until("the old entry to go", async () => !(await listed()).includes(old));
  expect(await listed()).toEqual([fresh, kept]);
});
