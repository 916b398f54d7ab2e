// Summaries of the first messages of sessions. The messages themselves stay in the transcript. The newest row of a session counts; the
// others are for forks that begin before it.

import { sql } from "kysely";
import { byteaArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";

/** What a model gets in place of the first messages of a session. */
export interface CompactedMessages {
  /** The position of the newest message that is not sent any more. */
  readonly through: number;
  readonly messages: readonly Uint8Array[];
}

/** Returns the newest compaction of a session; undefined when it has none. */
export async function readCompaction(db: Db, session: string): Promise<CompactedMessages | undefined> {
  return await db
    .selectFrom("compaction")
    .select(["through", "messages"])
    .where("session", "=", session)
    .orderBy("through", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Replaces the first messages of a session: all but the newest `kept`, 1 or more. Repeatable. */
export async function insertCompaction(
  trx: Transaction,
  { session, kept, messages }: { session: string; kept: number; messages: readonly Uint8Array[] },
): Promise<void> {
  await sql`
    insert into compaction (session, through, messages)
    select ${session}::uuid, position, ${byteaArray(messages)}::bytea[] from transcript
    where session = ${session} order by transcript.position desc offset ${kept} limit 1
    on conflict (session, through) do update set messages = excluded.messages`.execute(trx);
}

/** Copies the compactions of messages below the position `end` into a new session. */
export async function copyCompactions(
  trx: Transaction,
  args: { from: string; to: string; end: number },
): Promise<void> {
  const { from, to, end } = args;
  await sql`
    insert into compaction (session, through, messages)
    select ${to}::uuid, through, messages from compaction where session = ${from} and through < ${end}::int8`.execute(
    trx,
  );
}

/** Deletes the compactions of a session that cover a message at the position `from` or after it. */
export async function deleteCompactions(db: Db, { session, from }: { session: string; from: number }): Promise<void> {
  await db.deleteFrom("compaction").where("session", "=", session).where("through", ">=", from).execute();
}
