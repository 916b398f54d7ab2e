// Stops a process in the middle of a transaction, for example between a tool's end and the commit of its outcome, where a
// kill does the most harm: a trigger of the test's database waits for a lock that the test holds.

import pg from "pg";
import { onTestFinished } from "vitest";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";

export interface Gate {
  /** Resolves when a process waits at the gate, in the middle of its transaction. */
  reached(): Promise<void>;
  /** Lets all processes pass from now on. */
  open(): Promise<void>;
}

/** Any number that is not locked elsewhere in this database. */
const lockKey = 7_077;

export async function holdToolOutcomes(databaseUrl: string): Promise<Gate> {
  return await holdBefore(databaseUrl, "update of outcome on tool_call");
}

/** Holds every transaction that makes such a change of a row. One gate for each database. */
export async function holdBefore(databaseUrl: string, change: string): Promise<Gate> {
  await query(
    databaseUrl,
    `create function wait_at_gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${lockKey}); return new; end $$;
    create trigger gate before ${change} for each row execute function wait_at_gate()`,
  );
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  let opening: Promise<void> | undefined;
  const open = (): Promise<void> => {
    opening ??= holder.end();
    return opening;
  };
  onTestFinished(open);
  await holder.query(`select pg_advisory_lock(${lockKey})`);
  const isReached = async (): Promise<boolean> => {
    const waiting = await query(
      databaseUrl,
      `select 1 from pg_locks where locktype = 'advisory' and objid = ${lockKey} and not granted
        and database = (select oid from pg_database where datname = current_database())`,
    );
    return waiting.length > 0;
  };
  return {
    reached: async () => {
      await until("a process to wait at the gate", isReached);
    },
    open,
  };
}
