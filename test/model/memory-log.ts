// The log of one run held in memory, behind the statements that a tail asks of Postgres: what is asked and when it is
// answered is then the test's to decide. It takes the place of what is outside; any statement but those of a tail throws.

import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { LogEntry } from "../../src/engine/log/result.ts";
import type { StoredResult } from "../../src/engine/storage/run-result.ts";
import type { Db } from "../../src/platform/database/database.ts";
import type { Schema } from "../../src/platform/database/schema.ts";

export class MemoryLog {
  readonly rows: StoredResult[] = [];
  #isOver = false;

  /** Commits entries; the terminal one ends the run with it. */
  commit(entries: readonly LogEntry[]): void {
    this.rows.push(...entries.map(({ sequence, bytes }) => ({ sequence, payload: bytes })));
    this.#isOver ||= entries.at(-1)?.terminal === true;
  }

  /** Puts other bytes in the place of one entry, as a purge does. */
  replace(sequence: number, payload: Uint8Array): void {
    this.rows[sequence - 1] = { sequence, payload };
  }

  after(sequence: number, limit: number): StoredResult[] {
    return this.rows.slice(sequence, sequence + limit);
  }

  /** What Postgres would answer if it were asked now. */
  answer({ sql, parameters }: CompiledQuery): object[] {
    if (sql.includes("bytes_before")) {
      const [, after, rowsMax, bytesMax] = parameters as [string, number, number, number];
      return fitting(this.after(after, rowsMax), bytesMax);
    }
    if (sql.startsWith('select "sequence" from "run_result"') && sql.includes("desc")) {
      return this.rows.slice(-1).map(({ sequence }) => ({ sequence }));
    }
    if (/^select .* from "run" where "id" = \$1$/.test(sql)) {
      return [
        { status: this.#isOver ? "completed" : "running", last_sequence: this.#isOver ? this.rows.length : null },
      ];
    }
    throw new Error(`no tail asks this: ${sql}`);
  }
}

/** `step` is passed before a statement is answered and again before its answer arrives. */
export function openMemoryDb(log: MemoryLog, step: (what: string) => Promise<void>): Db {
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery): Promise<QueryResult<Row>> => {
      await step("ask");
      const rows = log.answer(query) as Row[];
      await step("answer");
      return { rows };
    },
    streamQuery: refuse,
  };
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driverOf(connection),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

function driverOf(connection: DatabaseConnection): Driver {
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    destroy: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
  };
}

function refuse(): never {
  throw new Error("a tail only reads");
}

/** At least one row, and no more once the bytes are reached. */
function fitting(rows: readonly StoredResult[], bytesMax: number): StoredResult[] {
  let bytes = 0;
  return rows.filter(({ payload }) => {
    const fits = bytes < bytesMax;
    bytes += payload.length;
    return fits;
  });
}
