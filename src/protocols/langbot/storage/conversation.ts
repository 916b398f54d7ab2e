// Conversations: the last numbers of their items and events. The row stays locked while something is appended. So numbers are
// assigned in the order in which they become visible, and without gaps.

import { sql } from "kysely";
import type { Transaction } from "../../../platform/database/database.ts";

/** The last numbers of a conversation after it grew. */
export interface ConversationEnd {
  readonly last_item: number;
  readonly last_event: number;
}

/** Reserves numbers for more items and events, and returns the last reserved ones. Zero of both only locks the conversation. */
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
