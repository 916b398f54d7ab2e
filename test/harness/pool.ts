// Passes services and databases from one test of a file to the next, with their tables emptied. Making one takes half a second
// of both cores, emptying it 30 ms.

import pg from "pg";
import { afterAll } from "vitest";

/**
 * Things of one kind that wait for the next test, keyed by the options they were requested with. The one that waits longest is
 * first.
 */
export class Pool<T> {
  #idle: { readonly key: string; readonly one: T }[] = [];
  readonly #close: (one: T) => Promise<void>;

  constructor(close: (one: T) => Promise<void>) {
    this.#close = close;
    pools.push(this);
  }

  take(key: string): T | undefined {
    const index = this.#idle.findLastIndex((each) => each.key === key);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0]?.one;
  }

  /** Keeps it. When there are too many, the pool closes the one that waits longest. */
  async give(key: string, one: T): Promise<void> {
    this.#idle.push({ key, one });
    const oldest = this.#idle.length > idleMax ? this.#idle.shift() : undefined;
    if (oldest !== undefined) {
      await this.#close(oldest.one);
    }
  }

  async closeAll(): Promise<void> {
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(idle.map(({ one }) => this.#close(one)));
  }
}

/** Each service holds about ten connections of a server that all files share. */
const idleMax = 4;

const pools: { closeAll(): Promise<void> }[] = [];

/** For the setup file: nothing outlives the test file. */
export function closePoolsAfterFile(): void {
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.closeAll()));
  });
}

/** Empties the database. Returns false, and changes nothing, if runs are active in it or its schema has changed. */
export async function emptyDatabase(url: string, { relations, replicas }: EmptyOptions): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    if ((await describeSchema(client)) !== relations || (await hasWork(client, replicas))) {
      return false;
    }
    const kept = replicas.length === 0 ? [] : ["replica", "secret"];
    const tables = (await listTables(client)).filter((name) => !kept.includes(name));
    const deletes = tables.map((name) => `delete from ${pg.escapeIdentifier(name)}`);
    // Without triggers, and so in any order.
    await client.query(`set session_replication_role = replica; ${deletes.join("; ")}`);
    await client.query("delete from replica where id <> all($1::uuid[])", [replicas]);
    return true;
  } finally {
    await client.end();
  }
}

export interface EmptyOptions {
  /** The replicas of the service that works in it and stays. Their rows from the start stay too. */
  readonly replicas: readonly string[];
  /** The value of `fingerprint` when the database was new. */
  readonly relations: string;
}

/**
 * Changes with every table, partition, index, constraint, trigger, function and migration that is added, removed or renamed.
 */
export async function fingerprint(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await describeSchema(client);
  } finally {
    await client.end();
  }
}

async function describeSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ print: string }>(`
    select md5(string_agg(part, ' ' order by part)) as print from (
      select oid::text || relname from pg_class where relnamespace = 'public'::regnamespace
      union all select oid::text || conname from pg_constraint where connamespace = 'public'::regnamespace
      union all select oid::text || tgname || tgenabled::text from pg_trigger where not tgisinternal
      union all select oid::text || proname from pg_proc where pronamespace = 'public'::regnamespace
      union all select name from kysely_migration
    ) as parts (part)`);
  return rows[0]?.print ?? "";
}

/** No process works on the runs of a replica that a test has only inserted, nor on those that wait for a worker. */
async function hasWork(client: pg.Client, replicas: readonly string[]): Promise<boolean> {
  const { rows } = await client.query(
    `select from run where status = 'running' and owner = any($1::uuid[])
      or status = 'queued' and driver <> 'remote-runner' and $1 <> '{}' limit 1`,
    [replicas],
  );
  return rows.length > 0;
}

async function listTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not like 'kysely%'`,
  );
  return rows.map(({ name }) => name);
}
