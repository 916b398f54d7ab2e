// Claims queued runs for a replica, which then works on them.

import { type RawBuilder, sql } from "kysely";
import { textArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { runValues } from "./run.ts";
import type { StartedRun } from "./run-start.ts";

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
  return await claimChosen(
    db,
    owner,
    sql`
      with next_clients as materialized (
        with recursive each (client) as (${clientsAfter(afterClient)})
        select client from each where client is not null limit ${sql.lit(clientsPerClaim)}
      ), clients as (
        select client from next_clients
        union
        (with recursive each (client) as (${clientsAfter("")})
        select client from each where client is not null
        limit ${sql.lit(clientsPerClaim)} - (select count(*) from next_clients))
      ), due as (
        select due.* from clients cross join lateral (
          select id, wake_at, row_number() over (order by priority desc, wake_at) as turn_of_client from (
            select id, wake_at, priority from ${queued} and client collate "C" = clients.client and wake_at <= now()
            order by priority desc, wake_at limit greatest(${spareRuns}, ${spareRuns * limit} / (select count(*) from clients))
          ) as first
        ) as due
      )
      select locked.id from (select id from due order by turn_of_client, wake_at) as first
      cross join lateral (
        select id from run where id = first.id and status = ${"queued"} for update skip locked
      ) as locked
      limit ${limit}`,
  );
}

/**
 * Gives queued runs to a replica that still has its lease. `chosen` is a query of the ids of these runs, which it locks. This is
 * the only statement that claims runs.
 */
export async function claimChosen(
  db: Db | Transaction,
  owner: string,
  chosen: RawBuilder<unknown>,
): Promise<StartedRun[]> {
  const { rows } = await sql<StartedRun>`
    with chosen as materialized (${chosen}), claimed as (
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
