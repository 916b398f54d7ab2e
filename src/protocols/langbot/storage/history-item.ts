// What was said in conversations, in the order of their numbers.

import type { Transaction } from "../../../platform/database/database.ts";

export interface NewHistoryItem {
  /** The conversation, which the transaction has advanced. */
  readonly scope: Uint8Array;
  readonly seq: number;
  readonly id: string;
  readonly runId: string;
  readonly eventId: string;
  readonly role: string;
  /** The beginning of its text; undefined where there is none. */
  readonly content: string | undefined;
  /** The whole message, a JSON object. */
  readonly contentJson: string;
}

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
