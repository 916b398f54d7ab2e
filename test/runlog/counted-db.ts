// A database that counts its statements.

import type { Db } from "../../src/platform/database/database.ts";

export interface CountedDb {
  readonly db: Db;
  readonly statements: number;
  /** Those that the query builder wrote; the others are raw SQL. */
  readonly built: number;
}

export function countStatements(db: Db): CountedDb {
  let statements = 0;
  let built = 0;
  const counting = db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      built += node.kind === "RawNode" ? 0 : 1;
      return node;
    },
    transformResult: async ({ result }) => result,
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
