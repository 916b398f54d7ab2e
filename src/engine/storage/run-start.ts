// Writes the rows of new runs, which nothing else inserts. A run is owned by a replica at once, or queued, or pending in its
// session. `run-claim.ts` gives queued runs to replicas.

import { type RawBuilder, sql } from "kysely";
import { type Db, storableText, type Transaction } from "../../platform/database/database.ts";
import { isUniqueViolation } from "../../platform/database/errors.ts";
import { gathered } from "../../platform/database/gather.ts";
import { type ParameterColumn, type ParameterColumns, parameterRows } from "../../platform/database/parameter-rows.ts";
import { rowStatement } from "../../platform/database/row-statement.ts";
import { activeRuns } from "./active-runs.ts";
import { callbackOf } from "./callback.ts";
import { firstWords } from "./first-words.ts";
import { type RunRow, runValues } from "./run.ts";
import type { RunTable, SessionTable } from "./schema.ts";
import { inputOf } from "./transcript.ts";

/** A run that a replica starts to work on, with the state of its session at that moment. */
export interface StartedRun extends RunRow {
  readonly session_name: string;
  readonly agent: Uint8Array;
  readonly work_dir: string | null;
  readonly callback: Uint8Array | null;
  /** The number of messages of the session up to the run's input; null when it was not read. */
  readonly transcript_length: number | null;
}

/** A run to insert. */
export interface NewRun {
  readonly id: string;
  readonly client: string;
  readonly session: string;
  readonly driver: string;
  readonly input: Uint8Array;
  /** The number of messages in the input, `input` included; unset means 1. */
  readonly inputLength?: number;
  /** The settings of this run alone; undefined for those of its session. */
  readonly agent?: Uint8Array | undefined;
  readonly model?: string | undefined;
  /** The name of the agent that works on the run. */
  readonly agentName?: string | undefined;
  /** The id of the runner that works on the run. */
  readonly runnerId?: string | undefined;
  readonly annotations?: string | undefined;
  /** When a replica may begin, in milliseconds since 1970; unset, or a time in the past, means at once. */
  readonly startMs?: number | undefined;
  /** How long no replica claims the queued run, at most until its deadline; unset means 0. */
  readonly unclaimedForMs?: number | undefined;
  /** Among the queued runs of its client; unset means 0. */
  readonly priority?: number | undefined;
  readonly timeoutMs: number;
  /** The caller's trace; undefined when the call has no trace. */
  readonly traceParent?: string | undefined;
  /** The URL for status callbacks; undefined for no callbacks. */
  readonly callbackUrl?: string | undefined;
}

/** A run to insert as its session's latest one. */
export interface StartingRun extends NewRun {
  /** The replica that works on it at once, if it still has its lease; undefined queues the run. */
  readonly owner: string | undefined;
  /** Nothing is inserted when this many runs are active on all replicas; undefined for no maximum. */
  readonly activeMax?: number | undefined;
  /** The same for the client's runs. */
  readonly clientActiveMax?: number | undefined;
  readonly freeWhileWaiting?: readonly string[] | undefined;
}

/** Columns that a new run leaves at their defaults: its work and its end set them. */
type LaterColumn =
  | "turn"
  | "takeovers"
  | "cancel_request_time"
  | "create_time"
  | "end_time"
  | "last_sequence"
  | "terminal"
  | "log_hash"
  | "delete_time"
  | "failure"
  | "prompt_tokens"
  | "completion_tokens"
  | "cost_micro_usd"
  | "change_time"
  | "has_pushes";

/** Columns that say where a new run waits, and when its time is over. */
type PlaceColumn = "status" | "wait_reason" | "owner" | "epoch" | "wake_at" | "start_time" | "deadline";

/** Columns that only a child run has. */
type TreeColumn = "parent_run_id" | "root_run_id" | "depth";

/** All other columns. A new column of the table compiles when it is among these or the later ones. */
const givenColumns: Readonly<
  Record<Exclude<keyof RunTable, LaterColumn | PlaceColumn | TreeColumn>, ParameterColumn<NewRun>>
> = {
  id: ["uuid", ({ id }) => id],
  client: ["text", ({ client }) => client],
  session: ["uuid", ({ session }) => session],
  driver: ["text", ({ driver }) => driver],
  input: ["bytea", ({ input }) => input],
  input_excerpt: ["text", ({ input }) => storableText(firstWords(input))],
  trace_parent: ["text", ({ traceParent }) => traceParent],
  callback_url: ["text", ({ callbackUrl }) => callbackUrl],
  agent: ["bytea", ({ agent }) => agent],
  model: ["text", ({ model }) => model],
  agent_name: ["text", ({ agentName }) => agentName && storableText(agentName)],
  assigned_runner: ["text", ({ runnerId }) => runnerId],
  input_length: ["int4", ({ inputLength = 1 }) => inputLength],
  annotations: ["text", ({ annotations }) => annotations],
  priority: ["int4", ({ priority = 0 }) => priority],
};

