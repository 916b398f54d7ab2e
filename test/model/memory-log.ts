// The log of one run in memory, behind the statements that a tail sends to Postgres, so that the test decides when each is
// answered. It replaces only the database; any statement that is not a tail's throws.

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

  /** Commits entries; a terminal entry ends the run. */
  commit(entries: readonly LogEntry[]): void {
    this.rows.push(...entries.map(({ sequence, bytes }) => ({ sequence, payload: bytes })));
    this.#isOver ||= entries.at(-1)?.terminal === true;
  }

  /** Replaces the bytes of one entry, as a purge does. */
  replace(sequence: number, payload: Uint8Array): void {
    this.rows[sequence - 1] = { sequence, payload };
  }

  after(sequence: number, limit: number): StoredResult[] {
    return this.rows.slice(sequence, sequence + limit);
  }

  /** The answer that Postgres would give now. */
  answer({ sql, parameters }: CompiledQuery): object[] {
    if (sql.includes("bytes_before")) {
      const [, afters = [], rowsMax = [], bytesMax = [], , places = []] = parameters.map(numbersOf);
      return places.flatMap((place, index) =>
        fitting(this.after(afters[index] ?? 0, rowsMax[index] ?? 0), bytesMax[index] ?? 0).map((row) => ({
          ...row,
          sizeBytes: row.payload.length,
          place,
        })),
      );
    }
    if (sql.includes("as newest")) {
      const [, places = []] = parameters.map(numbersOf);
      return places.map(() => ({ sequence: this.rows.at(-1)?.sequence ?? 0 }));
    }
    if (/^select .* from "run" where "id" = \$1$/.test(sql)) {
      return [
        { status: this.#isOver ? "completed" : "running", last_sequence: this.#isOver ? this.rows.length : null },
      ];
    }
    throw new Error(`no tail asks this: ${sql}`);
  }
}

/** `step` is awaited before a statement runs and again before its answer arrives. */
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

/** The numbers of a parameter: one number, or an array in Postgres' binary format. Texts and their arrays give none. */
function numbersOf(parameter: unknown): number[] {
  if (typeof parameter === "number") {
    return [parameter];
  }
  if (!Buffer.isBuffer(parameter)) {
    return [];
  }
  const numbers: number[] = [];
  for (let offset = 20; offset < parameter.length; ) {
    const length = parameter.readInt32BE(offset);
    numbers.push(parameter.readIntBE(offset + 4 + Math.max(0, length - 6), Math.min(6, length)));
    offset += 4 + length;
  }
  return numbers;
}

/** At least one row; stops once `bytesMax` bytes are reached. */
function fitting(rows: readonly StoredResult[], bytesMax: number): StoredResult[] {
  let bytes = 0;
  return rows.filter(({ payload }) => {
    const fits = bytes < bytesMax;
    bytes += payload.length;
    return fits;
  });
}
