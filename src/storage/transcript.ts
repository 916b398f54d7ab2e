// What a session's model has been told and has said. One run of a session is active at a time and its row is locked by
// whoever writes here, so positions are counted by that run's owner; the primary key is the backstop.

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

/** Adds what a run is started with. The session's row is locked, so nobody else counts positions meanwhile. */
export async function appendInput(
  trx: Transaction,
  args: { session: string; runId: string; message: Uint8Array },
): Promise<void> {
  await sql`insert into transcript (session, position, run_id, message)
    select ${args.session}, coalesce(max(position) + 1, 0), ${args.runId}, ${Buffer.from(args.message)}
    from transcript where session = ${args.session}`.execute(trx);
}

/** What one run has added, newest first. */
export async function readLatestMessages(
  trx: Transaction,
  args: { runId: string; limit: number },
): Promise<Uint8Array[]> {
  const rows = await trx
    .selectFrom("transcript")
    .innerJoin("run", "run.session", "transcript.session")
    .select("transcript.message")
    .where("run.id", "=", args.runId)
    .whereRef("transcript.run_id", "=", "run.id")
    .orderBy("transcript.position", "desc")
    .limit(args.limit)
    .execute();
  return rows.map((row) => row.message);
}

/** Repeatable: what the run wrote at these positions before is written over. */
export async function appendTranscript(
  trx: Transaction,
  args: { session: string; runId: string; position: number; messages: readonly Uint8Array[] },
): Promise<void> {
  if (args.messages.length === 0) {
    return;
  }
  const rows = args.messages.map((message, index) => ({
    session: args.session,
    run_id: args.runId,
    position: args.position + index,
    message: Buffer.from(message),
  }));
  const written = await trx
    .insertInto("transcript")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(["session", "position"])
        .doUpdateSet(({ ref }) => ({ message: ref("excluded.message") }))
        .whereRef("transcript.run_id", "=", "excluded.run_id"),
    )
    .executeTakeFirst();
  if (Number(written.numInsertedOrUpdatedRows) === rows.length) {
    return;
  }
  throw new Error(`session ${args.session} has messages of another run at ${args.position}`);
}
