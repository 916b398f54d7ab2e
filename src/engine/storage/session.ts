// The session rows. A session's public id (`name`) is unique for its client among the sessions that are not deleted. Protocols
// keep hidden sessions for their own runs; these are neither found nor listed here.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { highestUuid } from "../../platform/base/ids.ts";
import { asQuery } from "../../platform/database/as-query.ts";
import { textArray } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import { gathered } from "../../platform/database/gather.ts";
import { type BoundedPage, readBound, readBoundedPage } from "../../platform/database/row-page.ts";
import { rowStatement } from "../../platform/database/row-statement.ts";
import { deleteTextsOfSessions } from "./run-text.ts";
import type { RunStatus, RunTable, SessionTable } from "./schema.ts";

const sessionColumns = [
  "session.id",
  "session.client",
  "session.name",
  "session.agent",
  "session.work_dir",
  "session.callback",
  "session.fork",
  "session.annotations",
  "session.latest_run_id",
  "session.create_time",
  "session.delete_time",
  "session.hidden",
] as const;

type SessionColumn = (typeof sessionColumns)[number] extends `session.${infer Column extends keyof SessionTable}`
  ? Column
  : never;

/** A row of a session. */
export type SessionRow = Pick<Selectable<SessionTable>, SessionColumn>;

/** A session with the state of its latest run. */
export interface SessionWithRun extends SessionRow {
  readonly run_status: RunStatus | null;
  readonly run_turn: number | null;
  readonly run_terminal: Uint8Array | null;
}

export interface SessionName {
  readonly client: string;
  readonly name: string;
}

/** A session to insert. */
export interface NewSession {
  readonly id: string;
  readonly client: string;
  readonly name: string;
  readonly agent: Uint8Array;
  readonly workDir: string | undefined;
  readonly callback: Uint8Array | undefined;
  /** The place in another session from which it continues; unset for a session that begins empty. */
  readonly fork?: Uint8Array | undefined;
  /** That other session. */
  readonly forkedFrom?: string | undefined;
  readonly annotations?: string | undefined;
  /** The URL for status callbacks; undefined for no callbacks. */
  readonly callbackUrl?: string | undefined;
}

/**
 * Inserts a session, and the callback of its creation. Returns false when the client has a session of that name. Concurrent
 * inserts share one statement and one commit.
 */
export const insertSession = gathered(async (db, sessions: readonly NewSession[]): Promise<boolean[]> => {
  const inserted = new Set((await insertSessions(db, { given: sessions })).map(({ id }) => id));
  return sessions.map(({ id }) => inserted.has(id));
});

const insertSessions = rowStatement<{ given: readonly NewSession[] }, { id: string }>(
  {
    given: {
      id: ["uuid", ({ id }) => id],
      client: ["text", ({ client }) => client],
      name: ["text", ({ name }) => name],
      agent: ["bytea", ({ agent }) => agent],
      work_dir: ["text", ({ workDir }) => workDir],
      callback: ["bytea", ({ callback }) => callback],
      fork: ["bytea", ({ fork }) => fork],
      forked_from: ["uuid", ({ forkedFrom }) => forkedFrom],
      annotations: ["text", ({ annotations }) => annotations],
      callback_url: ["text", ({ callbackUrl }) => callbackUrl],
    },
  },
  // Sorted, so that two replicas that insert sessions of the same names never wait for each other in a circle.
  ({ given }) => sql`
    with asked as materialized (
      select * from ${given} as given
    ), inserted as (
      insert into session (id, client, name, agent, work_dir, callback, fork, forked_from, annotations)
      select id, client, name, agent, work_dir, callback, fork, forked_from, annotations from asked order by client, name
      on conflict (client, name) where delete_time is null do nothing
      returning id, client
    ), called as (
      insert into callback (client, session, sequence, status, base_url)
      select inserted.client, inserted.id, 0, 'created', asked.callback_url from inserted join asked using (id)
      where asked.callback_url is not null
    )
    select id from inserted`,
);

/**
 * Returns a session by its name, with its latest run; undefined when it does not exist. Concurrent reads share one statement.
 */
export async function findSession(db: Db | Transaction, name: SessionName): Promise<SessionWithRun | undefined> {
  return isStorableText(name.name) ? visibleOnly(await findNamed(db, name)) : undefined;
}

const findNamed = gathered(async (db, names: readonly SessionName[]): Promise<(SessionWithRun | undefined)[]> => {
  const found = new Map((await findAllNamed(db, { asked: names })).map((row) => [keyOf(row), row]));
  return names.map((name) => found.get(keyOf(name)));
});

