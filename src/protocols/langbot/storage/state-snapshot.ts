// The state that a run gets in its context when it starts.

import { sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** A key with its value. */
export interface StateEntry {
  readonly key: string;
  /** The value as JSON, as it was written. */
  readonly value: string;
}

/**
 * Returns the values of an owner by key, at most `bytesMax` bytes in all. Small values are taken first, so that a large one
 * cannot displace them.
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
