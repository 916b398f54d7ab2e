// The table of the clients' daily usage, as Kysely sees it. `migrations/` is authoritative; a test compares the two.

import type { Generated } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    client_usage: ClientUsageTable;
  }
}

/** One row for each client and day. */
export interface ClientUsageTable {
  client: string;
  day: string;
  tokens: Generated<number>;
  cost_micro_usd: Generated<number>;
}
