// Offers of runs to workers, and their acceptance. An offer is open until a worker accepts it or until it expires.

import { type Selectable, sql } from "kysely";
import { claimChosen } from "../../../engine/storage/run-claim.ts";
import type { StartedRun } from "../../../engine/storage/run-start.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { textArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import type { RemoteRunTable } from "./schema.ts";

/** A run that is offered to a worker. */
export interface OfferedRun {
  readonly run_id: string;
  readonly runner_id: string;
  readonly offer_id: string;
  readonly offer_until: Date;
}

/** The worker that asks for offers, and its limits. */
export interface OfferArgs {
  readonly client: string;
  readonly session: string;
  readonly runnerIds: readonly string[];
  readonly sessionMax: number;
  readonly runnerMax: number;
  readonly limit: number;
  readonly offerMs: number;
}

/**
 * Offers queued runs of some runners to a worker, as many as the worker and its runners can still take. An open offer counts as
 * a run. Runs that are offered to other workers, or locked by their queries, are left out.
 */
export async function offerRuns(db: Db, args: OfferArgs): Promise<OfferedRun[]> {
  // Workers ask constantly, and mostly in vain: they must not wait for each other.
  if (!(await isAnyWaiting(db, args))) {
    return [];
  }
  return await db.transaction().execute(async (trx) => {
    await lockOffers(trx, args);
    return await insertOffers(trx, args);
  });
}

/** No worker has the run, and no offer of it is open. */
const isOpenToOffers = sql`r.attempt = 0 and run.status = 'queued' and (r.offer_until is null or r.offer_until < now())`;

async function isAnyWaiting(db: Db, { client, runnerIds }: OfferArgs): Promise<boolean> {
  const { rows } = await sql<{ any: boolean }>`
    select exists (
      select from remote_run r join run on run.id = r.run_id
      where r.client = ${client} and r.runner_id = any(${textArray(runnerIds)}::text[]) and ${isOpenToOffers}
    ) as any`.execute(db);
  return rows[0]?.any === true;
}

/** Locks the offers of these runners until the end of the transaction, so that the counts stay true. */
async function lockOffers(trx: Transaction, { client, runnerIds }: OfferArgs): Promise<void> {
  const names = runnerIds.map((runnerId) => `runnel offers of ${client} ${runnerId}`);
  // In one order for all workers, so that they cannot deadlock.
  await sql`
    select pg_advisory_xact_lock(key) from (
      select distinct hashtext(name) as key from unnest(${textArray(names)}::text[]) as name order by key
    ) as keys`.execute(trx);
}

async function insertOffers(trx: Transaction, args: OfferArgs): Promise<OfferedRun[]> {
  const { rows } = await sql<OfferedRun>`
    with active as materialized (
      select r.runner_id, case when r.attempt = 0 then r.offer_session else r.worker_session end as session
      from run join remote_run r on r.run_id = run.id
      where run.status in ('queued', 'running', 'waiting') and r.client = ${args.client}
        and (r.attempt > 0 or r.offer_until >= now())
    ), room as (
      select runner_id, ${args.runnerMax}::int8
        - (select count(*) from active where active.runner_id = asked.runner_id) as runs
      from unnest(${textArray(args.runnerIds)}::text[]) as asked (runner_id)
    ), chosen as (
      select waiting.run_id from room cross join lateral (
        select r.run_id from remote_run r join run on run.id = r.run_id
        where r.client = ${args.client} and r.runner_id = room.runner_id and ${isOpenToOffers}
        order by r.run_id
        limit greatest(0, least(${args.limit}::int8, room.runs))
        for update of r skip locked
      ) as waiting
      order by waiting.run_id
      limit greatest(0, least(${args.limit}::int8,
        ${args.sessionMax}::int8 - (select count(*) from active where session = ${args.session}::uuid)))
    )
    update remote_run set offer_id = gen_random_uuid(), offer_session = ${args.session},
      offer_until = now() + ${args.offerMs}::float8 * interval '1 millisecond'
    from chosen where remote_run.run_id = chosen.run_id
    returning remote_run.run_id, remote_run.runner_id, remote_run.offer_id, remote_run.offer_until`.execute(trx);
  return rows;
}

interface Acceptance {
  readonly runId: string;
  readonly client: string;
  readonly session: string;
  readonly offerId: string;
}

/**
 * Gives the run to a worker and its work to a replica. Returns undefined when the offer is not valid any more. Throws Fault
 * OFFER_TAKEN when it changed meanwhile.
 */
export async function acceptOffer(
  trx: Transaction,
  { runId, client, session, offerId, owner }: Acceptance & { owner: string },
): Promise<StartedRun | undefined> {
  // The run is locked first, as in every other transaction.
  const [run] = await claimChosen(
    trx,
    owner,
    sql`
      select run.id from remote_run r cross join lateral (
        select id from run where id = r.run_id and status = ${"queued"} for update
      ) as run
      where r.run_id = ${runId} and r.client = ${client} and r.attempt = 0
        and r.offer_id = ${offerId} and r.offer_session = ${session} and r.offer_until > now()`,
  );
  if (run === undefined) {
    return undefined;
  }
  const result = await trx
    .updateTable("remote_run")
    .set({ attempt: 1, worker_session: session, accept_time: sql<Date>`now()` })
    .where("run_id", "=", runId)
    .where("attempt", "=", 0)
    .where("offer_id", "=", offerId)
    .executeTakeFirst();
  failpoint("accept.written");
  if (result.numUpdatedRows !== 1n) {
    throw new Fault(reasons.OFFER_TAKEN, "the offer has expired: wait for the next one");
  }
  return run;
}

/** Returns the run that this worker has by this very offer: its answer may have been lost. Undefined when it has not. */
export async function findAccepted(
  db: Db,
  { runId, client, session, offerId }: Acceptance,
): Promise<Selectable<RemoteRunTable> | undefined> {
  const { rows } = await sql<Selectable<RemoteRunTable>>`
    select remote_run.* from remote_run join run on run.id = remote_run.run_id
    where run_id = ${runId} and remote_run.client = ${client} and attempt = 1 and worker_session = ${session}
      and offer_id = ${offerId} and run.status in ('queued', 'running')`.execute(db);
  return rows[0];
}

/** Lists the runs of a worker whose cancellation was requested. */
export async function listCancelledOf(db: Db, session: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select run.id from run join remote_run on remote_run.run_id = run.id
    where run.status = 'running' and run.cancel_request_time is not null and remote_run.worker_session = ${session}
    order by run.id`.execute(db);
  return rows.map(({ id }) => id);
}
