// The state of runs as a run is told of it when it starts.

import { sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";

export interface StateEntry {
  readonly key: string;
  /** JSON as it was written. */
  readonly value: string;
}

/**
 * The values of an owner by their keys: as many as have so many bytes together, the small ones first, so that none of those is
 * missing for a large one.
 */
export async function readStateSnapshot(
  db: Db | Transaction,
  { owner, bytesMax }: { owner: Uint8Array; bytesMax: number },
): Promise<StateEntry[]> {
  const { rows } = await sql<StateEntry>`
    select key, value from (
      select key, value, sum(octet_length(key) + octet_length(value)) over (
        order by octet_length(value), key collate "C" rows unbounded preceding) as bytes
      from state_value where owner = ${Buffer.from(owner)}
    ) as entry where bytes <= ${bytesMax}::int8 order by key collate "C"`.execute(db);
  return rows;
}
