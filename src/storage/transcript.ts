// What a session's model has been told and has said. One run of a session is active at a time and its row is locked by
// whoever writes here, so the next position is simply counted; the primary key is the backstop.

import { sql } from "kysely";
import type { Db, Transaction } from "./database.ts";

export async function readTranscript(db: Db, session: string): Promise<Uint8Array[]> {
  const rows = await db
    .selectFrom("transcript")
    .select("message")
    .where("session", "=", session)
    .orderBy("position")
    .execute();
  return rows.map((row) => row.message);
}

export async function appendTranscript(
  trx: Transaction,
  args: { session: string; runId: string; messages: readonly Uint8Array[] },
): Promise<void> {
  if (args.messages.length === 0) return;
  const { next } = await trx
    .selectFrom("transcript")
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as("next"))
    .where("session", "=", args.session)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto("transcript")
    .values(
      args.messages.map((message, index) => ({
        session: args.session,
        run_id: args.runId,
        position: next + index,
        message: Buffer.from(message),
      })),
    )
    .execute();
}
