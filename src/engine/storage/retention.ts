// How a protocol deletes the rows that it keeps beside runs and sessions: past their retention, with their session or run, and
// in a purge.

import type { Db } from "../../platform/database/database.ts";

/** The retention rules of a protocol. */
export interface Retention {
  readonly expiring?: readonly ExpiringRows[];
  /** Deletes the rows of sessions that are erased or purged. */
  readonly deleteOfSessions?: (db: Db, sessions: readonly string[]) => Promise<void>;
  /** Deletes the rows of runs that are erased; the runs are deleted next. */
  readonly deleteOfRuns?: (db: Db, runs: readonly string[]) => Promise<void>;
  /** Erases the content of rows of runs that are purged; their numbers, types and times may stay. */
  readonly purgeRuns?: (db: Db, runs: readonly string[]) => Promise<void>;
}

/** Rows with a retention of their own. */
export interface ExpiringRows {
  /** The name of these rows in the log event of a failed pass. */
  readonly name: string;
  /** The retention in days, or that of logs, for rows whose ids contain their time; 0 when unset. */
  readonly days?: number | "logs";
  /** The time between two passes; ten minutes when unset. */
  readonly intervalMs?: number;
  /** Deletes at most `limit` rows with ids below `createdBefore`, and returns how many. Repeated while a batch is full. */
  readonly deleteBatch: (db: Db, args: { readonly createdBefore: string; readonly limit: number }) => Promise<number>;
}
