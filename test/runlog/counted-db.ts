// A database that counts its statements.

import type { Db } from "../../src/platform/database/database.ts";

export interface CountedDb {
  readonly db: Db;
  /** Those that were answered. */
  readonly statements: number;
  /** Those that the query builder wrote; the others are raw SQL. */
  readonly built: number;
}

export function countStatements(db: Db): CountedDb {
  let statements = 0;
  let built = 0;
  const builtHere = new WeakSet();
  const counting = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      if (node.kind !== "RawNode") {
        builtHere.add(queryId);
      }
      return node;
    },
    // A statement whose text was built before comes here alone.
    transformResult: async ({ result, queryId }) => {
      statements += 1;
      built += builtHere.has(queryId) ? 1 : 0;
      return result;
    },
  });
  return {
    db: counting,
    get statements() {
      return statements;
    },
    get built() {
      return built;
    },
  };
}
