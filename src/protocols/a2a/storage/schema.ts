// The Kysely types of the tables of A2A agents. migrations/ is authoritative; a test compares the two.

import type { Generated } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    a2a_context: A2aContextTable;
  }
}

/** The contexts that A2A agents keep of our sessions. */
export interface A2aContextTable {
  session: string;
  agent: string;
  context_id: string;
  task_id: string | null;
  last_sha256: Uint8Array;
  update_time: Generated<Date>;
}
