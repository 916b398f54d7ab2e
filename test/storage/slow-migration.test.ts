// A migration that takes as long as an index of a large table.

import { expect, onTestFinished, test } from "vitest";
import { openConnections } from "../../src/platform/database/database.ts";
import { listMigrations, migrate } from "../../src/platform/database/migrate.ts";
import { emptyDatabase, query } from "../harness/database.ts";

/** Longer than the limits of other statements. */
const slowSeconds = 13;

test("a migration may take longer than any other statement, and a process that starts meanwhile waits for it", async () => {
  const url = await emptyDatabase();
  await query(
    url,
    `create function take_long() returns event_trigger language plpgsql as $$ begin perform pg_sleep(${slowSeconds}); end $$;
     create event trigger slow on ddl_command_end when tag in ('CREATE TRIGGER') execute function take_long()`,
  );
  const options = { poolSize: 2, onConnectionError: () => {} };
  const both = [1, 2].map(() => openConnections({ connectionString: url }, options));
  for (const { close } of both) {
    onTestFinished(close);
  }
  const applied = await Promise.all(both.map(migrate));
  expect(applied.flat().toSorted()).toEqual(await listMigrations());
});
