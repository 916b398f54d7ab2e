// The events that started runs.

import type { Transaction } from "../../../platform/database/database.ts";

/** A new event. */
export interface NewAgentEvent {
  readonly runId: string;
  readonly client: string;
  readonly eventId: string;
  readonly eventType: string;
  /**
   * The conversation, which the transaction has advanced, and the event's number in it. Undefined for an event without a
   * conversation.
   */
  readonly place: { readonly scope: Uint8Array; readonly seq: number } | undefined;
  /** An encoded AgentEventRecord. */
  readonly record: Uint8Array;
}

/** Inserts an event. */
export async function insertAgentEvent(trx: Transaction, event: NewAgentEvent): Promise<void> {
  await trx
    .insertInto("agent_event")
    .values({
      run_id: event.runId,
      client: event.client,
      event_id: event.eventId,
      event_type: event.eventType,
      scope: event.place === undefined ? null : Buffer.from(event.place.scope),
      seq: event.place?.seq ?? null,
      record: Buffer.from(event.record),
    })
    .execute();
}
