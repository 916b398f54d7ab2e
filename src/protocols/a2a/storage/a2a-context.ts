// The contexts of A2A agents, one for each session of a client.

import { createHash } from "node:crypto";
import { sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** Where an agent continues a conversation. */
export interface Place {
  readonly contextId: string;
  /** The task that asked for input; empty for none. */
  readonly taskId: string;
}

/** A place, and the newest text that the agent knows. */
export interface KnownContext extends Place {
  readonly agent: string;
  readonly lastText: string;
}

/** Returns the place of a run's session; undefined without one that ends with this text. */
export async function findContext(
  db: Db,
  { runId, agent, lastText }: { readonly runId: string; readonly agent: string; readonly lastText: string },
): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    select context_id as "contextId", coalesce(task_id, '') as "taskId"
    from a2a_context join run on run.session = a2a_context.session
    where run.id = ${runId} and a2a_context.agent = ${agent} and last_sha256 = ${hashOf(lastText)}`.execute(db);
  return rows[0];
}

/** Saves the place of a session. */
export async function saveContext(
  trx: Transaction,
  session: string,
  { agent, contextId, taskId, lastText }: KnownContext,
): Promise<void> {
  await sql`
    insert into a2a_context (session, agent, context_id, task_id, last_sha256)
    values (${session}, ${agent}, ${contextId}, ${taskId || null}, ${hashOf(lastText)})
    on conflict (session) do update set agent = excluded.agent, context_id = excluded.context_id, task_id = excluded.task_id,
      last_sha256 = excluded.last_sha256, update_time = now()`.execute(trx);
}

/** Deletes the rows of sessions. */
export async function deleteContexts(db: Db, sessions: readonly string[]): Promise<void> {
  await sql`delete from a2a_context where session = any(${uuidArray(sessions)}::uuid[])`.execute(db);
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
