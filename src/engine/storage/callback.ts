// The outbox of status callbacks: one row for each transition with a callback URL, written with the transition. The rows are
// both the queue and the record of each callback's outcome.
//
// C1  Only the first pending row of a session is ever taken, so a session's callbacks go out in order and one at a time.
// C2  A sender that takes a row holds its session for a while. The hold of a dead sender expires.

import { type RawBuilder, sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import type { CallbackState, CallbackStatus } from "./schema.ts";
import { sessionsEverNamed } from "./session.ts";

/**
 * Returns SQL that inserts the callback of a run's transition within a statement. `runs` names the part of it that returns the
 * run.
 */
export function callbackOf(runs: "inserted" | "queued" | "finished", status: CallbackStatus): RawBuilder<unknown> {
  return sql`
    insert into callback (client, session, run_id, sequence, status, base_url)
    select client, session, id, last_sequence, ${sql.lit(status)}, callback_url from ${sql.ref(runs)}
    where callback_url is not null`;
}

/** A callback to write. */
export interface NewCallback {
  readonly client: string;
  readonly session: string;
  readonly runId: string;
  readonly sequence: number;
  readonly status: CallbackStatus;
  readonly baseUrl: string;
}

/** Writes a callback in the transaction of its transition. */
export async function insertCallback(trx: Transaction, callback: NewCallback): Promise<void> {
  const { client, session, runId, sequence, status, baseUrl } = callback;
  await trx
    .insertInto("callback")
    .values({ client, session, run_id: runId, sequence, status, base_url: baseUrl })
    .execute();
}

/** A callback that a sender has taken. */
export interface DueCallback {
  readonly id: string;
  readonly client: string;
  readonly session_name: string;
  readonly run_id: string | null;
  readonly sequence: number;
  readonly status: CallbackStatus;
  readonly base_url: string;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  /** True when a failure of this attempt gives the callback up. */
  readonly is_last: boolean;
  /** The run's terminal result; null for the transitions before it. */
  readonly terminal: Uint8Array | null;
  /** What a push adds to its address; null for a status callback. */
  readonly push: { readonly token: string; readonly scheme: string; readonly credentials: string } | null;
}

/** The minimum number of attempts, also for a callback that became due late because earlier ones took long. */
const attemptsMin = 5;

/** The maximum number of rows that one query considers; mostly there are far fewer. */
const lookedAtMax = 1_000;

/** Limits on the callbacks to take. */
export interface Taking {
  readonly limit: number;
  readonly holdMs: number;
  /** The maximum number for one client. */
  readonly limitPerClient: number;
  /** Clients that get no more now, because they have enough under way. */
  readonly exceptClients: readonly string[];
}

/**
 * Takes the first pending callbacks of sessions that are due, and holds them for `holdMs`. No client gets a second one before
 * every client had its turn. All pending callbacks of such a session get the same due time, so that no sender reads what cannot
 * be sent yet.
 *
 * The first callback of a session is looked up row by row: for "none is earlier" the planner reads all pending rows. The
 * condition for pending rows repeats the text of the intended index, and a row is settled by its id alone. Otherwise a plan
 * cached while the table was empty reads all pending rows.
 */
export async function takeDueCallbacks(db: Db, taking: Taking): Promise<DueCallback[]> {
  const { limit, holdMs, limitPerClient, exceptClients } = taking;
  const { rows } = await sql<DueCallback>`
    with waiting as (
      select id, client, due_time from callback
      where state = 'pending' and due_time <= now() and client <> all(${exceptClients}::text[]) and id = (
        select first.id from callback as first where first.session = callback.session and first.end_time is null
        order by first.position limit 1)
      order by due_time limit ${sql.lit(lookedAtMax)}
    ), ranked as (
      select id, row_number() over (partition by client order by due_time) as turn_of_client from waiting
    ), due as materialized (
      select callback.id, callback.session from callback join ranked on ranked.id = callback.id
      where callback.state = 'pending' and callback.due_time <= now() and ranked.turn_of_client <= ${limitPerClient}
      order by ranked.turn_of_client, callback.due_time
      for update of callback skip locked limit ${limit}
    ), held as (
      update callback set due_time = now() + ${holdMs} * interval '1 millisecond',
        attempts = attempts + (id in (select id from due))::int
      where session = any(array(select session from due)) and end_time is null
      returning id, client, session, run_id, sequence, status, base_url, attempts, give_up_time, push_config
    )
    select held.id, held.client, session.name as session_name, held.run_id, held.sequence, held.status, held.base_url,
      held.attempts, held.give_up_time <= now() and held.attempts >= ${attemptsMin}::int as is_last,
      case when held.status not in ('created', 'running') then run.terminal end as terminal,
      case when push_config.key is not null then json_build_object('token', push_config.token,
        'scheme', push_config.scheme, 'credentials', push_config.credentials) end as push
    from held join session on session.id = held.session left join run on run.id = held.run_id
      left join push_config on push_config.key = held.push_config
    where held.id in (select id from due)`.execute(db);
  return rows;
}

/** The outcome of an attempt. */
export interface SettledCallback {
  readonly id: string;
  /** The number of attempts when it was taken: another holder has a higher one. */
  readonly attempts: number;
  readonly state: CallbackState;
  /** Why it was not delivered; null when it was. */
  readonly error: string | null;
  /** The wait until the session's next attempt. */
  readonly waitMs: number;
}

/** Records the outcome of an attempt. Returns false when another sender holds the callback by now: its outcome counts. */
export async function settleCallback(db: Db, settled: SettledCallback): Promise<boolean> {
  const { id, attempts, state, error, waitMs } = settled;
  const next = sql`now() + ${waitMs}::float8 * interval '1 millisecond'`;
  const { rows } = await sql`
    with held as materialized (
      select state, attempts from callback where id = ${id}::uuid for update
    ), settled as (
      update callback set state = ${state}::text, last_error = ${error}::text, due_time = ${next},
        end_time = case when ${state}::text <> 'pending' then now() end
      where id = ${id}::uuid
        and exists (select from held where held.state = 'pending' and held.attempts = ${attempts}::int)
      returning session
    ), followers as (
      update callback set due_time = ${next}
      where session = (select session from settled) and end_time is null and id <> ${id}::uuid
    )
    select from settled`.execute(db);
  return rows.length === 1;
}

/** A callback as its client sees it. */
export interface ClientCallback {
  readonly id: string;
  readonly position: number;
  readonly session_name: string;
  readonly run_id: string | null;
  readonly sequence: number;
  readonly status: CallbackStatus;
  readonly base_url: string;
  readonly state: CallbackState;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly create_time: Date;
  readonly due_time: Date;
  readonly end_time: Date | null;
}

function clientCallbacks(db: Db | Transaction) {
  return db
    .selectFrom("callback")
    .innerJoin("session", "session.id", "callback.session")
    .select([
      "callback.id",
      "callback.position",
      "session.name as session_name",
      "callback.run_id",
      "callback.sequence",
      "callback.status",
      "callback.base_url",
      "callback.state",
      "callback.attempts",
      "callback.last_error",
      "callback.create_time",
      "callback.due_time",
      "callback.end_time",
    ]);
}

/** Returns callbacks, newest first. Includes those of deleted sessions, whose last callbacks may be on their way. */
export async function listCallbacks(
  db: Db,
  args: {
    client: string;
    sessionName: string | undefined;
    state: CallbackState | undefined;
    before: number | undefined;
    limit: number;
  },
): Promise<ClientCallback[]> {
  const { client, sessionName, state, before, limit } = args;
  if (sessionName !== undefined && !isStorableText(sessionName)) {
    return [];
  }
  let query = clientCallbacks(db).orderBy("callback.position", "desc").limit(limit);
  if (sessionName !== undefined) {
    query = query.where(
      sql<boolean>`callback.session = any(array(${sessionsEverNamed({ client, name: sessionName })}))`,
    );
  } else if (state === undefined || state === "delivered") {
    query = query.where("callback.client", "=", client);
  } else {
    // For the index of callbacks in these states.
    query = query.where(
      sql<boolean>`callback.client collate "C" = ${client} and coalesce(callback.state, '') <> 'delivered'`,
    );
  }
  if (state !== undefined) {
    query = query.where("callback.state", "=", state);
  }
  if (before !== undefined) {
    query = query.where("callback.position", "<", before);
  }
  return await query.execute();
}

/**
 * Makes a settled callback pending again, as the last one of its session; a pending one stays unchanged. Returns undefined when
 * the client has no callback with the id. Takes the same locks in the same order as a transition does. So its new position is
 * drawn after all earlier ones are committed.
 */
export async function redeliverCallback(
  trx: Transaction,
  { client, id }: { client: string; id: string },
): Promise<ClientCallback | undefined> {
  const { rows } = await sql<{ latest_run_id: string | null }>`
    select latest_run_id from session
    where id = (select session from callback where id = ${id} and client = ${client}) for no key update`.execute(trx);
  await sql`select from run where id = ${rows[0]?.latest_run_id ?? null}::uuid for update`.execute(trx);
  await sql`
    update callback set state = 'pending', position = default, attempts = 0, last_error = null, end_time = null,
      due_time = default, give_up_time = default
    where id = ${id} and client = ${client} and state <> 'pending'`.execute(trx);
  return await clientCallbacks(trx)
    .where("callback.client", "=", client)
    .where("callback.id", "=", id)
    .executeTakeFirst();
}

/** Deletes all callbacks of the sessions, at most `rowsMax` in a statement. */
export async function deleteCallbacks(db: Db, args: { sessions: readonly string[]; rowsMax: number }): Promise<void> {
  const sessions = uuidArray(args.sessions);
  let rows: number;
  do {
    const { numAffectedRows = 0n } = await sql`
      delete from callback where id in (
        select id from callback where session = any(${sessions}::uuid[]) limit ${sql.lit(args.rowsMax)})`.execute(db);
    rows = Number(numAffectedRows);
  } while (rows === args.rowsMax);
}

/** Deletes callbacks that were settled longer ago than `keptMs`, oldest first. Returns how many. */
export async function deleteSettledCallbacks(db: Db, args: { keptMs: number; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from callback where id in (
      select id from callback
      where state <> 'pending' and end_time < now() - ${args.keptMs} * interval '1 millisecond'
      order by end_time limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}
