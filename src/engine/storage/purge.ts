// Erases the content of a session's rows. The rows stay, with client, times, durations and order. Only ended runs of deleted
// sessions are touched, so no other statement writes to them meanwhile. A purge that stops anywhere may be repeated.

import { sql } from "kysely";
import { byteaArray, int8Array } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import { runIsActive } from "./run.ts";
import type { RunTable } from "./schema.ts";
import { sessionsEverNamed } from "./session.ts";

interface SessionName {
  readonly client: string;
  readonly name: string;
}

/** Returns whether any session that the client ever had under the name has an active run, or a run below one of its runs is active. */
export async function hasActiveRun(trx: Transaction, { client, name }: SessionName): Promise<boolean> {
  if (!isStorableText(name)) {
    return false;
  }
  const { rows } = await sql`
    with recursive family (id) as (
      select id from (${sessionsEverNamed({ client, name })}) as named
      union all
      select child.id from family cross join lateral (select id from session where parent_session = family.id offset 0) as child
    )
    select from family cross join lateral (select from run where session = family.id and ${runIsActive} offset 0) as active limit 1`.execute(
    trx,
  );
  return rows.length > 0;
}

/** A deleted session, as a purge needs it. */
export interface DeletedSession {
  readonly id: string;
  readonly runs: number;
  /** True when a purge has finished with it. */
  readonly isPurged: boolean;
}

/** Returns the deleted sessions of a name after an id, in order of their ids. A child run's session has no name that a client knows. */
export async function listDeletedSessions(
  db: Db,
  args: SessionName & { after: string | undefined; limit: number },
): Promise<DeletedSession[]> {
  if (!isStorableText(args.name)) {
    return [];
  }
  const { rows } = await sql<DeletedSession>`
    select id, octet_length(agent) = 0 as "isPurged",
      (select count(*) from run where run.session = session.id) as runs
    from session
    where client = ${args.client} and name = ${args.name} and delete_time is not null
      and id > ${args.after ?? "00000000-0000-0000-0000-000000000000"}
    order by id limit ${sql.lit(args.limit)}`.execute(db);
  return rows;
}

/** Returns the sessions of the child runs of a session's runs. */
export async function listChildSessions(db: Db, session: string): Promise<DeletedSession[]> {
  const { rows } = await sql<DeletedSession>`
    select id, octet_length(agent) = 0 as "isPurged", (select count(*) from run where run.session = session.id) as runs
    from session where parent_session = ${session} order by id`.execute(db);
  return rows;
}

/** Returns the runs of a session after an id, in order of their ids. */
export async function listRunIdsOf(
  db: Db,
  args: { session: string; after: string | undefined; limit: number },
): Promise<string[]> {
  let query = db
    .selectFrom("run")
    .select("id")
    .where("session", "=", args.session)
    .orderBy("id")
    .limit(sql.lit(args.limit));
  if (args.after !== undefined) {
    query = query.where("id", ">", args.after);
  }
  return (await query.execute()).map(({ id }) => id);
}

/** Replaces the stored bytes of some of a run's results. */
export async function replaceResults(
  trx: Transaction,
  args: { runId: string; results: readonly { readonly sequence: number; readonly payload: Uint8Array }[] },
): Promise<void> {
  const sequences = int8Array(args.results.map(({ sequence }) => sequence));
  const payloads = byteaArray(args.results.map(({ payload }) => payload));
  await sql`
    update run_result set payload = purged.payload
    from unnest(${sequences}::int8[], ${payloads}::bytea[]) as purged (sequence, payload)
    where run_result.run_id = ${args.runId} and run_result.sequence = purged.sequence`.execute(trx);
}

/** Columns that a purge keeps: they say who did what when, and at which cost. */
type KeptColumn =
  | "id"
  | "client"
  | "session"
  | "driver"
  | "status"
  | "owner"
  | "epoch"
  | "turn"
  | "takeovers"
  | "wait_reason"
  | "wake_at"
  | "deadline"
  | "cancel_request_time"
  | "create_time"
  | "start_time"
  | "end_time"
  | "last_sequence"
  | "trace_parent"
  | "callback_url"
  | "log_hash"
  | "model"
  | "input_length"
  | "priority"
  | "delete_time"
  | "assigned_runner"
  | "prompt_tokens"
  | "completion_tokens"
  | "cost_micro_usd"
  | "parent_run_id"
  | "root_run_id"
  | "depth"
  | "change_time"
  | "has_pushes";

/** All others but the terminal result. A new column of the table compiles when it is among these or the kept ones. */
const emptied = {
  input: Buffer.alloc(0),
  input_excerpt: "",
  agent: null,
  agent_name: null,
  annotations: null,
  failure: null,
} as const satisfies Readonly<Record<Exclude<keyof RunTable, KeptColumn | "terminal">, unknown>>;

/** Replaces a run's input with an empty message, drops its settings and its failure, and replaces its terminal result with `terminal`. */
export async function emptyRun(trx: Transaction, args: { id: string; terminal: Uint8Array | null }): Promise<void> {
  await trx
    .updateTable("run")
    .set({ ...emptied, terminal: args.terminal === null ? null : Buffer.from(args.terminal) })
    .where("id", "=", args.id)
    .execute();
}

/**
 * Empties a session row, as the last step of its purge. An agent of zero bytes marks it as purged: real agents have a name.
 */
export async function emptySession(db: Db, id: string): Promise<void> {
  await db
    .updateTable("session")
    .set({ agent: Buffer.alloc(0), callback: null, work_dir: null, annotations: null })
    .where("id", "=", id)
    .execute();
}
