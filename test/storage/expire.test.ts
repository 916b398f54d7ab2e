// Expiry of sessions, and messages that arrive at that moment.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { type ExpiredSessions, expireSessions, type SessionPlace } from "../../src/engine/storage/expire.ts";
import { insertRun } from "../../src/engine/storage/run-start.ts";
import { findSession, lockSession } from "../../src/engine/storage/session.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { ownDatabase } from "../harness/database.ts";
import { growTables } from "../harness/grown-tables.ts";
import { addRun, addSession, connect, input, openStore } from "../runlog/store.ts";
import { autovacuumOff, openReadMeter } from "./read-meter.ts";

const client = "shared/test";
const ageMs = 60_000;

async function look(db: Db, limit = 100, after?: SessionPlace): Promise<ExpiredSessions> {
  return await db.transaction().execute((trx) => expireSessions(trx, { ageMs, after, limit }));
}

async function expire(db: Db): Promise<string[]> {
  return (await look(db)).ids;
}

/** Backdates the creation of a session by two minutes. */
async function age(db: Db, session: string): Promise<void> {
  await sql`update session set create_time = now() - interval '2 minutes' where id = ${session}`.execute(db);
}

/** A session whose latest run has the status, and ended so many seconds ago. */
async function addRunOf(db: Db, status: string, endedSecondsAgo: number | null): Promise<string> {
  const { id, session } = await addRun(db);
  await sql`update run set status = ${status}, end_time = now() - ${endedSecondsAgo} * interval '1 second'
    where id = ${id}`.execute(db);
  return session;
}

test("sessions expire when they were never started or their latest run ended longer ago than the limit", async () => {
  const { db } = await openStore();
  const [idle, done, failed] = [
    await addSession(db),
    await addRunOf(db, "completed", 61),
    await addRunOf(db, "failed", 900),
  ];
  const [recent, waiting, queued] = [
    await addRunOf(db, "cancelled", 50),
    await addRunOf(db, "waiting", null),
    await addRunOf(db, "queued", null),
  ];
  for (const session of [idle, done, failed, recent, waiting, queued]) {
    await age(db, session);
  }
  const fresh = await addSession(db);
  expect((await expire(db)).toSorted()).toEqual([idle, done, failed].toSorted());
  for (const name of [recent, waiting, queued, fresh]) {
    expect(await findSession(db, { client, name })).toBeDefined();
  }
  for (const name of [idle, done, failed]) {
    expect(await findSession(db, { client, name })).toBeUndefined();
  }
  expect(await expire(db)).toEqual([]);
});

test("a look reads at most `limit` sessions, the oldest first, and the next one goes on after those that are in use", async () => {
  const { db } = await openStore();
  const [old, used, oldest] = [await addSession(db), await addRunOf(db, "waiting", null), await addSession(db)];
  await age(db, old);
  await sql`update session set create_time = now() - interval '3 minutes' where id = ${used}`.execute(db);
  await sql`update session set create_time = now() - interval '1 hour' where id = ${oldest}`.execute(db);
  const first = await look(db, 1);
  expect(first.ids).toEqual([oldest]);
  const second = await look(db, 1, first.next);
  expect(second).toMatchObject({ ids: [], next: { id: used } });
  const third = await look(db, 1, second.next);
  expect(third.ids).toEqual([old]);
  expect(await look(db, 1, third.next)).toEqual({ ids: [], next: undefined });
});

test("sessions that were created at the same time are looked at once each", async () => {
  const { db } = await openStore();
  const sessions = [await addSession(db), await addSession(db), await addSession(db)];
  await sql`update session set create_time = now() - interval '1 hour'`.execute(db);
  const gone: string[] = [];
  for (let place: SessionPlace | undefined, isFirst = true; isFirst || place !== undefined; isFirst = false) {
    const { ids, next } = await look(db, 1, place);
    gone.push(...ids);
    place = next;
  }
  expect(gone.toSorted()).toEqual(sessions.toSorted());
});

// A message has locked the session and not committed yet. The pass neither waits for it nor deletes the session.
test("a session that is being sent a message stays, and the pass does not wait", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  await age(db, session);
  const other = await addSession(db);
  await age(db, other);
  await db.transaction().execute(async (message) => {
    expect(await lockSession(message, { client, name: session })).toBeDefined();
    expect(await expire(db)).toEqual([other]);
    const run = { id: newUuid(Date.now()), client, session, driver: "test", input, timeoutMs: 1_000, owner: undefined };
    expect(await insertRun(message, run)).toBeDefined();
  });
  expect(await expire(db)).toEqual([]);
  expect(await findSession(db, { client, name: session })).toBeDefined();
});

// The other order: the pass has deleted the session and not committed yet. The message waits, and then finds no session.
test("a message that comes while its session expires finds no session", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  await age(db, session);
  let message: Promise<unknown> | undefined;
  await db.transaction().execute(async (pass) => {
    expect((await expireSessions(pass, { ageMs, limit: 1 })).ids).toEqual([session]);
    message = db.transaction().execute((trx) => lockSession(trx, { client, name: session }));
  });
  expect(await message).toBeUndefined();
});

test("a look at an old session reads its run alone, also when Postgres last looked before any run was old", async () => {
  const url = await ownDatabase();
  const meter = await openReadMeter(url);
  await meter.connection.query(autovacuumOff);
  const { db } = connect(url);
  await growTables(meter.connection, { client, sessions: 500, resultsPerRun: 0 });
  await sql`update run set end_time = now()`.execute(db);
  await meter.connection.query("analyze");
  await sql`update run set end_time = now() - interval '2 minutes'`.execute(db);
  await sql`update session set create_time = now()`.execute(db);
  await age(db, await addRunOf(db, "waiting", null));
  const reads = await meter.measure(() => look(db));
  expect(Object.fromEntries(reads)).toMatchObject({ run: expect.toSatisfy((rows) => rows < 10) });
});
