// How long the migrations of a large database hold up a writer. MIGRATION_RUNS sets how many runs it has.

import { expect, test } from "vitest";
import { listMigrations } from "../../src/platform/database/migrate.ts";
import { query } from "../harness/database.ts";
import { addRun, connectLimited, endRun, migrateTo, openEmpty, Repeated } from "../versions/old-schema.ts";

const runs = Number(process.env.MIGRATION_RUNS ?? 200_000);
/** The schema before the first migration that is measured. */
const oldest = "0018_hidden_session";
/** A writer that waits for a lock longer than this fails: the lock_timeout of the service. */
const blockedMaxMs = 5_000;
const steps = 20;

test(`no migration after ${oldest} holds up a writer for long`, async () => {
  const { url, connections } = await openEmpty();
  await migrateTo(connections, oldest);
  const db = await connectLimited(url);
  await addRun(db, "completed");
  await query(
    url,
    `insert into session (id, client, name, agent, latest_run_id)
       select gen_random_uuid(), 'client ' || n % 100, n::text, agent, gen_random_uuid()
       from session cross join generate_series(1, ${runs}) as n;
     insert into run (id, client, session, driver, input, status, epoch, deadline, end_time, last_sequence, terminal)
       select session.latest_run_id, session.client, session.id, driver, input, status, epoch, deadline, end_time, last_sequence, terminal
       from session cross join run where session.client like 'client %'`,
  );
  await query(url, "vacuum analyze session, run");

  const rows: (string | number)[][] = [];
  for (const name of (await listMigrations()).filter((each) => each > oldest)) {
    const writer = new Repeated(async () => endRun(db, await addRun(db, "running", "writer"), "completed"));
    await writer.further(steps);
    const usualMs = writer.longestMs;
    const startedMs = performance.now();
    await migrateTo(connections, name);
    const tookMs = performance.now() - startedMs;
    await writer.further(steps);
    await writer.end();
    rows.push([`\`${name}\``, Math.round(usualMs), Math.round(tookMs), Math.round(writer.longestMs)]);
    expect(writer.longestMs).toBeLessThan(blockedMaxMs);
  }
  process.stdout.write(`${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`);
});
