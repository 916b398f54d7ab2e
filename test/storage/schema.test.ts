// The schema in TypeScript against the migrated database, and the migrations themselves.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Connections, openConnections } from "../../src/platform/database/database.ts";
import { listMigrations, migrate } from "../../src/platform/database/migrate.ts";
import { emptyDatabase, query, testDatabase } from "../harness/database.ts";

interface Column {
  readonly table: string;
  readonly column: string;
  readonly isNullable: boolean;
}

/** Reads the interfaces of every schema.ts as text: types do not exist at run time. */
function declaredColumns(): Column[] {
  const files = globSync("src/**/storage/schema.ts", { cwd: root });
  const source = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const tables = [
    ...bodiesOf(source, "Schema")
      .join("\n")
      .matchAll(/(\w+): (\w+);/g),
  ];
  // A protocol may add columns to a table of the engine.
  return tables.flatMap(([, table = "", type = ""]) => columnsOf(table, bodiesOf(source, type).join("\n")));
}

const root = join(import.meta.dirname, "../..");

function bodiesOf(source: string, name: string): string[] {
  return [...source.matchAll(new RegExp(`interface ${name} \\{([^}]*)\\}`, "g"))].map(([, body = ""]) => body);
}

function columnsOf(table: string, body: string): Column[] {
  return [...body.matchAll(/(\w+): (.+);/g)].map(([, column = "", columnType = ""]) => ({
    table,
    column,
    isNullable: / \| null$/.test(columnType),
  }));
}

test("the declared tables and columns are exactly those of the database", async () => {
  const actual = await query<{ table: string; column: string; isNullable: boolean }>(
    await testDatabase(),
    `select columns.table_name as "table", column_name as "column", is_nullable = 'YES' as "isNullable"
     from information_schema.columns join pg_class on relname = table_name and not relispartition
     where table_schema = 'public' and table_name not like 'kysely%' and relkind in ('r', 'p')`,
  );
  const declared = declaredColumns();
  expect(declared.length).toBeGreaterThan(40);
  const text = ({ table, column, isNullable }: Column) => `${table}.${column}${isNullable ? " null" : ""}`;
  expect(declared.map(text).toSorted()).toEqual(actual.map(text).toSorted());
});

test("each table has a key, without which a publication of all tables refuses updates", async () => {
  const without = await query(
    await testDatabase(),
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary)`,
  );
  expect(without).toEqual([]);
});

test("two processes that migrate at once apply each migration once", async () => {
  const connectionString = await emptyDatabase();
  const options = { poolSize: 2, onConnectionError: () => {} };
  const both = [1, 2].map(() => openConnections({ connectionString }, options));
  for (const { close } of both) {
    onTestFinished(close);
  }
  const applied = await Promise.all(both.map(migrate));
  expect(applied.flat().length).toBeGreaterThan(0);
  expect(new Set(applied.flat()).size).toBe(applied.flat().length);
  // With nothing to apply, no connection is opened for it.
  const openPatient = () => expect.unreachable();
  expect(await migrate({ ...(both[0] as Connections), openPatient })).toEqual([]);
});

test("a database whose encoding lacks characters is refused", async () => {
  const url = await emptyDatabase("encoding LATIN1 locale 'C' template template0");
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(connections.close);
  await expect(migrate(connections)).rejects.toMatchObject({
    reason: "CONFIG_INVALID",
    message: expect.stringContaining("the encoding LATIN1"),
  });
});

test("migrations of another program in another schema of the database are not ours", async () => {
  const url = new URL(await testDatabase());
  await query(url.href, 'create schema "a service"');
  onTestFinished(() => query(url.href, 'drop schema "a service" cascade').then(() => {}));
  url.searchParams.set("options", '-c search_path="a\\ service"');
  const connections = openConnections({ connectionString: url.href }, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(connections.close);
  expect(await migrate(connections)).toEqual(await listMigrations());
  expect(await migrate(connections)).toEqual([]);
});

test("migrations of a newer version do not stop this one and stay unchanged", async () => {
  const url = await testDatabase();
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(connections.close);
  const applied = "select name from kysely_migration order by name";
  const before = await query(url, applied);
  await query(url, "insert into kysely_migration values ('9998_newer', now()::text), ('9999_newest', now()::text)");
  expect(await migrate(connections)).toEqual([]);
  await query(url, "insert into kysely_migration values ('0002_between', now()::text)");
  await expect(migrate(connections)).rejects.toThrow(/migration failed .*0002_between is missing/);
  await query(url, "delete from kysely_migration where name = '0002_between'");
  expect(await query(url, applied)).toEqual([...before, { name: "9998_newer" }, { name: "9999_newest" }]);
});

test("a protocol's session that an older version writes is hidden too", async () => {
  const url = await testDatabase();
  await query(
    url,
    `insert into session (id, client, name, agent, runner_id, job) values
     ('00000000-0000-7000-8000-000000000001', 'c', 'own', '', null, null),
     ('00000000-0000-7000-8000-000000000002', 'c', 'of a runner', '', 'r', null),
     ('00000000-0000-7000-8000-000000000003', 'c', 'of a job', '', null, gen_random_uuid())`,
  );
  const rows = await query<{ hidden: boolean }>(url, "select hidden from session order by id");
  expect(rows.map(({ hidden }) => hidden)).toEqual([false, true, true]);
});
