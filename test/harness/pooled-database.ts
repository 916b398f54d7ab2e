// A database that tests use one after the other, emptied in between. Making and dropping one takes a quarter of a second of a core and
// waits for a checkpoint; emptying it takes 5 ms.

import pg from "pg";
import { until } from "./wait.ts";

/** The service that stays has nothing to do, and so writes once or twice at most. */
const attemptsMax = 5;

export class PooledDatabase {
  readonly url: string;
  #connection: Promise<pg.Client> | undefined;
  /** The first value of `describe`. */
  #schema = "";
  #deletes = "";

  private constructor(url: string) {
    this.url = url;
  }

  /** Opens a new database. */
  static async open(url: string): Promise<PooledDatabase> {
    const database = new PooledDatabase(url);
    database.#schema = await database.#describe();
    const tables = await database.#query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname not like 'kysely%' and relname not in ('replica', 'secret')`,
    );
    database.#deletes = tables.map(({ name }) => `delete from ${pg.escapeIdentifier(name)}`).join("; ");
    return database;
  }

  async listReplicas(): Promise<string[]> {
    return (await this.#query<{ id: string }>("select id from replica")).map(({ id }) => id);
  }

  /** Returns what a process may still work on. `replicas` are those of the service that works in it. */
  async listWork(replicas: readonly string[]): Promise<{ client: string; driver: string }[]> {
    // No process works on the runs of a replica that a test has only inserted, nor on those that wait for a worker.
    return await this.#query(
      `select distinct client, driver from run where status = 'running' and owner = any($1::uuid[])
        or status = 'queued' and driver <> 'remote-runner' and $1 <> '{}'`,
      [replicas],
    );
  }

  /**
   * Deletes all rows, except what the replicas of the service that stays wrote when they started. Returns false, and changes
   * nothing, if its schema has changed.
   */
  async empty(replicas: readonly string[] = []): Promise<boolean> {
    if ((await this.#describe()) !== this.#schema) {
      return false;
    }
    await this.#deleteRows();
    await this.#query("delete from secret where $1 = '{}'", [replicas]);
    await this.#query("delete from replica where id <> all($1::uuid[])", [replicas]);
    return true;
  }

  /**
   * Deletes without triggers, and so in any order. The service that stays may write in another order at this moment: Postgres then
   * ends one of both transactions, and this one is repeated.
   */
  async #deleteRows(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#query(`set session_replication_role = replica; ${this.#deletes}`);
        return;
      } catch (error) {
        const isDeadlock = error instanceof pg.DatabaseError && error.code === "40P01";
        if (!isDeadlock || attempt === attemptsMax) {
          throw error;
        }
      }
    }
  }

  /** Throws when another connection stays open: a leaked connection fails here. */
  async expectNobodyElse(): Promise<void> {
    const others = "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    const isAlone = async (): Promise<boolean> => (await this.#query(others)).length === 0;
    await until("connections of the test to be closed", isAlone, closedWithinMs);
  }

  /** Closes its own connection; the next call opens another one. */
  async disconnect(): Promise<void> {
    const connection = await this.#connection;
    this.#connection = undefined;
    await connection?.end();
  }

  /** Changes with every table, partition, index, constraint, trigger, function and migration that is added, removed or renamed. */
  async #describe(): Promise<string> {
    const [row] = await this.#query<{ print: string }>(`
      select md5(string_agg(part, ' ' order by part)) as print from (
        select oid::text || relname from pg_class where relnamespace = 'public'::regnamespace
        union all select oid::text || conname from pg_constraint where connamespace = 'public'::regnamespace
        union all select oid::text || tgname || tgenabled::text from pg_trigger where not tgisinternal
        union all select oid::text || proname from pg_proc where pronamespace = 'public'::regnamespace
        union all select name from kysely_migration
      ) as parts (part)`);
    return row?.print ?? "";
  }

  async #query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    this.#connection ??= this.#connect();
    return (await (await this.#connection).query<Row>(text, values && [...values])).rows;
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    // A test may end every connection.
    client.on("error", () => {
      this.#connection = undefined;
    });
    await client.connect();
    return client;
  }
}

/** The server takes a moment to notice that a client has gone. */
const closedWithinMs = 5_000;
