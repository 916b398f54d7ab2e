// Analyses tables that have outgrown what Postgres knows about them. A connection keeps the plan of a statement until the
// statistics of its tables change. A plan for an empty table reads all of it, and autovacuum comes up to a minute after the rows.
//
// W1  A table is analysed when it, or one of its indexes, has more than twice the pages of the last analysis or vacuum. An index
//     of few rows, such as that of the queued runs, may grow while its table hardly does.
// W2  So is a table that has more than twice the rows: after a purge new rows fill the pages that the old ones left.
// W3  Looks follow the work and not the time: an idle process makes none, and few statements run between two looks.

import { sql } from "kysely";
import type { Db } from "./database.ts";

/** A look takes about a millisecond of Postgres, less than a hundredth of so many statements. */
const statementsPerLook = 500;

/** So many rows make no difference. Autovacuum has the same threshold. */
const fewRows = 50;

/** Watches all tables, also those that later migrations and partitions add. */
export class GrowthWatch {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  /** The first statement starts a look: a restored database has no statistics. */
  #statements = statementsPerLook;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor({ db, onError }: { readonly db: Db; readonly onError: (error: unknown) => void }) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Counts a statement of this process. A look begins after every 500. */
  countStatement(): void {
    this.#statements += 1;
    if (this.#statements >= statementsPerLook && this.#looking === undefined && !this.#isClosed) {
      this.#statements = 0;
      this.#looking = this.#look();
    }
  }

  /** Resolves when the current look has ended. No other follows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    try {
      await analyseGrown(this.#db);
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#looking = undefined;
    }
  }
}

/** Analyses the tables that have grown. Leaves those that are locked, such as by autovacuum, and those of other owners. */
async function analyseGrown(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select distinct relation.relname as name from pg_class as relation
    left join pg_index on pg_index.indrelid = relation.oid
    left join pg_class as index on index.oid = pg_index.indexrelid
    where relation.relkind = 'r' and relation.relnamespace = current_schema()::regnamespace
      and pg_has_role(relation.relowner, 'usage')
      and (${hasGrown("relation")} or ${hasGrown("index")}
        or pg_stat_get_live_tuples(relation.oid) > 2 * greatest(relation.reltuples, 0) + ${fewRows}::int8)`.execute(db);
  if (rows.length > 0) {
    await sql`analyze (skip_locked) ${sql.join(rows.map(({ name }) => sql.id(name)))}`.execute(db);
  }
}

function hasGrown(relation: string) {
  const column = (name: string) => sql.ref(`${relation}.${name}`);
  return sql<boolean>`
    pg_relation_size(${column("oid")}) > 2 * ${column("relpages")}::int8 * current_setting('block_size')::int8`;
}
