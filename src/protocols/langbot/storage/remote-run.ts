// Runs of runners: what was frozen at their start, who was offered them and who has them.

import { type RawBuilder, type Selectable, sql } from "kysely";
import type { RunStatus } from "../../../engine/storage/schema.ts";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { untilFewer } from "../../../platform/database/until-fewer.ts";
import type { RunnerAddress } from "./runner.ts";
import type { RemoteRunTable } from "./schema.ts";

export interface NewRemoteRun {
  readonly runId: string;
  readonly client: string;
  readonly runnerId: string;
  readonly bindingId: string;
  readonly era: string;
  /** A RunScope, as `runners/` has it. */
  readonly scope: unknown;
  /** A Grant, as `runners/` has it. */
  readonly granted: unknown;
  readonly context: Uint8Array;
  /** Undefined for one that a worker takes. One that is dialled needs nobody's acceptance. */
  readonly address: RunnerAddress | undefined;
}

export async function insertRemoteRun(trx: Transaction, run: NewRemoteRun): Promise<void> {
  await trx
    .insertInto("remote_run")
    .values({
      run_id: run.runId,
      client: run.client,
      runner_id: run.runnerId,
      binding_id: run.bindingId,
      era: run.era,
      scope: JSON.stringify(run.scope),
      granted: JSON.stringify(run.granted),
      context: Buffer.from(run.context),
      ...(run.address && { ...run.address, attempt: 1 }),
    })
    .execute();
}

export async function findRemoteRun(
  db: Db | Transaction,
  runId: string,
): Promise<Selectable<RemoteRunTable> | undefined> {
  return await db.selectFrom("remote_run").selectAll().where("run_id", "=", runId).executeTakeFirst();
}

/** Which runner and binding runs have. */
export async function listRunnersOf(
  db: Db | Transaction,
  runs: readonly string[],
): Promise<Pick<Selectable<RemoteRunTable>, "run_id" | "runner_id" | "binding_id">[]> {
  return await db
    .selectFrom("remote_run")
    .select(["run_id", "runner_id", "binding_id"])
    .where("run_id", "=", sql<string>`any(${uuidArray(runs)}::uuid[])`)
    .execute();
}

/** What decides whether a runner may ask for something, read in one go. */
export interface RemoteRunAccess {
  readonly client: string;
  readonly runner_id: string;
  readonly binding_id: string;
  readonly scope: unknown;
  readonly granted: unknown;
  readonly attempt: number;
  readonly is_dialled: boolean;
  readonly status: RunStatus;
  readonly cancel_request_time: Date | null;
  /** Until its deadline; negative when that has passed. */
  readonly time_left_ms: number;
}

export async function findRemoteRunAccess(db: Db | Transaction, runId: string): Promise<RemoteRunAccess | undefined> {
  return await readAccess(db, runId, sql``);
}

/**
 * The same, and until the end of the transaction the run does not end: whoever ends it waits. A weaker lock than this one
 * would let the statement that completes a run pass.
 */
export async function holdRemoteRunAccess(trx: Transaction, runId: string): Promise<RemoteRunAccess | undefined> {
  return await readAccess(trx, runId, sql`for share of run`);
}

async function readAccess(
  db: Db | Transaction,
  runId: string,
  lock: RawBuilder<unknown>,
): Promise<RemoteRunAccess | undefined> {
  const { rows } = await sql<RemoteRunAccess>`
    select remote_run.client, remote_run.runner_id, remote_run.binding_id, scope, granted, attempt,
      remote_run.url is not null as is_dialled, run.status, run.cancel_request_time, (extract(epoch from run.deadline - clock_timestamp()) * 1000)::float8 as time_left_ms
    from remote_run join run on run.id = remote_run.run_id where remote_run.run_id = ${runId} ${lock}`.execute(db);
  return rows[0];
}

export interface DialledRun extends RunnerAddress {
  readonly context: Uint8Array;
  readonly era: string;
  readonly runner_id: string;
  readonly attempt: number;
  /** Until its deadline; negative when that has passed. */
  readonly time_left_ms: number;
}

/** Takes what a run is dialled with, once: undefined when it was taken before, or the run is none that is dialled. */
export async function takeDialledRun(db: Db, runId: string): Promise<DialledRun | undefined> {
  const { rows } = await sql<DialledRun>`
    with held as materialized (
      select run_id, url, credential from remote_run
      where run_id = ${runId} and url is not null and accept_time is null for update
    )
    update remote_run set accept_time = now(), credential = null from held, run
    where remote_run.run_id = held.run_id and run.id = held.run_id
    returning held.url, held.credential, context, era, runner_id, attempt,
      (extract(epoch from run.deadline - now()) * 1000)::float8 as time_left_ms`.execute(db);
  return rows[0];
}

/**
 * Drops what hangs on runs of runners, no more than `rowsMax` at a time, and what nobody reaches without them: events and
 * artifacts of no conversation. What a conversation has stays.
 */
export async function deleteRemoteRuns(
  db: Db,
  { runs, rowsMax }: { runs: readonly string[]; rowsMax: number },
): Promise<void> {
  const ids = uuidArray(runs);
  await untilFewer(rowsMax, () =>
    sql`
      delete from result_verdict where (run_id, position) in (
        select run_id, position from result_verdict where run_id = any(${ids}::uuid[]) limit ${rowsMax})`.execute(db),
  );
  await untilFewer(rowsMax, () =>
    sql`
      delete from approval where id in (
        select id from approval where run_id = any(${ids}::uuid[]) limit ${rowsMax})`.execute(db),
  );
  await untilFewer(rowsMax, () =>
    sql`
      delete from artifact where (client, artifact_id) in (
        select client, artifact_id from artifact
        where run_id = any(${ids}::uuid[]) and scope is null limit ${rowsMax})`.execute(db),
  );
  await sql`delete from agent_event where run_id = any(${ids}::uuid[]) and scope is null`.execute(db);
  await sql`delete from remote_run where run_id = any(${ids}::uuid[])`.execute(db);
}

/**
 * Takes what runs of runners were told and have said out of what is kept for them and for their conversation: their context,
 * their event, their messages, what they have made and asked for. Numbers, types and times stay.
 */
export async function emptyRemoteRuns(db: Db, runs: readonly string[]): Promise<void> {
  const ids = uuidArray(runs);
  await sql`
    update history_item set content = null, content_json = '{}' from agent_event
    where agent_event.run_id = any(${ids}::uuid[])
      and history_item.scope = agent_event.scope and history_item.run_id = agent_event.run_id`.execute(db);
  await sql`delete from artifact where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`
    update approval set action = '', request = '{}', comment = case when comment is null then null else '' end
    where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`update result_verdict set diagnostics = '{}' where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`update agent_event set record = '' where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`update remote_run set context = '', credential = null where run_id = any(${ids}::uuid[])`.execute(db);
}
