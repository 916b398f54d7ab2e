// The Kysely types of the tables of exchanges. migrations/ is authoritative; a test compares the two.

import type { Generated } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    exchange: ExchangeTable;
    exchange_inbox: ExchangeInboxTable;
    exchange_command: ExchangeCommandTable;
  }
}

/** Exchanges with their newest outbox. */
export interface ExchangeTable {
  session: string;
  client: string;
  id: string;
  run_id: string;
  task: string;
  sequence: number;
  outbox: Uint8Array | null;
  read_requests: string[];
  is_complete: Generated<boolean>;
  imported: Uint8Array | null;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** Inboxes, one for each answered outbox. */
export interface ExchangeInboxTable {
  session: string;
  sequence: number;
  sha256: Uint8Array;
  text: Uint8Array;
  create_time: Generated<Date>;
}

/** Begun commands of inboxes. */
export interface ExchangeCommandTable {
  session: string;
  sequence: number;
  position: number;
  trace: string;
  result: Uint8Array | null;
}
