// Gives a run to a replica. A run is inserted with its session's message and owned at once, or queued and claimed by a free
// replica.

import { type RawBuilder, sql } from "kysely";
import { textArray } from "../../platform/database/binary-array.ts";
import { type Db, storableText, type Transaction } from "../../platform/database/database.ts";
import { isUniqueViolation } from "../../platform/database/errors.ts";
import { gathered } from "../../platform/database/gather.ts";
import { parameterRows } from "../../platform/database/parameter-rows.ts";
import { callbackOf } from "./callback.ts";
import { type RunRow, runValues } from "./run.ts";
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
  readonly annotations?: string | undefined;
  /** When a replica may begin, in milliseconds since 1970; unset, or a time in the past, means at once. */
  readonly startMs?: number | undefined;
  /** Among the queued runs of its client; unset means 0. */
  readonly priority?: number | undefined;
  readonly timeoutMs: number;
  /** The replica that works on it at once, if it still has its lease; undefined queues the run. */
  readonly owner: string | undefined;
  /** The caller's trace; undefined when the call has no trace. */
  readonly traceParent?: string | undefined;
  /** The URL for status callbacks; undefined for no callbacks. */
  readonly callbackUrl?: string | undefined;
  /** Nothing is inserted when this many runs are active on all replicas; undefined for no maximum. */
  readonly activeMax?: number | undefined;
  /** The same for the client's runs. */
  readonly clientActiveMax?: number | undefined;
  readonly freeWhileWaiting?: readonly string[] | undefined;
}

// The statuses are literals, so that every cached plan can use the partial index of active runs.
function activeRuns({ client, freeWhileWaiting }: ActiveScope) {
  const whose = client === undefined ? sql`` : sql` and client = ${client}`;
  const isFree = sql`status = 'waiting' and driver = any(${textArray(freeWhileWaiting)}::text[])`;
  return sql`(select count(*) from run where status in ('queued', 'running', 'waiting') and not (${isFree})${whose})`;
}

/** Which active runs count. */
export interface ActiveScope {
  /** The client whose runs count; undefined for all clients. */
  readonly client?: string | undefined;
  /** Drivers whose waiting runs do not count. */
  readonly freeWhileWaiting: readonly string[];
}

/**
 * Inserts a run. It becomes the session's latest run, and its input the session's newest message. This is one statement,
 * because the client that sent the message waits for every round trip. The run is owned at once if `owner` has a lease, else
 * queued. The rows of the lease and the session stay locked. Returns undefined and writes nothing in four cases: the session
 * has an unfinished run, it is deleted, too many runs are active, or another transaction holds the session while several inserts
 * share the statement. Concurrent inserts without limits share one statement and one commit.
 */
export async function insertRun(db: Db | Transaction, run: NewRun): Promise<StartedRun | undefined> {
  if (run.activeMax === undefined && run.clientActiveMax === undefined) {
    return await insertShared(db, run);
  }
  const [started] = await insertRuns(db, [run]);
  return started;
}

const insertShared = gathered(insertRuns);

/** Inserts runs. The limits of the first one apply to a statement of one run; several runs have no limits. */
async function insertRuns(db: Db | Transaction, runs: readonly NewRun[]): Promise<(StartedRun | undefined)[]> {
  const [first] = runs;
  const { activeMax, clientActiveMax, client, freeWhileWaiting = [] } = first ?? {};
  const isCalled = runs.some(({ callbackUrl }) => callbackUrl !== undefined);
  const called = isCalled ? sql`, called as (${callbackOf("inserted", "running")})` : sql``;
  // A shared statement waits for no session: all other runs in it would wait too. `delete_time` is checked after the lock:
  // beside the id it would lead the planner to a partial index, of which it may read all.
  const locked = runs.length === 1 ? sql`` : sql` skip locked`;
  try {
    const { rows } = await sql<StartedRun>`
      with asked as materialized (
        select * from ${parameterRows(runs, {
          id: ["uuid", ({ id }) => id],
          client: ["text", ({ client }) => client],
          session: ["uuid", ({ session }) => session],
          driver: ["text", ({ driver }) => driver],
          input: ["bytea", ({ input }) => input],
          timeout_ms: ["int8", ({ timeoutMs }) => timeoutMs],
          owner: ["uuid", ({ owner }) => owner],
          trace_parent: ["text", ({ traceParent }) => traceParent],
          callback_url: ["text", ({ callbackUrl }) => callbackUrl],
          agent: ["bytea", ({ agent }) => agent],
          model: ["text", ({ model }) => model],
          agent_name: ["text", ({ agentName }) => agentName && storableText(agentName)],
          input_length: ["int4", ({ inputLength = 1 }) => inputLength],
          annotations: ["text", ({ annotations }) => annotations],
          start_ms: ["int8", ({ startMs = 0 }) => startMs],
          priority: ["int4", ({ priority = 0 }) => priority],
        })} as given
      ), held as materialized (
        select id from replica where id in (select owner from asked) and lease_until > now() for key share
      ), owned as materialized (
        select session.* from asked cross join lateral (
          select id, name, agent, work_dir, callback, delete_time from session
          where id = asked.session for no key update${locked}
        ) as session
      ), inserted as (
        insert into run (id, client, session, driver, input, trace_parent, callback_url, deadline,
          agent, model, agent_name, input_length, annotations, priority, owner, status, epoch, wake_at, start_time)
        select asked.id, asked.client, owned.id, asked.driver, asked.input, asked.trace_parent, asked.callback_url,
          greatest(now(), to_timestamp(asked.start_ms / 1000.0)) + asked.timeout_ms * interval '1 millisecond',
          asked.agent, asked.model, asked.agent_name, asked.input_length, asked.annotations, asked.priority,
          held.id, case when held.id is null then 'queued' else 'running' end, case when held.id is null then 0 else 1 end,
          case when held.id is null then greatest(now(), to_timestamp(asked.start_ms / 1000.0)) end,
          case when held.id is not null then now() end
        from asked join owned on owned.id = asked.session left join held on held.id = asked.owner
        where owned.delete_time is null
          and not exists (select from run as pending where pending.session = owned.id and pending.status = 'pending')
          and ${isBelow(activeMax, activeRuns({ freeWhileWaiting }))}
          and ${isBelow(clientActiveMax, activeRuns({ client, freeWhileWaiting }))}
        on conflict (session) where status in ('queued', 'running', 'waiting') do nothing
        returning ${runValues}, agent as own_agent
      ), latest as (
        update session set latest_run_id = inserted.id from inserted where session.id = inserted.session
      ), said as (${inputOf("inserted")})${called}
      select inserted.*, owned.name as session_name, coalesce(own_agent, owned.agent) as agent, owned.work_dir, owned.callback,
        said.position + 1 as transcript_length
      from inserted join owned on owned.id = inserted.session join said on said.session = inserted.session`.execute(db);
    const started = new Map(rows.map((row) => [row.id, row]));
    return runs.map(({ id }) => started.get(id));
  } catch (error) {
    // A session's run before ended while this statement waited for it, and its last message was not visible yet.
    if (runs.length === 1 && isUniqueViolation(error, "transcript_pkey")) {
      return [undefined];
    }
    throw error;
  }
}

