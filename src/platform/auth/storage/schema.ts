// The tables of clients' credentials, as Kysely sees them. migrations/ is authoritative; a test compares the two.

import type { Generated } from "kysely";

declare module "../../database/schema.ts" {
  interface Schema {
    secret: SecretTable;
    nonce: NonceTable;
    api_key: ApiKeyTable;
    stream_ticket: StreamTicketTable;
  }
}

/** Keys that all replicas share. */
export interface SecretTable {
  name: string;
  value: Uint8Array;
}

/** Used nonces of signed requests. */
export interface NonceTable {
  scope: string;
  nonce: string;
  create_time: Generated<Date>;
}

/** API keys that the service created. */
export interface ApiKeyTable {
  id: string;
  client: string;
  display_name: string;
  hash: Uint8Array;
  create_time: Generated<Date>;
  expire_time: Date | null;
  revoke_time: Date | null;
}

/** Tickets to one stream each. */
export interface StreamTicketTable {
  hash: Uint8Array;
  client: string;
  session: string | null;
  run: string | null;
  /** The API key that made the ticket; null for another credential. */
  api_key: string | null;
  create_time: Generated<Date>;
  open_time: Date | null;
}
