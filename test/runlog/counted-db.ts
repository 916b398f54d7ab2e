// A database that counts the statements it is asked.

import type { Db } from "../../src/platform/database/database.ts";

export interface CountedDb {
  readonly db: Db;
  readonly statements: number;
}

export function countStatements(db: Db): CountedDb {
  let statements = 0;
  const counting = db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return {
    db: counting,
    get statements() {
      return statements;
    },
  };
}
