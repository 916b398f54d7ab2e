// Completes a run by its owner, in one statement.

import { sql } from "kysely";
import { byteaArray, int4Array, int8Array, uuidArray } from "../../platform/database/binary-array.ts";
import type { Db } from "../../platform/database/database.ts";
import { callbackOf } from "./callback.ts";
import type { ResultRow } from "./run-result.ts";

/** The end of an owned run. */
export interface OwnEnd {
  readonly id: string;
  readonly session: string;
  readonly replicaId: string;
  readonly epoch: number;
  readonly turn: number;
  /** Whether the end has a status callback. */
  readonly isCalledBack: boolean;
  /** The last results; the terminal one is the last. */
  readonly results: readonly ResultRow[];
  /** The value of the log's hash chain after these results. */
  readonly logHash: Uint8Array;
  /** The last messages of the session's model, and the position of the first of them. */
  readonly transcript: { readonly position: number; readonly messages: readonly Uint8Array[] };
}

/**
 * Completes a run if its replica still owns it and all its tool calls have results. Otherwise returns false and writes nothing.
 */
export async function completeOwnRun(db: Db, end: OwnEnd): Promise<boolean> {
  const { id, session, results, transcript } = end;
  const last = results.at(-1);
  if (last === undefined) {
    throw new Error("a run ends with a terminal result");
  }
  const called = end.isCalledBack ? sql`, called as (${callbackOf("finished", "completed")})` : sql``;
  const { rows } = await sql`
    with held as materialized (
      select id from replica where id = ${end.replicaId}::uuid and lease_until > now() for key share
    ), own as materialized (
      select run.id from run
      where run.id = ${id}::uuid and run.owner = (select held.id from held) and run.epoch = ${end.epoch}
        and not exists (select from tool_call where run_id = ${id}::uuid and log_sequence is null)
      for no key update
    ), logged as (
      insert into run_result (run_id, sequence, epoch, payload)
      select batch.* from own cross join unnest(
        ${uuidArray(results.map((row) => row.runId))}::uuid[], ${int8Array(results.map((row) => row.sequence))}::int8[],
        ${int4Array(results.map((row) => row.epoch))}::int4[], ${byteaArray(results.map((row) => row.payload))}::bytea[]
      ) as batch
    ), said as (
      insert into transcript (session, position, run_id, message)
      select ${session}::uuid, ${transcript.position}::int8 + place - 1, own.id, message
      from own cross join unnest(${byteaArray(transcript.messages)}::bytea[]) with ordinality as spoken (message, place)
    ), finished as (
      update run set status = 'completed', owner = null, wake_at = null, wait_reason = null, turn = ${end.turn}::int4,
        last_sequence = ${last.sequence}::int8, terminal = ${Buffer.from(last.payload)}::bytea,
        log_hash = ${Buffer.from(end.logHash)}::bytea, end_time = now()
      from own where run.id = own.id
      returning run.id, run.client, run.session, run.last_sequence, run.callback_url
    )${called}
    select id from finished`.execute(db);
  return rows.length === 1;
}
