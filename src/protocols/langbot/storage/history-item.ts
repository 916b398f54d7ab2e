// The messages of conversations, in the order of their numbers.

import type { Transaction } from "../../../platform/database/database.ts";

/** A new message. */
export interface NewHistoryItem {
  /** The conversation, which the transaction has advanced. */
  readonly scope: Uint8Array;
  readonly seq: number;
  readonly id: string;
  readonly runId: string;
  readonly eventId: string;
  readonly role: string;
  /** The beginning of its text; undefined for a message without text. */
  readonly content: string | undefined;
  /** The whole message as a JSON object. */
  readonly contentJson: string;
}

/** Inserts a message. */
export async function insertHistoryItem(trx: Transaction, item: NewHistoryItem): Promise<void> {
  await trx
    .insertInto("history_item")
    .values({
      scope: Buffer.from(item.scope),
      seq: item.seq,
      id: item.id,
      run_id: item.runId,
      event_id: item.eventId,
      role: item.role,
      content: item.content ?? null,
      content_json: item.contentJson,
    })
    .execute();
}
