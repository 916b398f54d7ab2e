// Queues a run of a runner, in a session of its own, which clients cannot reach by its name.

import { sql } from "kysely";
import type { Transaction } from "../../../platform/database/database.ts";

/** A new run of a runner. */
export interface NewQueuedRemoteRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly client: string;
  readonly runnerId: string;
  readonly driver: string;
  /** An encoded agent that has only a name. */
  readonly agent: Uint8Array;
  readonly agentName: string;
  readonly input: Uint8Array;
  readonly timeoutMs: number;
  /** How long it waits for a worker, at most until its deadline. No replica claims it meanwhile. 0 for a dialled runner. */
  readonly offeredForMs: number;
  readonly traceParent: string | undefined;
}

/** Queues the run. Returns its deadline in milliseconds since 1970, by the database's clock. */
export async function queueRemoteRun(trx: Transaction, run: NewQueuedRemoteRun): Promise<number> {
  const { rows } = await sql<{ deadline_ms: number }>`
    with opened as (
      insert into session (id, client, name, agent, latest_run_id, hidden, runner_id)
      values (${run.sessionId}::uuid, ${run.client}, ${run.sessionId}::text, ${Buffer.from(run.agent)}::bytea,
        ${run.runId}::uuid, true, ${run.runnerId})
    )
    insert into run (id, client, session, driver, agent_name, assigned_runner, input, trace_parent, deadline, status, epoch, wake_at)
    values (${run.runId}::uuid, ${run.client}, ${run.sessionId}::uuid, ${run.driver}, ${run.agentName}, ${run.runnerId},
      ${Buffer.from(run.input)}::bytea,
      ${run.traceParent ?? null}::text, now() + ${run.timeoutMs}::float8 * interval '1 millisecond', 'queued', 0,
      now() + ${Math.min(run.offeredForMs, run.timeoutMs)}::float8 * interval '1 millisecond')
    returning (extract(epoch from deadline) * 1000)::float8 as deadline_ms`.execute(trx);
  const [row] = rows;
  if (row === undefined) {
    throw new Error("a run that was queued has no deadline");
  }
  return row.deadline_ms;
}
