// Deletes many rows in small statements. Each is its own transaction, so other statements wait only briefly for its locks.

import type { QueryResult } from "kysely";

/** Repeats a statement that deletes at most `rowsMax` rows, until it deletes fewer. */
export async function untilFewer(rowsMax: number, drop: () => Promise<QueryResult<unknown>>): Promise<void> {
  let rows: number;
  do {
    rows = Number((await drop()).numAffectedRows ?? 0n);
  } while (rows === rowsMax);
}
