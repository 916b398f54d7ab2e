// What a protocol keeps beside runs and sessions, and how its rows go: when their time is over, with their session or run,
// and when a session is purged.

import type { Db } from "../../platform/database/database.ts";

export interface Retention {
  readonly expiring?: readonly ExpiringRows[];
  /** Deletes what hangs on sessions that are erased or purged. */
  readonly deleteOfSessions?: (db: Db, sessions: readonly string[]) => Promise<void>;
  /** Deletes what hangs on runs that are erased; the runs themselves go next. */
  readonly deleteOfRuns?: (db: Db, runs: readonly string[]) => Promise<void>;
  /** Takes what was said out of rows of runs that are purged; their numbers, types and times may stay. */
  readonly purgeRuns?: (db: Db, runs: readonly string[]) => Promise<void>;
}

export interface ExpiringRows {
  /** Names it in the log when a pass fails. */
  readonly name: string;
  /** Days after which rows go, for rows whose ids tell their time. */
  readonly days?: number;
  /** Time between two passes; ten minutes when unset. */
  readonly intervalMs?: number;
  /** Deletes at most `limit` rows, of those with ids below `createdBefore`; returns how many. Repeated while it is full. */
  readonly deleteBatch: (db: Db, args: { readonly createdBefore: string; readonly limit: number }) => Promise<number>;
}
