// Stream tickets: a minute to open one stream, a quarter of an hour to reconnect to it. Only their hashes are kept.

import { randomBytes } from "node:crypto";
import { Fault } from "../base/fault.ts";
import type { Db } from "../database/database.ts";
import type { Caller, StreamTarget } from "./caller.ts";
import { hashToken } from "./key-ring.ts";
import { insertStreamTicket, useStreamTicket } from "./storage/stream-ticket.ts";

const ticketPrefix = "rt_";
const ticketBytes = 32;
/** A page opens its stream at once; a URL that leaks later is of no use. */
const openMs = 60_000;
/** Long enough for a flaky network, short enough for a URL in somebody's history. */
const lifeMs = 15 * 60_000;

export async function makeTicket(
  db: Db,
  { client, target }: { client: string; target: StreamTarget },
): Promise<{ ticket: string; expireTime: Date }> {
  const ticket = `${ticketPrefix}${randomBytes(ticketBytes).toString("base64url")}`;
  const session = "sessionId" in target ? target.sessionId : null;
  const run = "runId" in target ? target.runId : null;
  const { createTime } = await insertStreamTicket(db, { client, session, run, hash: hashToken(ticket) });
  return { ticket, expireTime: new Date(createTime.getTime() + lifeMs) };
}

export function isTicket(token: string): boolean {
  return token.startsWith(ticketPrefix);
}

/** Throws TICKET_INVALID for one that is unknown, was never opened in time, or is over. */
export async function openTicket(db: Db, ticket: string): Promise<Caller> {
  const row = isTicket(ticket) ? await useStreamTicket(db, { hash: hashToken(ticket), openMs, lifeMs }) : undefined;
  if (row === undefined) {
    throw new Fault("TICKET_INVALID", "invalid ticket: unknown or expired, ask for a new one");
  }
  const target = row.session === null ? { runId: row.run ?? "" } : { sessionId: row.session };
  return { kind: "ticket", client: row.client, target };
}
