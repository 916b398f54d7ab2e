// The lease of a replica: renewed while the database answers, lost for good when the database is silent or another replica
// took it.

import { expect, onTestFinished } from "vitest";
import { Lease } from "../../src/engine/runs/lease.ts";
import { takeExpiredReplica } from "../../src/engine/storage/replica.ts";
import { lockOwnRun } from "../../src/engine/storage/run.ts";
import { createFindDue } from "../../src/engine/storage/run-due.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { type ClockReading, SyncedClock } from "../../src/platform/base/synced-clock.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { test } from "../fixtures.ts";
import { limitedUser, query, testDatabase } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { addReplica, addRun, connect, endLease, openStore, silentEvents } from "../runlog/store.ts";

function createLease(db: Db, leaseMs: number): { lease: Lease; lost: string[] } {
  const lost: string[] = [];
  const lease = new Lease({ db, clock: systemClock, events: silentEvents, leaseMs, onLost: (id) => lost.push(id) });
  onTestFinished(() => lease.close());
  return { lease, lost };
}

async function leaseEnd(db: Db, id: string): Promise<number> {
  const row = await db.selectFrom("replica").select("lease_until").where("id", "=", id).executeTakeFirst();
  return row?.lease_until.getTime() ?? 0;
}

test("a lease is renewed under the same id and given back at the end", async ({ store: { db } }) => {
  const { lease, lost } = createLease(db, 600);
  await lease.open();
  const id = lease.replicaId ?? "";
  const first = await leaseEnd(db, id);
  await until("two renewals", async () => (await leaseEnd(db, id)) > first + 400);
  expect(lost).toEqual([]);
  await lease.close();
  expect(lease.replicaId).toBeUndefined();
  expect(await db.selectFrom("replica").select("id").execute()).toEqual([]);
});

// The clock of the machine is set while the replica works.
test("a clock that jumps is corrected by the next renewal", async ({ store: { db } }) => {
  let jumpMs = 0;
  const clock = new SyncedClock({ ...systemClock, nowMs: () => systemClock.nowMs() + jumpMs });
  const onTime = (reading: ClockReading): void => void clock.sync(reading);
  const lease = new Lease({ db, clock, events: silentEvents, leaseMs: 600, onLost: () => {}, onTime });
  onTestFinished(() => lease.close());
  await lease.open();
  const errorMs = (): number => Math.abs(clock.nowMs() - systemClock.nowMs());
  for (const minutes of [5, -10]) {
    jumpMs = minutes * 60_000;
    expect(errorMs()).toBeGreaterThan(4 * 60_000);
    await until("the clock to be set right", () => errorMs() < 30_000);
  }
});

test("a lease that was taken over is lost once, and the replica continues under a new id", async () => {
  const { db } = await openStore();
  const { lease, lost } = createLease(db, 600);
  await lease.open();
  const id = lease.replicaId ?? "";
  await db.deleteFrom("replica").where("id", "=", id).execute();
  const next = await until("a new id", () => lease.replicaId !== id && lease.replicaId);
  expect(lost).toEqual([id]);
  expect(await leaseEnd(db, next)).toBeGreaterThan(0);
});

test("a replica that gets no answer from the database for too long gives up its runs", async ({ store }) => {
  const { connections, db } = connect(store.url);
  const { lease, lost } = createLease(db, 300);
  await lease.open();
  const id = lease.replicaId ?? "";
  await connections.close();
  await until("the loss", () => lost.length > 0);
  expect(lost).toEqual([id]);
  expect(lease.replicaId).toBeUndefined();
});

test("a lease whose renewal the database refuses is not held until a renewal succeeds", async () => {
  const url = await testDatabase();
  const user = await limitedUser(url, 10);
  const { db } = connect(user.url);
  const { lease, lost } = createLease(db, 6_000);
  await lease.open();
  expect(lease.whyNotHeld()).toBeNull();
  // The setting applies to new connections only.
  const setRole = async (what: string): Promise<void> => {
    await query(url, `alter role ${user.name} ${what}`);
    await query(url, "select pg_terminate_backend(pid) from pg_stat_activity where usename = $1", [user.name]);
  };
  await setRole("set default_transaction_read_only = on");
  await until("the refusal", () => lease.whyNotHeld() === "the database takes no writes");
  await setRole("reset default_transaction_read_only");
  await until("a renewal", () => lease.whyNotHeld() === null);
  expect(lost).toEqual([]);
});

test("a refused write loses the lease it was made under, and no other", async ({ store: { db } }) => {
  const { lease, lost } = createLease(db, 60_000);
  await lease.open();
  lease.lose(await addReplica(db), "a write was refused");
  expect(lost).toEqual([]);
  const id = lease.replicaId ?? "";
  lease.lose(id, "a write was refused");
  lease.lose(id, "a write was refused");
  expect(lost).toEqual([id]);
});

test("a replica that is writing is not taken over, and one that was taken over cannot write", async () => {
  const { db } = await openStore();
  const id = await addReplica(db);
  const own = { id: (await addRun(db, { owner: id })).id, replicaId: id };
  const { serverStart } = await createFindDue(db, { marginMs: 0 })();
  await db.transaction().execute(async (writing) => {
    expect(await lockOwnRun(writing, own)).toMatchObject({ id: own.id, is_held: true });
    // As another replica sees it: the lease expires while the write is under way.
    await db.transaction().execute(async (taking) => {
      await taking
        .updateTable("replica")
        .set({ lease_until: new Date(0) })
        .where("id", "=", id)
        .execute();
      expect(await takeExpiredReplica(taking, serverStart)).toBeUndefined();
    });
  });
  await endLease(db, id);
  const take = (start: string) => db.transaction().execute((taking) => takeExpiredReplica(taking, start));
  expect(await take("of a server before this one")).toBeUndefined();
  expect(await take(serverStart)).toBe(id);
  expect(await db.transaction().execute((trx) => lockOwnRun(trx, own))).toMatchObject({ is_held: false });
});