function isBelow(max: number | undefined, count: RawBuilder<unknown>) {
  return max === undefined ? sql`true` : sql`${count} < ${max}::int8`;
}

/** Counts the active runs on all replicas, of one client or of all. */
export async function countActiveRuns(db: Db | Transaction, scope: ActiveScope): Promise<number> {
  const { rows } = await sql<{ count: number }>`select ${activeRuns(scope)} as count`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Locks the admission of runs, of all clients or of this one, until the transaction ends. */
export async function lockAdmission(trx: Transaction, client?: string): Promise<void> {
  const name = client === undefined ? "runnel admission" : `runnel admission of ${client}`;
  await sql`select pg_advisory_xact_lock(hashtext(${name}))`.execute(trx);
}

/** Which runs to claim. */
export interface Claim {
  readonly owner: string;
  readonly limit: number;
  /** The claim begins with the client after this one; unset means with the first. */
  readonly afterClient?: string;
  /** Claims only runs of these drivers; of any driver when unset. */
  readonly drivers?: readonly string[];
  /** Claims no runs of these drivers. */
  readonly exceptDrivers?: readonly string[];
}

/** The number of clients among which a claim chooses: it bounds the cost of a claim, however long the queue is. */
const clientsPerClaim = 64;
/** How many times the needed runs are read: other replicas may be claiming the first ones. */
const spareRuns = 4;

/**
 * Claims due runs of the queue for a replica. No client gets a second run before every client had its turn. A claim considers the
 * next clients after `afterClient`, in a circle, and takes the runs among theirs of the highest priority, those that have waited
 * longest first.
 */
export async function claimRuns(db: Db, args: Claim): Promise<StartedRun[]> {
  const { owner, limit, afterClient = "", drivers, exceptDrivers = [] } = args;
  const among = drivers === undefined ? sql`` : sql` and driver = any(${textArray(drivers)}::text[])`;
  const notAmong = exceptDrivers.length === 0 ? sql`` : sql` and driver <> all(${textArray(exceptDrivers)}::text[])`;
  const queued = sql`run where status = 'queued'${among}${notAmong}`;
  // Each step jumps over the runs of a client to the next client.
  const clientsAfter = (client: string) => sql`
    (select client from ${queued} and client collate "C" > ${client} order by client collate "C" limit 1)
    union all
    select (select client from ${queued} and client collate "C" > each.client order by client collate "C" limit 1)
    from each where each.client is not null`;
  const { rows } = await sql<StartedRun>`
    with next_clients as materialized (
      with recursive each (client) as (${clientsAfter(afterClient)})
      select client from each where client is not null limit ${clientsPerClaim}
    ), clients as (
      select client from next_clients
      union
      (with recursive each (client) as (${clientsAfter("")})
      select client from each where client is not null
      limit ${clientsPerClaim} - (select count(*) from next_clients))
    ), due as (
      select due.* from clients cross join lateral (
        select id, wake_at, row_number() over (order by priority desc, wake_at) as turn_of_client from (
          select id, wake_at, priority from ${queued} and client collate "C" = clients.client and wake_at <= now()
          order by priority desc, wake_at limit greatest(${spareRuns}, ${spareRuns * limit} / (select count(*) from clients))
        ) as first
      ) as due
    ), chosen as materialized (
      select locked.id from (select id from due order by turn_of_client, wake_at) as first
      cross join lateral (
        select id from run where id = first.id and status = 'queued' for update skip locked
      ) as locked
      limit ${limit}
    ), claimed as (
      update run set status = 'running', owner = ${owner}, epoch = epoch + 1, wake_at = null, wait_reason = null,
        start_time = coalesce(run.start_time, now())
      from chosen where run.id = chosen.id
        and exists (select 1 from replica where id = ${owner} and lease_until > now())
      returning ${runValues}, agent as own_agent
    )
    select claimed.*, session.*, null::int8 as transcript_length from claimed cross join lateral (
      select name as session_name, coalesce(claimed.own_agent, agent) as agent, work_dir, callback
      from session where id = claimed.session limit 1
    ) as session`.execute(db);
  return rows;
}