/** The columns of the relation `asked`, which every insert reads. */
const askedColumns = {
  ...givenColumns,
  timeout_ms: ["int8", ({ timeoutMs }) => timeoutMs],
  start_ms: ["int8", ({ startMs = 0 }) => startMs],
  unclaimed_ms: ["int8", ({ unclaimedForMs = 0, timeoutMs }) => Math.min(unclaimedForMs, timeoutMs)],
} as const satisfies Readonly<Record<string, ParameterColumn<NewRun>>>;

const startTime = "greatest(now(), to_timestamp(asked.start_ms / 1000.0))";
const deadline = `${startTime} + asked.timeout_ms * interval '1 millisecond'`;

/** Returns SQL that inserts the runs of `asked`, up to its `from`. */
function insertAsked(
  place: Readonly<Record<Exclude<PlaceColumn, "deadline">, string>>,
  columns: object = givenColumns,
): RawBuilder<unknown> {
  const given = Object.fromEntries(Object.keys(columns).map((column) => [column, `asked.${column}`]));
  const values = { ...given, ...place, deadline };
  return sql.raw(`insert into run (${Object.keys(values).join(", ")}) select ${Object.values(values).join(", ")}`);
}

/** Owned by the replica that `held` has locked, else queued. */
const insertOwned = insertAsked({
  status: "case when held.id is null then 'queued' else 'running' end",
  wait_reason: "null",
  owner: "held.id",
  epoch: "case when held.id is null then 0 else 1 end",
  wake_at: `case when held.id is null then ${startTime} end`,
  start_time: "case when held.id is not null then now() end",
});

const waiting = { owner: "null", epoch: "0", start_time: "null" };
const insertPending = insertAsked({ ...waiting, status: "'pending'", wait_reason: "'session'", wake_at: startTime });
const queued = {
  ...waiting,
  status: "'queued'",
  wait_reason: "null",
  wake_at: `${startTime} + asked.unclaimed_ms * interval '1 millisecond'`,
};
const insertQueued = insertAsked(queued);

/**
 * Inserts a run. It becomes the session's latest run, and its input the session's newest message. This is one statement,
 * because the client that sent the message waits for every round trip. The run is owned at once if `owner` has a lease, else
 * queued. The rows of the lease and the session stay locked. Returns undefined and writes nothing in four cases: the session
 * has an unfinished run, it is deleted, too many runs are active, or another transaction holds the session while several inserts
 * share the statement. Concurrent inserts without limits share one statement and one commit.
 */
export async function insertRun(db: Db | Transaction, run: StartingRun): Promise<StartedRun | undefined> {
  const hasLimits = run.activeMax !== undefined || run.clientActiveMax !== undefined;
  return await (hasLimits ? insertLimited(db, run) : insertShared(db, run));
}

const insertShared = gathered(async (db, runs: readonly StartingRun[]) => {
  const isCalled = runs.some(({ callbackUrl }) => callbackUrl !== undefined);
  const started = () => insertUnlimited(db, { given: runs }, { isCalled, isShared: runs.length > 1 });
  const rows = new Map((await (runs.length === 1 ? orNothing(started) : started())).map((row) => [row.id, row]));
  return runs.map(({ id }) => rows.get(id));
});

const startingColumns: ParameterColumns<StartingRun> = { ...askedColumns, owner: ["uuid", ({ owner }) => owner] };
const insertUnlimited = rowStatement<
  { given: readonly StartingRun[] },
  StartedRun,
  { isCalled: boolean; isShared: boolean }
>({ given: startingColumns }, ({ given }, form) => insertion(given, form));

/** Inserts a run under its limits. */
async function insertLimited(db: Db | Transaction, run: StartingRun): Promise<StartedRun | undefined> {
  const { activeMax, clientActiveMax, client, freeWhileWaiting = [], callbackUrl } = run;
  const limits = sql`
    and ${isBelow(activeMax, activeRuns({ freeWhileWaiting }))}
    and ${isBelow(clientActiveMax, activeRuns({ client, freeWhileWaiting }))}`;
  const form = { isCalled: callbackUrl !== undefined, isShared: false };
  const query = insertion(parameterRows([run], startingColumns), form, limits);
  return (await orNothing(async () => (await query.execute(db)).rows))[0];
}

/**
 * Inserts the given runs. A shared statement waits for no session: all other runs in it would wait too. `delete_time` is checked after the
 * lock: beside the id it would lead the planner to a partial index, of which it may read all.
 */
function insertion(
  given: RawBuilder<unknown>,
  { isCalled, isShared }: { readonly isCalled: boolean; readonly isShared: boolean },
  limits: RawBuilder<unknown> = sql``,
): RawBuilder<StartedRun> {
  return sql`
    with asked as materialized (
      select * from ${given} as given
    ), held as materialized (
      select id from replica where id in (select owner from asked) and lease_until > now() for key share
    ), owned as materialized (
      select session.* from asked cross join lateral (
        select id, name, agent, work_dir, callback, delete_time from session
        where id = asked.session for no key update${isShared ? sql` skip locked` : sql``}
      ) as session
    ), inserted as (
      ${insertOwned}
      from asked join owned on owned.id = asked.session left join held on held.id = asked.owner
      where owned.delete_time is null
        and not exists (select from run as pending where pending.session = owned.id and pending.status = 'pending')
        ${limits}
      on conflict (session) where status in ('queued', 'running', 'waiting') do nothing
      returning ${runValues}, agent as own_agent
    ), latest as (
      update session set latest_run_id = inserted.id from inserted where session.id = inserted.session
    ), said as (${inputOf("inserted")})${isCalled ? sql`, called as (${callbackOf("inserted", "running")})` : sql``}
    select inserted.*, owned.name as session_name, coalesce(own_agent, owned.agent) as agent, owned.work_dir, owned.callback,
      said.position + 1 as transcript_length
    from inserted join owned on owned.id = inserted.session join said on said.session = inserted.session`;
}

