// Counts the rows and index entries that Postgres reads for the calls of a service in this process.

import pg from "pg";
import { onTestFinished } from "vitest";

export interface ReadMeter {
  readonly connection: pg.Client;
  /** Returns what Postgres read meanwhile, by table: rows of full scans, and entries of indexes. */
  measure(call: () => Promise<unknown>): Promise<ReadonlyMap<string, number>>;
}

/** Opens a meter. Open it before the service: it needs to know the service's connections. */
export async function openReadMeter(databaseUrl: string): Promise<ReadMeter> {
  const connections = collectConnections();
  const connection = new pg.Client({ connectionString: databaseUrl });
  await connection.connect();
  onTestFinished(() => connection.end());
  const measure: ReadMeter["measure"] = async (call) => {
    const before = await readCounts(connection, connections);
    await call();
    const after = await readCounts(connection, connections);
    const read = [...after].map(([table, count]) => [table, count - (before.get(table) ?? 0)] as const);
    return new Map(read.filter(([, count]) => count > 0));
  };
  return { connection, measure };
}

/** The connections that this process opens until the test ends. */
function collectConnections(): ReadonlySet<pg.Client> {
  const open = new Set<pg.Client>();
  const { connect } = pg.Client.prototype;
  pg.Client.prototype.connect = function (this: pg.Client, ...args: Parameters<typeof connect>) {
    open.add(this);
    this.once("end", () => open.delete(this));
    return connect.apply(this, args);
  } as typeof connect;
  onTestFinished(() => {
    pg.Client.prototype.connect = connect;
  });
  return open;
}

async function readCounts(connection: pg.Client, others: ReadonlySet<pg.Client>): Promise<ReadonlyMap<string, number>> {
  // A connection publishes its counts up to ten seconds later, or at once when forced.
  await Promise.all([...others].map((each) => each.query("select pg_stat_force_next_flush()").catch(() => {})));
  const { rows } = await connection.query<{ name: string; read: string }>(`
    select pg_stat_clear_snapshot(), tables.relname as name, seq_tup_read + (
      select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes as indexes where indexes.relid = tables.relid
    ) as read from pg_stat_user_tables as tables`);
  return new Map(rows.map(({ name, read }) => [name, Number(read)]));
}

/** Turns autovacuum off for all tables: when Postgres looked at them, it may choose other plans, and a test would depend on the moment. */
export const autovacuumOff = `
  do $$ declare name text; begin
    for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
      execute format('alter table %I set (autovacuum_enabled = false)', name);
    end loop;
  end $$`;
