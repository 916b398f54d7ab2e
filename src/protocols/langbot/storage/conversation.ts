// Conversations: where their items and events end. The row stays locked while something is put behind the end, so that
// numbers are given out in the order in which they become visible, and without gaps.

import { sql } from "kysely";
import type { Transaction } from "../../../platform/database/database.ts";

/** The ends of a conversation after it grew. */
export interface ConversationEnd {
  readonly last_item: number;
  readonly last_event: number;
}

/**
 * Makes room for so many more items and events, and gives the new ends: the last numbers that are taken. None of both just
 * locks the conversation.
 */
export async function advanceConversation(
  trx: Transaction,
  { scope, client, items, events }: { scope: Uint8Array; client: string; items: number; events: number },
): Promise<ConversationEnd> {
  const { rows } = await sql<ConversationEnd>`
    insert into conversation (scope, client, last_item, last_event)
    values (${Buffer.from(scope)}, ${client}, ${items}::int8, ${events}::int8)
    on conflict (scope) do update set last_item = conversation.last_item + excluded.last_item,
      last_event = conversation.last_event + excluded.last_event
    returning last_item, last_event`.execute(trx);
  const [end] = rows;
  if (end === undefined) {
    throw new Error("a conversation that was advanced has no end");
  }
  return end;
}