/** Without rows when a session's run before ended while its statement waited for it, and its last message was not visible yet. */
async function orNothing(insert: () => Promise<StartedRun[]>): Promise<StartedRun[]> {
  try {
    return await insert();
  } catch (error) {
    if (isUniqueViolation(error, "transcript_pkey")) {
      return [];
    }
    throw error;
  }
}

function isBelow(max: number | undefined, count: RawBuilder<unknown>) {
  return max === undefined ? sql`true` : sql`${count} < ${max}::int8`;
}

/** Inserts a pending run with one message, in a session that is locked and has an unfinished run. */
export async function insertPendingRun(trx: Transaction, run: NewRun): Promise<void> {
  await sql`${insertPending} from ${parameterRows([run], askedColumns)} as asked`.execute(trx);
}

/** A run to queue in a session of its own, which clients cannot reach by its name. */
export interface HiddenRun extends NewRun {
  /** The settings of the session. */
  readonly sessionAgent: Uint8Array;
}

/**
 * Queues runs, each in a new hidden session, by one statement. `links` are columns that a protocol has added to the sessions.
 * Returns the deadline of each run in milliseconds since 1970, by the database's clock.
 */
export async function queueHiddenRuns<Run extends HiddenRun>(
  trx: Transaction,
  runs: readonly Run[],
  links: Readonly<{ [Column in keyof SessionTable]?: ParameterColumn<Run> }>,
): Promise<ReadonlyMap<string, number>> {
  const columns: Readonly<Record<string, ParameterColumn<Run>>> = {
    ...askedColumns,
    session_agent: ["bytea", ({ sessionAgent }) => sessionAgent],
    ...links,
  };
  const linked = sql.join([sql``, ...Object.keys(links).map((column) => sql.ref(column))]);
  const { rows } = await sql<{ id: string; deadline_ms: number }>`
    with asked as materialized (
      select * from ${parameterRows(runs, columns)} as given
    ), opened as (
      insert into session (id, client, name, agent, latest_run_id, hidden${linked})
      select session, client, session::text, session_agent, id, true${linked} from asked
    )
    ${insertQueued} from asked
    returning id, (extract(epoch from deadline) * 1000)::float8 as deadline_ms`.execute(trx);
  return new Map(rows.map(({ id, deadline_ms }) => [id, deadline_ms]));
}

/** A run that a call of another run starts. */
export interface ChildRun extends NewRun {
  readonly parentRunId: string;
  readonly rootRunId: string;
  readonly depth: number;
  /** The hidden session to open for it; undefined for a run in a session that exists, has ended all its runs, and is locked. */
  readonly opens: ChildSession | undefined;
}

/** The session of a child run. */
export interface ChildSession {
  readonly agent: Uint8Array;
  readonly parentSession: string;
  readonly workDir: string | undefined;
  readonly callback: Uint8Array | undefined;
}

const treeColumns: Readonly<Record<TreeColumn, ParameterColumn<ChildRun>>> = {
  parent_run_id: ["uuid", ({ parentRunId }) => parentRunId],
  root_run_id: ["uuid", ({ rootRunId }) => rootRunId],
  depth: ["int4", ({ depth }) => depth],
};
const insertChild = insertAsked(queued, { ...givenColumns, ...treeColumns });

/** Queues a child run, whose input becomes the newest message of its session. */
export async function queueChildRun(trx: Transaction, run: ChildRun): Promise<void> {
  const columns: Readonly<Record<string, ParameterColumn<ChildRun>>> = {
    ...askedColumns,
    ...treeColumns,
    session_agent: ["bytea", ({ opens }) => opens?.agent],
    parent_session: ["uuid", ({ opens }) => opens?.parentSession],
    work_dir: ["text", ({ opens }) => opens?.workDir],
    callback: ["bytea", ({ opens }) => opens?.callback],
  };
  await sql`
    with asked as materialized (
      select * from ${parameterRows([run], columns)} as given
    ), opened as (
      insert into session (id, client, name, agent, latest_run_id, hidden, parent_session, work_dir, callback)
      select session, client, session::text, session_agent, id, true, parent_session, work_dir, callback from asked
      where session_agent is not null
    ), latest as (
      update session set latest_run_id = asked.id from asked where session.id = asked.session and session_agent is null
    ), inserted as (
      ${insertChild} from asked returning id, session, input
    )
    ${inputOf("inserted")}`.execute(trx);
}
