// Retention of callbacks: as long as logs, and no longer than their session.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { retention } from "../../src/app/protocols.ts";
import { deleteSettledCallbacks } from "../../src/engine/storage/callback.ts";
import { eraseContents, eraseSessions } from "../../src/engine/storage/erase.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { addSession, openStore } from "../runlog/store.ts";

async function addCallbacks(db: Db, session: string, states: readonly string[]): Promise<void> {
  for (const state of states) {
    await sql`
      insert into callback (client, session, sequence, status, base_url, state, end_time)
      select 'shared/test', ${session}, 0, 'created', 'https://host.example', ${state}::text,
        case when ${state}::text <> 'pending' then now() - interval '8 days' end`.execute(db);
  }
}

async function statesOf(db: Db): Promise<string[]> {
  return (await db.selectFrom("callback").select("state").orderBy("position").execute()).map(({ state }) => state);
}

test("settled callbacks are deleted after their retention, and pending ones never", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  await addCallbacks(db, session, ["pending", "delivered", "dead", "delivered"]);
  const dayMs = 86_400_000;
  expect(await deleteSettledCallbacks(db, { keptMs: 9 * dayMs, limit: 10 })).toBe(0);
  expect(await deleteSettledCallbacks(db, { keptMs: 7 * dayMs, limit: 2 })).toBe(2);
  expect(await deleteSettledCallbacks(db, { keptMs: 7 * dayMs, limit: 2 })).toBe(1);
  expect(await statesOf(db)).toEqual(["pending"]);
});

test("a session that is erased takes its callbacks with it, also when an older version erases it", async () => {
  const { db } = await openStore();
  const erased = await addSession(db);
  const erasedByAnother = await addSession(db);
  const kept = await addSession(db);
  for (const session of [erased, erasedByAnother, kept]) {
    await addCallbacks(db, session, ["delivered", "pending"]);
  }
  await eraseContents(db, [erased], retention);
  expect(await statesOf(db)).toHaveLength(4);
  await eraseSessions(db, [erased]);
  await sql`delete from session where id = ${erasedByAnother}`.execute(db);
  expect(await statesOf(db)).toEqual(["delivered", "pending"]);
});