const findAllNamed = rowStatement<{ asked: readonly SessionName[] }, SessionWithRun>(
  { asked: { client: ["text", ({ client }) => client], name: ["text", ({ name }) => name] } },
  // A lateral join, because the planner reads all sessions of a client for a plain one.
  ({ asked }) => sql`
    select session.*, run.status as run_status, run.turn as run_turn, run.terminal as run_terminal
    from ${asked} as asked
    cross join lateral (
      select ${sql.join(sessionColumns.map((column) => sql.ref(column)))} from session
      where session.client = asked.client and session.name = asked.name and session.delete_time is null limit 1
    ) as session
    left join run on run.id = session.latest_run_id`,
);

/** Storable texts contain no U+0000. */
function keyOf({ client, name }: SessionName): string {
  return `${client}\0${name}`;
}

/** Which sessions of a client to list: those that match all filters that are set. */
export interface SessionFilter {
  readonly client: string;
  /** Statuses of the latest run; null is that of a session without one. Unset means any. */
  readonly runStatuses?: readonly (RunStatus | null)[] | undefined;
  /** The exact name of the agent of the latest run. */
  readonly agentName?: string | undefined;
  /** The public id of the session whose forks to list. */
  readonly forkOf?: string | undefined;
}

/** A session with what only a list shows. */
export interface ListedSession extends SessionWithRun {
  /** The last activity. */
  readonly change_time: Date;
  /** The runs that are not deleted, counted up to 100. */
  readonly run_count: number;
}

const countedRunsMax = 100;

/**
 * Returns the sessions of a client, newest first. Reads a bounded number of them, and the results of their latest runs may be large: a
 * page may be short or empty.
 */
