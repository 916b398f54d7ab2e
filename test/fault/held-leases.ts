// A database in which no process can check whether its lease still holds, for as long as a test wants.

import pg from "pg";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";

export interface HeldLeases extends AsyncDisposable {
  /** Resolves when the process that works on the run wants to write. */
  asked(): Promise<void>;
}

/** Blocks every check of a lease: what a thawed process still does, it does without asking. */
export async function holdLeases(databaseUrl: string): Promise<HeldLeases> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query("begin; lock table replica in access exclusive mode");
  let ending: Promise<void> | undefined;
  const isAsked = async (): Promise<boolean> => {
    const waiting = await query(
      databaseUrl,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%lease_until > now() for key share%'`,
    );
    return waiting.length > 0;
  };
  return {
    asked: async () => {
      await until("the thawed process to want to write", isAsked);
    },
    [Symbol.asyncDispose]: () => {
      ending ??= holder.end();
      return ending;
    },
  };
}
