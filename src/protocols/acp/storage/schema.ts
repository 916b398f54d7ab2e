// The Kysely types of the tables of coding agents. migrations/ is authoritative; a test compares the two.

import type { Generated } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    acp_session: AcpSessionTable;
  }
}

/** The sessions that coding agents keep of our sessions. */
export interface AcpSessionTable {
  session: string;
  agent: string;
  acp_session: string;
  last_sha256: Uint8Array;
  update_time: Generated<Date>;
}
