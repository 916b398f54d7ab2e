// The tables of callers and their credentials, as Kysely sees them. The truth is migrations/; a test compares the two.

import type { Generated } from "kysely";

declare module "../../database/schema.ts" {
  interface Schema {
    secret: SecretTable;
    nonce: NonceTable;
    api_key: ApiKeyTable;
    stream_ticket: StreamTicketTable;
  }
}

export interface SecretTable {
  name: string;
  value: Uint8Array;
}

export interface NonceTable {
  scope: string;
  nonce: string;
  create_time: Generated<Date>;
}

export interface ApiKeyTable {
  id: string;
  client: string;
  display_name: string;
  hash: Uint8Array;
  create_time: Generated<Date>;
  expire_time: Date | null;
  revoke_time: Date | null;
}

export interface StreamTicketTable {
  hash: Uint8Array;
  client: string;
  session: string | null;
  run: string | null;
  create_time: Generated<Date>;
  open_time: Date | null;
}