export async function listSessions(
  db: Db,
  filter: SessionFilter,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<BoundedPage<ListedSession>> {
  const { agentName, forkOf } = filter;
  if (![agentName, forkOf].every((text) => text === undefined || isStorableText(text))) {
    return { rows: [], next: undefined };
  }
  const { first, condition } = indexOf(filter);
  const candidates = sql`
    from session where ${condition} and session.id < ${asQuery(before ?? highestUuid, "uuid")} order by ${first} desc, session.id desc`;
  const bound = readBound(limit);
  const edge = sql`select session.id::text ${candidates} ${bound.edge}`;
  const source = sql<SessionTable>`(select *, ${first} as first ${candidates} ${bound.limit})`;
  const query = selectSessions(db, filter, source).limit(limit + 1);
  return await readBoundedPage(db, query, {
    ...{ order: sql`id desc`, body: "run_terminal", limit, edge },
    placeOf: ({ id }) => id,
  });
}

/**
 * Returns the first column and the condition of the index that has the sessions in the order of the list: the forks of one, or all of the
 * client. An array of one, because the planner would leave a column that equals a value out of the order, and then choose another index.
 */
function indexOf({ client, forkOf }: SessionFilter): Record<"first" | "condition", RawBuilder<unknown>> {
  if (forkOf !== undefined) {
    const origin = sql`(select id from session where client = ${client} and name = ${forkOf} and delete_time is null)`;
    return { first: sql`forked_from`, condition: sql`forked_from = any(array[${origin}])` };
  }
  const first = sql`client collate "C"`;
  return {
    first,
    condition: sql`${first} = any(array[${asQuery(client, "text")}]) and delete_time is null and not hidden`,
  };
}

/** Selects the sessions of a query that match a filter, with their latest runs. */
function selectSessions(db: Db, { client, runStatuses, agentName }: SessionFilter, source: RawBuilder<SessionTable>) {
  // For each session by itself: the planner would read all runs for a join.
  const latestRun = sql<RunTable>`(select * from run where id = session.latest_run_id offset 0)`.as("run");
  let query = db
    .selectFrom(source.as("session"))
    .leftJoinLateral(latestRun, (join) => join.onTrue())
    .select(sessionColumns)
    .select(["run.status as run_status", "run.turn as run_turn", "run.terminal as run_terminal"])
    .select(
      sql<Date>`coalesce(run.end_time, run.change_time, run.start_time, run.create_time, session.create_time)`.as(
        "change_time",
      ),
    )
    .select(
      sql<number>`(select count(*) from (select from run as counted where counted.session = session.id
        and counted.delete_time is null limit ${sql.lit(countedRunsMax)}) as first)`.as("run_count"),
    )
    .where("session.client", "=", client)
    .where("session.delete_time", "is", null)
    .where("session.hidden", "=", false)
    .orderBy(sql`session.first desc, session.id desc`);
  if (runStatuses !== undefined) {
    const among = textArray(runStatuses.map((status) => status ?? ""));
    query = query.where(sql<boolean>`coalesce(run.status, '') = any(${among}::text[])`);
  }
  return agentName === undefined ? query : query.where("run.agent_name", "=", agentName);
}

/** Returns the session of a run, whose directory the run's tools work in; undefined when the run does not exist. */
export async function findSessionOfRun(
  db: Db,
  runId: string,
): Promise<Pick<SessionRow, "id" | "client" | "name"> | undefined> {
  return await db
    .selectFrom("run")
    .innerJoin("session", "session.id", "run.session")
    .select(["session.id", "session.client", "session.name"])
    .where("run.id", "=", runId)
    .executeTakeFirst();
}

/**
 * Locks and returns a session; undefined when it does not exist. Waits for a transaction that starts a run of it or deletes it.
 */
export async function lockSession(trx: Transaction, name: SessionName): Promise<SessionRow | undefined> {
  if (!isStorableText(name.name)) {
    return undefined;
  }
  return visibleOnly(await sessionOfName(trx, name).forNoKeyUpdate().executeTakeFirst());
}

/**
 * Drops a hidden session. Checked here, because with another condition in the statement the planner may choose another index.
 */
function visibleOnly<T extends SessionRow>(session: T | undefined): T | undefined {
  return session?.hidden === false ? session : undefined;
}

function sessionOfName(db: Db | Transaction, { client, name }: SessionName) {
  return db
    .selectFrom("session")
    .select(sessionColumns)
    .where("client", "=", client)
    .where("name", "=", name)
    .where("delete_time", "is", null);
}

/** Returns a query of the ids of all sessions that the client ever had under the name. Each part has an index. */
export function sessionsEverNamed({ client, name }: SessionName): RawBuilder<unknown> {
  const named = sql`select id from session where client = ${client} and name = ${name}`;
  return sql`${named} and delete_time is null union all ${named} and delete_time is not null`;
}

/** Marks a session as deleted, and those of its child runs. From now on no search finds their runs. */
export async function markSessionDeleted(trx: Transaction, id: string): Promise<void> {
  await sql`update session set delete_time = now() where id = any(array(${withChildSessions(id)}))`.execute(trx);
  await deleteTextsOfSessions(trx, withChildSessions(id));
}

/** Returns a query of the ids of a session, of the sessions of its child runs, and of those below them. As an array, they are few to the planner. */
function withChildSessions(id: string): RawBuilder<unknown> {
  return sql`
    with recursive family (id) as (
      select ${id}::uuid
      union all
      select child.id from family cross join lateral (select id from session where parent_session = family.id offset 0) as child
    ) select id from family`;
}

/** Replaces the annotations of a session; undefined removes them. An unknown session stays unknown. */
export async function updateAnnotations(
  db: Db,
  { client, name, annotations }: SessionName & { readonly annotations: string | undefined },
): Promise<void> {
  if (!isStorableText(name)) {
    return;
  }
  await db
    .updateTable("session")
    .set({ annotations: annotations ?? null })
    .where("client", "=", client)
    .where("name", "=", name)
    .where("delete_time", "is", null)
    .where("hidden", "=", false)
    .execute();
}

/** Counts the visible sessions, and all active runs, including those of hidden sessions. Large numbers are estimates. */
export async function countSessions(db: Db): Promise<{ total: number; active: number }> {
  const visible = sql`from session where delete_time is null and not hidden`;
  const total = countEntries({ index: "session_list", rows: visible, growsAs: "session" });
  const atWork = sql`from run where status in ('queued', 'running', 'waiting')`;
  const active = countEntries({
    index: "run_active_of_session",
    rows: atWork,
    growsAs: "run_active_of_session",
  });
  const { rows } = await sql<{ total: number; active: number }>`select ${total} as total, ${active} as active`.execute(
    db,
  );
  return rows[0] ?? { total: 0, active: 0 };
}

/** Rows are counted while Postgres has seen at most this many: in less than the time of a call. */
const countedMax = 1_000;

/** The rows of a partial index. */
interface Entries {
  readonly index: string;
  /** Repeats the condition of the index. */
  readonly rows: RawBuilder<unknown>;
  /** The table or index whose size shows how the number has grown. Pages of a table are full, those of an index not always. */
  readonly growsAs: string;
}

/**
 * Returns SQL that counts the rows of a partial index. Larger numbers are estimated: by the number that Postgres last saw, and by
 * what has grown since. Then no row is read.
 */
function countEntries({ index, rows, growsAs }: Entries): RawBuilder<number> {
  return sql<number>`(
    select case when entries.reltuples > ${countedMax}
      then round(entries.reltuples::float8 / greatest(grown.relpages, 1)
        * pg_relation_size(grown.oid) / current_setting('block_size')::int8)
      else (select count(*) from (select ${rows} limit ${sql.lit(2 * countedMax)}) as first) end::float8
    from pg_class as entries, pg_class as grown
    where entries.oid = ${index}::regclass and grown.oid = ${growsAs}::regclass)`;
}
