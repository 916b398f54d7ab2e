// An upgrade from each earlier schema, and a writer and a reader that know the columns of the first schema alone meanwhile.

import type pg from "pg";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { listMigrations, migrate } from "../../src/platform/database/migrate.ts";
import { getRun } from "../fault/cluster.ts";
import { startOn } from "../fault/database/service-on.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { expectStored, LogReader } from "../fault/log-reader.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { addRun, connectLimited, endRun, migrateTo, openEmpty, Repeated, type Status, statuses } from "./old-schema.ts";

const schemas = (await listMigrations()).slice(0, -1);
/** Steps of the writer and the reader before and after the migrations. */
const steps = 5;

type Rows = ReadonlyMap<string, readonly Record<string, unknown>[]>;

async function readTables(db: pg.Client): Promise<Rows> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and not relispartition and relname not like 'kysely%'`,
  );
  const reads = tables.map(({ name }) => `select '${name}' as name, to_jsonb(${name}) as row from ${name}`);
  const { rows } = await db.query<{ name: string; row: Record<string, unknown> }>(
    `select name, row from (${reads.join(" union all ")}) as rows where row ->> 'client' is distinct from 'writer'`,
  );
  const byTable = Map.groupBy(rows, ({ name }) => name);
  return new Map([...byTable].map(([name, all]) => [name, all.map(({ row }) => row)]));
}

/** Fails unless each row is there as it was. Later migrations may have added columns and rows. */
function expectKept(before: Rows, after: Rows): void {
  for (const [table, rows] of before) {
    const columns = Object.keys(rows[0] ?? {});
    const print = (row: Record<string, unknown>): string => JSON.stringify(columns.map((column) => row[column]));
    const kept = new Set((after.get(table) ?? []).map(print));
    expect(
      rows.map(print).filter((row) => !kept.has(row)),
      table,
    ).toEqual([]);
  }
}

test("rows of every schema are kept by all later ones, and their runs continue", async () => {
  const { url, connections } = await openEmpty();
  const writing = await connectLimited(url);
  const runs: { readonly status: Status; readonly runId: string }[] = [];
  let rows: Rows = new Map();
  for (const schema of schemas) {
    await migrateTo(connections, schema);
    for (const status of statuses) {
      runs.push({ status, runId: await addRun(writing, status) });
    }
    const after = await readTables(writing);
    expectKept(rows, after);
    expect(after.get("run")).toHaveLength(runs.length);
    rows = after;
  }
  expect(await migrate(connections)).toHaveLength(1);
  expectKept(rows, await readTables(writing));
  await expectContinued(url, runs);
});

test("a writer and a reader that know the first schema alone work while all later ones are applied", async () => {
  const { url, connections } = await openEmpty();
  const [first = "", ...later] = await listMigrations();
  await migrateTo(connections, first);
  const [writing, reading] = [await connectLimited(url), await connectLimited(url)];
  const runs: { readonly status: Status; readonly runId: string }[] = [];
  for (const status of statuses) {
    runs.push({ status, runId: await addRun(writing, status) });
  }
  const before = await readTables(writing);
  const writer = new Repeated(async () => {
    const runId = await addRun(writing, "running", "writer");
    await endRun(writing, runId, "completed");
  });
  const reader = new Repeated(() =>
    reading.query(
      `select run.id, run.status, run.terminal, session.name, payload from run join session on session.id = run.session
       join run_result on run_id = run.id where run.client = 'writer' order by run.id desc limit 20`,
    ),
  );
  await Promise.all([writer.further(steps), reader.further(steps)]);
  const applied = await migrate(connections);
  await Promise.all([writer.further(steps), reader.further(steps)]);
  await Promise.all([writer.end(), reader.end()]);
  expect(applied).toEqual(later);
  expectKept(before, await readTables(writing));
  await expectContinued(url, runs);
});

const readAtOnce = 8;

/** Starts the service, and fails unless each run ends as it has to. */
async function expectContinued(
  url: string,
  runs: readonly { readonly status: Status; readonly runId: string }[],
): Promise<void> {
  const { member } = await startOn(url, { RUNNEL_RUNS_LEASE_MS: "1000" });
  const expectEnd = async ({ status, runId }: (typeof runs)[number]): Promise<void> => {
    const state = { failed: Run_State.FAILED, cancelled: Run_State.CANCELLED }[status as string] ?? Run_State.COMPLETED;
    await until(`the ${status} run to end`, async () => (await getRun(member.client, runId)).state === state);
    const log = new LogReader(runId);
    await log.follow(member.client);
    await expectStored(url, runId, log.results);
  };
  for (let start = 0; start < runs.length; start += readAtOnce) {
    await Promise.all(runs.slice(start, start + readAtOnce).map(expectEnd));
  }
  await member.stop();
  await expectInvariants(url, { someWithoutChain: true });
}

test("a migration that waits for a lock lets others go first, and keeps what is done", async () => {
  const { url, connections } = await openEmpty();
  await migrateTo(connections, "0018_hidden_session");
  const [holder, writing] = [await connectLimited(url), await connectLimited(url)];
  // As a backup does. 0019 needs a lock of runs, and 0020 one of runs and then one of sessions.
  await holder.query("begin; select from session");
  const migrating = migrate(connections);
  const isDone = async (): Promise<boolean> =>
    (await query(url, "select 1 from kysely_migration where name like '0019%'")).length > 0;
  await until("the first of them to be applied", isDone);
  const writer = new Repeated(() => addRun(writing, "queued"));
  await writer.further(steps);
  await holder.query("commit");
  expect((await migrating).at(-1)).toBe((await listMigrations()).at(-1));
  await writer.end();
});
