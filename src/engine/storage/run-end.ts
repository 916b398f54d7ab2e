// Completes runs by their owner, in one statement.

import { sql } from "kysely";
import { gathered } from "../../platform/database/gather.ts";
import { rowStatement } from "../../platform/database/row-statement.ts";
import { callbackOf } from "./callback.ts";
import type { Spent } from "./run.ts";
import type { ResultRow } from "./run-result.ts";

/** The end of an owned run. */
export interface OwnEnd {
  readonly id: string;
  readonly replicaId: string;
  readonly epoch: number;
  readonly turn: number;
  /** Whether the end has a status callback. */
  readonly isCalledBack: boolean;
  /** The last results; the terminal one is the last. */
  readonly results: readonly ResultRow[];
  /** The value of the log's hash chain after these results. */
  readonly logHash: Uint8Array;
  readonly spent: Spent;
  /** The time from the run's start to its first text; undefined when it is unknown. */
  readonly firstTextMs?: number | undefined;
  /** The last messages of the session's model, and the position of the first of them. */
  readonly transcript: { readonly position: number; readonly messages: readonly Uint8Array[] };
}

const unknownMs = -1;

/**
 * Completes a run if its replica still owns it, its log has all earlier results, all its tool calls have results, and it is not
 * pushed. Otherwise returns false and writes nothing; also when another transaction holds the run while several ends share the statement. Concurrent ends share one statement and
 * one commit.
 */
export const completeOwnRun = gathered(async (db, ends: readonly OwnEnd[]): Promise<boolean[]> => {
  const results = ends.flatMap((end) => end.results);
  const messages = ends.flatMap(({ id, transcript }) =>
    transcript.messages.map((message, index) => ({ id, message, position: transcript.position + index })),
  );
  const isCalled = ends.some(({ isCalledBack }) => isCalledBack);
  const rows = await completeRuns(db, { ends, results, messages }, { isCalled, isShared: ends.length > 1 });
  const finished = new Set(rows.map(({ id }) => id));
  return ends.map(({ id }) => finished.has(id));
});

/** A message of a session's model, as the run's transcript has it. */
interface SaidMessage {
  readonly id: string;
  readonly position: number;
  readonly message: Uint8Array;
}

const completeRuns = rowStatement<
  { ends: readonly OwnEnd[]; results: readonly ResultRow[]; messages: readonly SaidMessage[] },
  { id: string },
  { isCalled: boolean; isShared: boolean }
>(
  {
    ends: {
      id: ["uuid", ({ id }) => id],
      owner: ["uuid", ({ replicaId }) => replicaId],
      epoch: ["int4", ({ epoch }) => epoch],
      turn: ["int4", ({ turn }) => turn],
      log_hash: ["bytea", ({ logHash }) => logHash],
      log_length: ["int8", ({ results }) => (results[0]?.sequence ?? 1) - 1],
      last_sequence: ["int8", (end) => lastOf(end).sequence],
      terminal: ["bytea", (end) => lastOf(end).payload],
      prompt_tokens: ["int8", ({ spent }) => spent.promptTokens],
      completion_tokens: ["int8", ({ spent }) => spent.completionTokens],
      cost_micro_usd: ["int8", ({ spent }) => spent.costMicroUsd],
      first_text_ms: ["int8", ({ firstTextMs = unknownMs }) => firstTextMs],
    },
    results: {
      run_id: ["uuid", ({ runId }) => runId],
      sequence: ["int8", ({ sequence }) => sequence],
      epoch: ["int4", ({ epoch }) => epoch],
      payload: ["bytea", ({ payload }) => payload],
    },
    messages: {
      run_id: ["uuid", ({ id }) => id],
      position: ["int8", ({ position }) => position],
      message: ["bytea", ({ message }) => message],
    },
  },
  // A shared statement waits for no run: all other ends in it would wait too.
  ({ ends, results, messages }, { isCalled, isShared }) => sql`
    with asked as materialized (
      select * from ${ends} as given
    ), held as materialized (
      select id from replica where id in (select owner from asked) and lease_until > now() for key share
    ), own as materialized (
      select run.* from asked join held on held.id = asked.owner cross join lateral (
        select id, session from run
        where id = asked.id and owner = asked.owner and epoch = asked.epoch
          and not has_pushes and (select count(*) from tool_call where run_id = run.id and log_sequence is null) = 0
          and coalesce((select max(sequence) from run_result where run_id = run.id), 0) = asked.log_length
        for no key update${isShared ? sql` skip locked` : sql``}
      ) as run
    ), logged as (
      insert into run_result (run_id, sequence, epoch, payload)
      select logged.* from ${results} as logged join own on own.id = logged.run_id
    ), said as (
      insert into transcript (session, position, run_id, message)
      select own.session, said.position, own.id, said.message from ${messages} as said join own on own.id = said.run_id
    ), finished as (
      update run set status = 'completed', owner = null, wake_at = null, wait_reason = null, turn = asked.turn,
        last_sequence = asked.last_sequence, terminal = asked.terminal, log_hash = asked.log_hash, end_time = now(),
        prompt_tokens = asked.prompt_tokens, completion_tokens = asked.completion_tokens, cost_micro_usd = asked.cost_micro_usd
      from own join asked using (id) where run.id = own.id
      returning run.id, run.client, run.session, run.last_sequence, run.callback_url, asked.first_text_ms
    ), noted as (
      insert into ended_run (run_id, first_text_ms) select id, nullif(first_text_ms, ${sql.lit(unknownMs)}) from finished
    )${isCalled ? sql`, called as (${callbackOf("finished", "completed")})` : sql``}
    select id from finished`,
);

function lastOf({ results }: OwnEnd): ResultRow {
  const last = results.at(-1);
  if (last === undefined) {
    throw new Error("a run ends with a terminal result");
  }
  return last;
}
