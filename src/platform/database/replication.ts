// How the commits of a server reach its standbys.

import { sql } from "kysely";
import type { Db } from "./database.ts";

/** The standbys of a server. */
export interface Replication {
  /** The number of connected standbys. */
  readonly standbys: number;
  /** False when a commit does not wait for a standby: one that is promoted may lack the newest commits. */
  readonly isSynchronous: boolean;
}

/** Reads how the server replicates. */
export async function readReplication(db: Db): Promise<Replication> {
  const { rows } = await sql<Replication>`
    select (select count(*)::int from pg_stat_replication) as standbys,
      current_setting('synchronous_standby_names') <> ''
        and current_setting('synchronous_commit') not in ('off', 'local') as "isSynchronous"`.execute(db);
  return rows[0] ?? { standbys: 0, isSynchronous: false };
}

/**
 * Returns the shortest lease with which runs continue after a failover. A replica gives up its runs after three leases without the
 * database; they then restart their turn.
 */
export function shortestLeaseMs(failoverSeconds: number): number {
  return Math.ceil((failoverSeconds * 1_000) / 3);
}

/** Returns whether a failover may lose commits that Postgres has confirmed. */
export function mayLoseCommits({ standbys, isSynchronous }: Replication): boolean {
  return standbys > 0 && !isSynchronous;
}
