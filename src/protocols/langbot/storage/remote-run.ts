// Runs of runners: the data frozen at their start, their offers and their workers.

import { type RawBuilder, type Selectable, sql } from "kysely";
import type { RunStatus } from "../../../engine/storage/schema.ts";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { untilFewer } from "../../../platform/database/until-fewer.ts";
import type { RunnerAddress } from "./runner.ts";
import type { RemoteRunTable } from "./schema.ts";

/** A new run of a runner. */
export interface NewRemoteRun {
  readonly runId: string;
  readonly client: string;
  readonly runnerId: string;
  readonly bindingId: string;
  readonly era: string;
  /** A RunScope of `runners/`. */
  readonly scope: unknown;
  /** A Grant of `runners/`. */
  readonly granted: unknown;
  readonly context: Uint8Array;
  /** The KeptServers of `runners/`, encoded; undefined for a run without MCP servers. */
  readonly mcp?: Uint8Array | undefined;
  /** Undefined for a run that a worker takes. A dialled run needs no acceptance. */
  readonly address: RunnerAddress | undefined;
}

/** Inserts a run. */
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
      mcp: run.mcp === undefined ? null : Buffer.from(run.mcp),
      ...(run.address && { ...run.address, attempt: 1 }),
    })
    .execute();
}

/** Without its MCP servers, which few calls need. */
const runColumns = ["run_id", "client", "era", "scope", "granted", "context", "attempt", "url"] as const;

/** Returns a run; undefined when it is not a runner's. */
export async function findRemoteRun(
  db: Db | Transaction,
  runId: string,
): Promise<Pick<Selectable<RemoteRunTable>, (typeof runColumns)[number]> | undefined> {
  return await db.selectFrom("remote_run").select(runColumns).where("run_id", "=", runId).executeTakeFirst();
}

/** Returns the encoded MCP servers of a run; undefined without any. */
export async function findServersOfRun(db: Db, runId: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom("remote_run").select("mcp").where("run_id", "=", runId).executeTakeFirst();
  return row?.mcp ?? undefined;
}

/** Lists the runners and bindings of runs. */
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

/** The data that decides whether a runner may make a call, read in one query. */
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
  /** The time until its deadline; negative after the deadline. */
  readonly time_left_ms: number;
}

/** Returns the access data of a run; undefined when the run is unknown. */
export async function findRemoteRunAccess(db: Db | Transaction, runId: string): Promise<RemoteRunAccess | undefined> {
  return await readAccess(db, runId, sql``);
}

/**
 * Like `findRemoteRunAccess`, and prevents the end of the run until the end of the transaction. A weaker lock would not stop
 * the statement that completes a run.
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

/** The data with which a run is dialled. */
export interface DialledRun extends RunnerAddress {
  readonly context: Uint8Array;
  readonly era: string;
  readonly runner_id: string;
  readonly attempt: number;
  /** The time until its deadline; negative after the deadline. */
  readonly time_left_ms: number;
}

/**
 * Takes the data with which a run is dialled, once. Returns undefined when it was taken before, or when the run is not dialled.
 */
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
 * Deletes the rows of runs of runners, at most `rowsMax` at a time. Also deletes what only these runs reach: events and
 * artifacts without a conversation. Data of a conversation stays.
 */
export async function deleteRemoteRuns(
  db: Db,
  { runs, rowsMax }: { runs: readonly string[]; rowsMax: number },
): Promise<void> {
  const ids = uuidArray(runs);
  await untilFewer(rowsMax, () =>
    sql`
      delete from result_verdict where (run_id, position) in (
        select run_id, position from result_verdict where run_id = any(${ids}::uuid[]) limit ${sql.lit(rowsMax)})`.execute(
      db,
    ),
  );
  await untilFewer(rowsMax, () =>
    sql`
      delete from artifact where (client, artifact_id) in (
        select client, artifact_id from artifact
        where run_id = any(${ids}::uuid[]) and scope is null limit ${sql.lit(rowsMax)})`.execute(db),
  );
  await sql`delete from agent_event where run_id = any(${ids}::uuid[]) and scope is null`.execute(db);
  await sql`delete from remote_run where run_id = any(${ids}::uuid[])`.execute(db);
}

/**
 * Erases the content of runs of runners and of their share in conversations: context, event, messages and artifacts. Numbers,
 * types and times stay.
 */
export async function emptyRemoteRuns(db: Db, runs: readonly string[]): Promise<void> {
  const ids = uuidArray(runs);
  await sql`
    update history_item set content = null, content_json = '{}' from agent_event
    where agent_event.run_id = any(${ids}::uuid[])
      and history_item.scope = agent_event.scope and history_item.run_id = agent_event.run_id`.execute(db);
  await sql`delete from artifact where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`update result_verdict set diagnostics = '{}' where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`update agent_event set record = '' where run_id = any(${ids}::uuid[])`.execute(db);
  await sql`update remote_run set context = '', mcp = null, credential = null where run_id = any(${ids}::uuid[])`.execute(
    db,
  );
}
