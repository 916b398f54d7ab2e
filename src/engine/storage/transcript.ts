// The messages that a session's model has received and produced. A session has one active run at a time, and every writer here
// locks the row of that run. So the owner of that run counts the positions; the primary key is the backstop.

import { type RawBuilder, sql } from "kysely";
import { byteaArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { copyCompactions, deleteCompactions } from "./compaction.ts";

/** The run of messages that no run received or produced. */
export const noRunId = "00000000-0000-0000-0000-000000000000";

/** A message of a session. */
export interface TranscriptMessage {
  readonly position: number;
  readonly runId: string;
  readonly message: Uint8Array;
}

/** Some messages of a session. */
export interface TranscriptWindow {
  /** In order: the session's first message, then the newest ones, with a gap between them in a long session. */
  readonly messages: readonly TranscriptMessage[];
  /** The position of the next message: the number of messages, those that were deleted included. */
  readonly length: number;
  /** Whether the window has all messages. A gap is then the place of a deleted one. */
  readonly isWhole: boolean;
}

/**
 * Returns the newest messages of a session, and its first one, which introduces the subject; with `after` only those after that
 * position. The cost does not depend on the length of the session. `newestMax` is 1 or more.
 */
export async function readTranscript(
  db: Db,
  args: { session: string; newestMax: number; after?: number },
): Promise<TranscriptWindow> {
  const { session, newestMax, after = -1 } = args;
  // Uses bounds and not a limit: without statistics the planner would read and sort the whole session for a limit.
  const { rows: messages } = await sql<TranscriptMessage>`
    with bound as materialized (
      select position - ${newestMax}::int8 as position from transcript
      where session = ${session} order by transcript.position desc limit 1
    )
    (select position, run_id as "runId", message from transcript
      where session = ${session} and position > ${after}::int8 and position <= (select position from bound)
      order by position limit 1)
    union all
    (select position, run_id, message from transcript
      where session = ${session} and position > greatest((select position from bound), ${after}::int8))
    order by position`.execute(db);
  const length = (messages.at(-1)?.position ?? after) + 1;
  return { messages, length, isWhole: length - (after + 1) <= newestMax };
}

/** A page of a session's messages. */
export interface TranscriptPage {
  readonly session: string;
  /** The position of the first message of the page, or the next one in the order of the list; undefined begins at the end. */
  readonly from: number | undefined;
  readonly newestFirst?: boolean;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** Returns the next messages of a session, up to about `bytesMax` bytes: at least one, if there is one. */
export async function readTranscriptPage(
  db: Db,
  { session, from, newestFirst = false, rowsMax, bytesMax }: TranscriptPage,
): Promise<{ rows: readonly TranscriptMessage[]; hasMore: boolean }> {
  const [isFollowing, order] = newestFirst
    ? [sql`position <= coalesce(${from ?? null}::int8, 9223372036854775807)`, sql`position desc`]
    : [sql`position >= coalesce(${from ?? null}::int8, 0)`, sql`position`];
  const { rows } = await sql<TranscriptMessage & { bytes_before: number }>`
    select position, run_id as "runId", message,
      (sum(octet_length(message)) over (order by ${order}) - octet_length(message))::float8 as bytes_before
    from (
      select position, run_id, message from transcript
      where session = ${session} and ${isFollowing} order by ${order} limit ${sql.lit(rowsMax + 1)}
    ) as following`.execute(db);
  const fitting = rows.filter((row, index) => index < rowsMax && row.bytes_before < bytesMax);
  return { rows: fitting, hasMore: fitting.length < rows.length };
}

/**
 * Copies the first messages of a session into an empty one: those below the position `length`, those up to the end of a run, or all.
 * Returns the position after the last one; 0 when there was none.
 */
export async function copyTranscript(
  trx: Transaction,
  args: { from: string; to: string; length: number | undefined; throughRun: string | undefined },
): Promise<number> {
  const { from, to, length = null, throughRun = null } = args;
  const { rows } = await sql<{ end: number | null }>`
    with copied as (
      insert into transcript (session, position, run_id, message)
      select ${to}::uuid, position, run_id, message from transcript
      where session = ${from} and position < coalesce(${length}::int8, (
        select max(position) + 1 from transcript where session = ${from} and run_id = coalesce(${throughRun}::uuid, run_id)
      ))
      returning position)
    select max(position) + 1 as end from copied`.execute(trx);
  const end = rows[0]?.end ?? 0;
  await copyCompactions(trx, { from, to, end });
  return end;
}

/** Returns the messages that one run has added, newest first. */
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

/**
 * Appends messages. Repeatable: overwrites what the same run wrote at these positions before. Throws when another run wrote
 * there.
 */
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

/**
 * Returns SQL that appends the last message of the input of runs within a statement. `runs` names the part of it that returns the
 * runs, whose sessions it has locked.
 */
export function inputOf(runs: "inserted" | "queued"): RawBuilder<unknown> {
  return sql`
    insert into transcript (session, position, run_id, message)
    select session, (select coalesce(max(position) + 1, 0) from transcript where transcript.session = ${sql.ref(`${runs}.session`)}), id, input
    from ${sql.ref(runs)}
    returning session, position`;
}

/** Appends messages that start a run, in a session that is locked and has no active run. */
export async function appendInput(
  trx: Transaction,
  args: { session: string; runId: string; messages: readonly Uint8Array[] },
): Promise<void> {
  await sql`
    insert into transcript (session, position, run_id, message)
    select ${args.session}::uuid, coalesce((select max(position) from transcript where session = ${args.session}), -1) + place,
      ${args.runId}::uuid, message
    from unnest(${byteaArray(args.messages)}::bytea[]) with ordinality as given (message, place)`.execute(trx);
}

/** Deletes the messages of a session's other runs. Positions are not used again: a run finds its own by them. */
export async function keepMessagesOf(trx: Transaction, args: { session: string; runId: string }): Promise<void> {
  await trx.deleteFrom("transcript").where("session", "=", args.session).where("run_id", "<>", args.runId).execute();
  await deleteCompactions(trx, { session: args.session, from: 0 });
}

/** Deletes some messages of a session, and summaries of them. The others keep their positions. */
export async function deleteMessages(
  trx: Transaction,
  { session, positions }: { session: string; positions: readonly number[] },
): Promise<void> {
  await trx
    .deleteFrom("transcript")
    .where("session", "=", session)
    .where("position", "in", [...positions])
    .execute();
  await deleteCompactions(trx, { session, from: Math.min(...positions) });
}

/** Deletes a session's messages and their summaries, at most `rowsMax` messages in a statement. */
export async function deleteTranscript(db: Db, args: { session: string; rowsMax: number }): Promise<void> {
  await deleteCompactions(db, { session: args.session, from: 0 });
  let rows: number;
  do {
    const { numAffectedRows = 0n } = await sql`
      delete from transcript where session = ${args.session} and position in (
        select position from transcript where session = ${args.session} limit ${sql.lit(args.rowsMax)})`.execute(db);
    rows = Number(numAffectedRows);
  } while (rows === args.rowsMax);
}
