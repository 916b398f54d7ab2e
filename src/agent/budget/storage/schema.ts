// The table of what clients have spent, as Kysely sees them. The truth is migrations/; a test compares the two.

import type { Generated } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    client_usage: ClientUsageTable;
  }
}

export interface ClientUsageTable {
  client: string;
  day: string;
  tokens: Generated<number>;
  cost_micro_usd: Generated<number>;
}
