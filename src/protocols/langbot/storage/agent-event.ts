// The events that runs were started for.

import type { Transaction } from "../../../platform/database/database.ts";

export interface NewAgentEvent {
  readonly runId: string;
  readonly client: string;
  readonly eventId: string;
  readonly eventType: string;
  /** The conversation, which the transaction has advanced, and the event's place in it; undefined for an event of none. */
  readonly place: { readonly scope: Uint8Array; readonly seq: number } | undefined;
  /** An AgentEventRecord. */
  readonly record: Uint8Array;
}

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
