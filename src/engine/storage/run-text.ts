// The texts of runs for search. A row is written by the loop that reads runs, never by the statements of the runs themselves.

import { type RawBuilder, sql } from "kysely";
import { highestUuid, lowestUuid } from "../../platform/base/ids.ts";
import { uuidArray } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import { parameterRows } from "../../platform/database/parameter-rows.ts";
import type { RowPage } from "../../platform/database/row-page.ts";
import { type ClientRun, type RunPage, readRunPage, visibleRuns } from "./client-run.ts";
import { isOfSession } from "./run-filter.ts";

/** A run whose text is to be written. */
export interface UnreadRun {
  readonly id: string;
  readonly session: string;
  readonly input: Uint8Array;
  readonly terminal: Uint8Array | null;
  readonly failure: string | null;
  readonly has_ended: boolean;
}

/** The first runs after the cursor: those to read, and how far the look went. */
export interface NewRuns {
  readonly unread: readonly UnreadRun[];
  /** The last run of the look; undefined without a run. */
  readonly last: string | undefined;
  readonly isFull: boolean;
}

/** Returns the runs after the cursor that have no text yet. Looks at `limit` runs. */
export async function listNewRuns(
  db: Db,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<NewRuns> {
  // A look-up for each run: for `exists` or a plain join the planner may read all texts.
  const { rows } = await sql<UnreadRun & { is_unread: boolean }>`
    select run.id, run.session, run.is_unread, run.end_time is not null as has_ended,
      case when run.is_unread then run.input end as input,
      case when run.is_unread then run.terminal end as terminal,
      case when run.is_unread then run.failure end as failure
    from (
      select looked.*, (select run_id from run_text where run_text.run_id = looked.id limit 1) is null as is_unread
      from (
        select * from run
        where id > greatest((select run_id from run_text_cursor), ${after ?? lowestUuid(0)}::uuid)
        order by id limit ${sql.lit(limit)}
      ) as looked
    ) as run order by run.id`.execute(db);
  return { unread: rows.filter((row) => row.is_unread), last: rows.at(-1)?.id, isFull: rows.length === limit };
}

/** Returns runs that have ended since their text was written. */
export async function listEndedRuns(db: Db, limit: number): Promise<UnreadRun[]> {
  const { rows } = await sql<UnreadRun>`
    select run.* from (select run_id from run_text where not is_final order by run_id offset 0) as open
    cross join lateral (
      select id, session, input, terminal, failure, true as has_ended from run where id = open.run_id and end_time is not null limit 1
    ) as run limit ${sql.lit(limit)}`.execute(db);
  return rows;
}

/** Moves the cursor: all runs up to this one have their text, or never get one. */
export async function moveTextCursor(db: Db, to: string): Promise<void> {
  await sql`
    insert into run_text_cursor (run_id) values (${to})
    on conflict (is_only) do update set run_id = greatest(run_text_cursor.run_id, excluded.run_id)`.execute(db);
}

/** Returns the messages of runs among the newest ones of their sessions: a long session is not read as a whole. */
export async function listMessagesOfRuns(
  db: Db,
  runs: readonly Pick<UnreadRun, "id" | "session">[],
  newestMax: number,
): Promise<ReadonlyMap<string, readonly Uint8Array[]>> {
  const { rows } = await sql<{ id: string; message: Uint8Array }>`
    select asked.id, newest.message
    from ${parameterRows(runs, { id: ["uuid", ({ id }) => id], session: ["uuid", ({ session }) => session] })} as asked
    cross join lateral (
      select position, run_id, message from transcript
      where transcript.session = asked.session order by position desc limit ${sql.lit(newestMax)}
    ) as newest where newest.run_id = asked.id order by asked.id, newest.position`.execute(db);
  const byRun = Map.groupBy(rows, ({ id }) => id);
  return new Map([...byRun].map(([id, found]) => [id, found.map(({ message }) => message)]));
}

/** The text of a run. */
export interface RunText {
  readonly id: string;
  readonly text: string;
  /** The words of the text, with spaces between them. */
  readonly words: string;
  /** Whether the run had ended when its text was read. It may have ended since, and then it gets another text. */
  readonly isFinal: boolean;
}

/**
 * Writes texts of runs, and returns the ids of those that have one now. A deleted run and a purged one get none, and neither do runs of a
 * deleted session: the rows are locked against all of these, sessions first, as in deletions. Of several runs, those that another
 * transaction holds are left out.
 */
export async function writeRunTexts(db: Db, texts: readonly RunText[]): Promise<string[]> {
  const locked = texts.length === 1 ? sql`` : sql` skip locked`;
  const { rows } = await sql<{ run_id: string }>`
    with asked as materialized (
      select * from ${parameterRows(texts, { id: ["uuid", ({ id }) => id], text: ["text", ({ text }) => text], words: ["text", ({ words }) => words], final: ["int4", ({ isFinal }) => Number(isFinal)] })} as given
    ), kept as materialized (
      select run.id, run.client, run.session
      from asked join run using (id) join session on session.id = run.session
      where run.delete_time is null and octet_length(run.input) > 0 and session.delete_time is null
      for share of session, run${locked}
    )
    insert into run_text (run_id, client, session, text, words, is_final)
    select kept.id, kept.client, kept.session, asked.text,
      to_tsvector('simple', asked.words) || array_to_tsvector(array[${wordOfClient(sql`kept.client`)}]), asked.final = 1
    from kept join asked using (id)
    on conflict (run_id) do update set text = excluded.text, words = excluded.words, is_final = excluded.is_final
    returning run_id`.execute(db);
  return rows.map(({ run_id: id }) => id);
}

/** Deletes the texts of runs. */
export async function deleteRunTexts(db: Db | Transaction, runs: readonly string[]): Promise<void> {
  await sql`delete from run_text where run_id = any(${uuidArray(runs)}::uuid[])`.execute(db);
}

/** Deletes the texts of the runs of sessions. */
export async function deleteTextsOfSessions(db: Db | Transaction, sessions: RawBuilder<unknown>): Promise<void> {
  await sql`delete from run_text where session = any(array(${sessions}))`.execute(db);
}

/** What to search, and among which runs: those that match all filters that are set. */
export interface TextSearch {
  readonly client: string;
  /** Words as texts have them: quotes make a phrase, `or` gives a choice, and a minus leaves a word out. */
  readonly query: string;
  readonly sessionName: string | undefined;
  readonly agentName: string | undefined;
  /** The name and the value of a member of the annotations. */
  readonly annotation: readonly [name: string, value: string] | undefined;
  /** Inclusive. */
  readonly createTimeFrom: Date | undefined;
  /** Exclusive. */
  readonly createTimeTo: Date | undefined;
}

/** A run that was found. */
export interface FoundRun extends ClientRun {
  readonly text: string;
}

/** The newest texts, which are read in their order. A frequent word is among them; the index would give all of its runs. */
const newestMax = 300;

/** Returns the runs whose texts match, newest first. Results may be large, so a page may be short. */
export async function searchRunTexts(db: Db, search: TextSearch, page: RunPage): Promise<RowPage<FoundRun>> {
  const { sessionName, agentName, annotation } = search;
  if (![sessionName, agentName, ...(annotation ?? [])].every((text) => text === undefined || isStorableText(text))) {
    return { rows: [], hasMore: false };
  }
  const { client, query } = search;
  const asked = sql`(websearch_to_tsquery('simple', ${query}) && quote_literal(${wordOfClient(sql`${client}::text`)})::tsquery)`;
  const newest = sql`
    select run_id, text from (
      select run_id, text, words from run_text
      where client collate "C" = ${client} and run_id < ${page.before ?? highestUuid}::uuid order by run_id desc limit ${sql.lit(newestMax)}
    ) as newest where words @@ ${asked}`;
  const first = await findRuns(db, newest, search, page);
  const all = sql`
    select run_id, text from run_text
    where words @@ ${asked} and client = ${client} and run_id < ${page.before ?? highestUuid}::uuid`;
  return first.hasMore ? first : await findRuns(db, all, search, page);
}

/** Returns the word that all texts of a client have: so the index of words finds no texts of others. Its space keeps it apart from words. */
function wordOfClient(client: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`'client ' || md5(${client})`;
}

async function findRuns(
  db: Db,
  matching: RawBuilder<unknown>,
  { client, sessionName, agentName, annotation, createTimeFrom, createTimeTo }: TextSearch,
  { limit }: RunPage,
): Promise<RowPage<FoundRun>> {
  const texts = sql<{ run_id: string; text: string }>`(${matching} offset 0)`.as("matching");
  let runs = visibleRuns(db)
    .innerJoin(texts, "matching.run_id", "run.id")
    .select("matching.text")
    .orderBy("run.id", "desc")
    .limit(limit + 1);
  if (sessionName !== undefined) {
    runs = runs.where(isOfSession(client, sessionName));
  }
  if (agentName !== undefined) {
    runs = runs.where("run.agent_name", "=", agentName);
  }
  if (annotation !== undefined) {
    const [name, value] = annotation;
    runs = runs.where(sql<boolean>`case when run.annotations !~ ${sql.lit(notAText)}
      then run.annotations::json ->> ${name}::text = ${value} end`);
  }
  if (createTimeFrom !== undefined) {
    runs = runs.where("run.create_time", ">=", createTimeFrom);
  }
  if (createTimeTo !== undefined) {
    runs = runs.where("run.create_time", "<", createTimeTo);
  }
  return await readRunPage(db, runs, { order: sql`id desc`, limit });
}

/** Escapes of JSON that Postgres cannot turn into a text: U+0000, and halves of surrogate pairs. */
const notAText = "\\\\u(0000|[dD][89a-fA-F])";
