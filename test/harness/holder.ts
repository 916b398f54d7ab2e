// A transaction that holds rows or tables while others want them, so that a test decides which of two writers is first.

import pg from "pg";
import { onTestFinished } from "vitest";
import { query } from "./database.ts";
import { until } from "./wait.ts";

interface Holder {
  /** A connection in a transaction. */
  readonly holder: pg.Client;
  /** Resolves when this many statements wait for its locks. */
  awaited(count: number): Promise<void>;
  release(): Promise<void>;
}

/** Opens a transaction that holds rows or tables, to delay writers. */
export async function openHolder(databaseUrl: string): Promise<Holder> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  let releasing: Promise<void> | undefined;
  const release = (): Promise<void> => {
    releasing ??= holder.end();
    return releasing;
  };
  onTestFinished(release);
  await holder.query("begin");
  const countWaiting = async (): Promise<number> => {
    const rows = await query(
      databaseUrl,
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length;
  };
  return {
    holder,
    awaited: async (count) => {
      await until(`${count} to wait for what is held`, async () => (await countWaiting()) >= count);
    },
    release,
  };
}
