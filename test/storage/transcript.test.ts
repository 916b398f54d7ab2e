// Reading the transcript of a session: a bounded part, at a bounded cost.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { deleteTranscript, readTranscript } from "../../src/engine/storage/transcript.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { addSession, openStore } from "../runlog/store.ts";

const messagesOfLongSession = 10_000;

/** A session with so many messages, numbered from 0. */
async function addMessages(db: Db, count: number): Promise<{ session: string; runId: string }> {
  const session = await addSession(db);
  const runId = newUuid(Date.now());
  await sql`insert into transcript (session, position, run_id, message)
    select ${session}, position, ${runId}, convert_to('message ' || position, 'UTF8')
    from generate_series(0, ${count - 1}::int) as position`.execute(db);
  return { session, runId };
}

function texts(messages: readonly { readonly message: Uint8Array }[]): string[] {
  return messages.map(({ message }) => Buffer.from(message).toString());
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test("of a long session only the first message and the newest ones are read, in order", async () => {
  // A database of an earlier test may have statistics of that one, and then another plan.
  const { db } = await openStore({ own: true });
  const { session, runId } = await addMessages(db, messagesOfLongSession);
  await addMessages(db, messagesOfLongSession);
  const newestMax = 200;
  const { window, rowsRead, fullReads } = await db.transaction().execute(async (trx) => {
    const read = await readTranscript(trx, { session, newestMax });
    const { rows } = await sql<{ read: number; full: number }>`
      select idx_tup_fetch as read, seq_scan as full from pg_stat_xact_user_tables where relname = 'transcript'`.execute(
      trx,
    );
    return { window: read, rowsRead: rows[0]?.read, fullReads: rows[0]?.full };
  });
  const positions = [0, ...numbers(messagesOfLongSession - newestMax, messagesOfLongSession - 1)];
  expect(window.length).toBe(messagesOfLongSession);
  expect(window.messages.map(({ position }) => position)).toEqual(positions);
  expect(texts(window.messages)).toEqual(positions.map((position) => `message ${position}`));
  expect(new Set(window.messages.map((message) => message.runId))).toEqual(new Set([runId]));
  expect(fullReads).toBe(0);
  // The newest message is read twice: once for the bound.
  expect(rowsRead).toBe(newestMax + 2);
});

test.each([
  { count: 1, newestMax: 1, positions: [0] },
  { count: 3, newestMax: 5, positions: [0, 1, 2] },
  { count: 5, newestMax: 5, positions: [0, 1, 2, 3, 4] },
  { count: 6, newestMax: 5, positions: [0, 1, 2, 3, 4, 5] },
  { count: 7, newestMax: 5, positions: [0, 2, 3, 4, 5, 6] },
  { count: 4, newestMax: 1, positions: [0, 3] },
])("of $count messages and the $newestMax newest, no message comes twice", async ({ count, newestMax, positions }) => {
  const { db } = await openStore();
  const { session } = await addMessages(db, count);
  const { messages, length } = await readTranscript(db, { session, newestMax });
  expect(messages.map(({ position }) => position)).toEqual(positions);
  expect(length).toBe(count);
});

test("the transcript of a session without messages is empty", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  expect(await readTranscript(db, { session, newestMax: 10 })).toEqual({ messages: [], length: 0, isWhole: true });
});

test("a session's messages are deleted in portions, and those of other sessions stay", async () => {
  const { db } = await openStore();
  const [gone, kept] = [await addMessages(db, 25), await addMessages(db, 3)];
  await deleteTranscript(db, { session: gone.session, rowsMax: 10 });
  expect((await readTranscript(db, { session: gone.session, newestMax: 100 })).length).toBe(0);
  expect((await readTranscript(db, { session: kept.session, newestMax: 100 })).length).toBe(3);
});
