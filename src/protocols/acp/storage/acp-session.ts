// The sessions of coding agents, one for each session of a client.

import { createHash } from "node:crypto";
import { sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** The session of an agent, and the newest text that it knows. */
export interface KnownSession {
  readonly agent: string;
  readonly acpSession: string;
  readonly lastText: string;
}

/** Returns the id of the agent's session of a run; undefined without one that ends with this text. */
export async function findAcpSession(
  db: Db,
  { runId, agent, lastText }: { readonly runId: string; readonly agent: string; readonly lastText: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ acp_session: string }>`
    select acp_session.acp_session from acp_session join run on run.session = acp_session.session
    where run.id = ${runId} and acp_session.agent = ${agent} and last_sha256 = ${hashOf(lastText)}`.execute(db);
  return rows[0]?.acp_session;
}

/** Saves the session of an agent. */
export async function saveAcpSession(
  trx: Transaction,
  session: string,
  { agent, acpSession, lastText }: KnownSession,
): Promise<void> {
  await sql`
    insert into acp_session (session, agent, acp_session, last_sha256)
    values (${session}, ${agent}, ${acpSession}, ${hashOf(lastText)})
    on conflict (session) do update set agent = excluded.agent, acp_session = excluded.acp_session,
      last_sha256 = excluded.last_sha256, update_time = now()`.execute(trx);
}

/** Deletes the rows of sessions. */
export async function deleteAcpSessions(db: Db, sessions: readonly string[]): Promise<void> {
  await sql`delete from acp_session where session = any(${uuidArray(sessions)}::uuid[])`.execute(db);
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
