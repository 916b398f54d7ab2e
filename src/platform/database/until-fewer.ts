// Deleting without end in small statements: each is a transaction of its own, and nobody waits long for its locks.

import type { QueryResult } from "kysely";

/** Repeats a statement that drops no more than so many rows, until it drops fewer. */
export async function untilFewer(rowsMax: number, drop: () => Promise<QueryResult<unknown>>): Promise<void> {
  let rows: number;
  do {
    rows = Number((await drop()).numAffectedRows ?? 0n);
  } while (rows === rowsMax);
}
