// Stream tickets: one minute to open a stream, fifteen minutes to reconnect to it. The service stores only their hashes.

import { Fault } from "../base/fault.ts";
import type { Db } from "../database/database.ts";
import type { Caller, StreamTarget } from "./caller.ts";
import { makeCredential } from "./credential.ts";
import { hashToken } from "./key-ring.ts";
import { insertStreamTicket, useStreamTicket } from "./storage/stream-ticket.ts";

const ticketPrefix = "rt_";
/** The time to open the stream, in milliseconds. A page opens its stream at once; a URL that leaks later is useless. */
const openMs = 60_000;
/** The lifetime of a ticket, in milliseconds: long enough for a flaky network, short enough for a URL in a browser history. */
const lifeMs = 15 * 60_000;

/** Creates a ticket for one stream. */
export async function makeTicket(
  db: Db,
  { client, keyId, target, cell }: { client: string; keyId: string | undefined; target: StreamTarget; cell: string },
): Promise<{ ticket: string; expireTime: Date }> {
  const ticket = makeCredential(ticketPrefix, cell);
  const session = "sessionId" in target ? target.sessionId : null;
  const run = "runId" in target ? target.runId : null;
  const { createTime } = await insertStreamTicket(db, {
    ...{ client, session, run },
    api_key: keyId ?? null,
    hash: hashToken(ticket),
  });
  return { ticket, expireTime: new Date(createTime.getTime() + lifeMs) };
}

/** Returns true for a text with the prefix of tickets. */
export function isTicket(token: string): boolean {
  return token.startsWith(ticketPrefix);
}

/**
 * Returns the caller of a ticket. Throws TICKET_INVALID when it is unknown, expired, or was not opened in time. A stream that is open when
 * its ticket expires continues; the lifetime is that of the key that made the ticket.
 */
export async function openTicket(db: Db, ticket: string): Promise<Caller> {
  const row = isTicket(ticket) ? await useStreamTicket(db, { hash: hashToken(ticket), openMs, lifeMs }) : undefined;
  if (row === undefined) {
    throw new Fault("TICKET_INVALID", "invalid ticket: unknown or expired, ask for a new one");
  }
  const target = row.session === null ? { runId: row.run ?? "" } : { sessionId: row.session };
  const lifetime = row.api_key === null ? undefined : { keyId: row.api_key };
  return { kind: "ticket", client: row.client, target, lifetime };
}
