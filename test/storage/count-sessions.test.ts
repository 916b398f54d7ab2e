// The numbers of sessions and active runs: exact while they are small, and estimated in the time of a call when they are large.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { countSessions } from "../../src/engine/storage/session.ts";
import { addRun, addSession, openStore } from "../runlog/store.ts";

test("small numbers are exact", async () => {
  const { db } = await openStore();
  await addSession(db);
  await addRun(db);
  expect(await countSessions(db)).toEqual({ total: 2, active: 1 });
});

test("large numbers are close, also after Postgres last looked", async () => {
  const { db } = await openStore({ own: true });
  const add = async (sessions: number): Promise<void> => {
    await sql`
      insert into session (id, client, name, agent, delete_time, hidden)
      select gen_random_uuid(), 'c', gen_random_uuid()::text, '', case when n % 4 = 0 then now() end, n % 4 = 1
      from generate_series(1, ${sessions}::int) as n`.execute(db);
  };
  await add(8_000);
  await sql`analyze session`.execute(db);
  expect((await countSessions(db)).total).toBeCloseTo(4_000, -2);
  await add(4_000);
  const { total } = await countSessions(db);
  expect(total).toBeGreaterThan(5_800);
  expect(total).toBeLessThan(6_200);
});
