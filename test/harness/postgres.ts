// One Postgres for a whole test run: the embedded one in a folder of its own, or the server that DATABASE_URL names. A server
// that does not start fails the run; nothing is skipped.

import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { findBubblewrap } from "../../src/agent/tools/bash/find-bubblewrap.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { openConnections } from "../../src/platform/database/database.ts";
import type { Login } from "../../src/platform/database/embedded/login.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/open.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { createPartitions } from "../../src/platform/database/partition.ts";
import { createDatabase, databaseUrl, dropDatabase, query } from "./database.ts";
import { leaveOut } from "./leave-out.ts";

declare module "vitest" {
  export interface ProvidedContext {
    databaseUrl: string;
    templateName: string;
    dataHome: string;
    hasJail: boolean;
    hasPhp: boolean;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Node would exit with success when the setup waits but no event is pending.
  const fail = (): void => {
    process.exitCode = 1;
    process.stderr.write("the tests' Postgres was never ready: no test was run\n");
  };
  process.once("exit", fail);
  project.provide("hasJail", await lookForJail());
  project.provide("hasPhp", lookForPhp());
  const close = await openForTests(project);
  process.off("exit", fail);
  return close;
}

async function lookForJail(): Promise<boolean> {
  const jail = await findBubblewrap({ clock: systemClock, hidden: [], path: process.env.PATH ?? "" });
  return (
    !("problem" in jail) ||
    leaveOut("TEST_JAIL", `the tests of the jail of bash are left out, for ${jail.problem}; to have them: ${jail.fix}`)
  );
}

function lookForPhp(): boolean {
  const { error } = spawnSync("php", ["--version"], { stdio: "ignore" });
  return (
    error === undefined ||
    leaveOut(
      "TEST_PHP",
      "the tests of programs in PHP are left out, for there is none; to have them: apt-get install php-cli",
    )
  );
}

async function openForTests(project: TestProject): Promise<() => Promise<void>> {
  const home = await makeHome(tmpdir());
  process.env.TMPDIR = home;
  const dataHome = await makeHome(await chooseDisk());
  project.provide("dataHome", dataHome);
  const templateName = `runnel_template_${process.pid}`;
  const server = await openServer(dataHome, templateName);
  project.provide("databaseUrl", server.url);
  project.provide("templateName", templateName);
  try {
    await createDatabase(server.url, templateName, undefined);
    await migrateTemplate(databaseUrl(server.url, templateName));
  } catch (error) {
    // A run that does not begin has no teardown, so the server is closed here.
    await server.close();
    throw error;
  }
  return async () => {
    await server.close();
    for (const folder of [dataHome, home]) {
      await checkNothingIsLeft(folder);
      await rm(folder, { recursive: true });
    }
  };
}

/** Makes a folder of this test run. Everything temporary of its tests is in such a folder, so that leftovers are noticed. */
async function makeHome(parent: string): Promise<string> {
  const home = await mkdtemp(join(parent, "runnel-tests-"));
  // When root starts Postgres, it runs under another account, which needs to reach its data.
  await chmod(home, 0o711);
  return home;
}

/** Three times what the data of a whole test run took at its peak. */
const roomForData = 4_000_000_000;

/**
 * Returns a folder for the data of Postgres servers: in memory where the machine has room. A commit waits for its disk, and on a disk
 * that other tests keep busy it took seconds. Then a service is rightly not ready, and tests that judge readiness failed.
 */
async function chooseDisk(): Promise<string> {
  const memory = "/dev/shm";
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize < roomForData ? tmpdir() : memory;
}

/** Where Node keeps the compiled scripts of npm, Claude Code and other programs that ask for it. */
const nodeCache = "node-compile-cache";

/** Fails the run when folders were not removed or processes still work in one. */
async function checkNothingIsLeft(home: string): Promise<void> {
  const names = (await readdir(home)).filter((name) => name !== nodeCache);
  const left = [...names, ...(await processesIn(home))];
  if (left.length > 0) {
    throw new Error(`the tests left behind: ${left.join(", ")} (in ${home})`);
  }
}

/** Returns the processes whose command line names the folder; none on a machine without /proc. */
async function processesIn(home: string): Promise<string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => commands[index]?.includes(home)).map((pid) => `process ${pid}`);
}

/** A service opens up to 12, and two files of chains run 14 services at a time. The default of 100 refused some of them. */
const connectionsMax = 300;

async function openServer(
  dataHome: string,
  templateName: string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const named = process.env.DATABASE_URL ?? "";
  if (named !== "") {
    return { url: named, close: () => dropDatabases(named, templateName) };
  }
  const directory = join(dataHome, "database");
  const first = await openEmbeddedPostgres({ directory });
  await query(first.connectionString, `alter system set max_connections = ${connectionsMax}`);
  await query(first.connectionString, quickLogin(first.login));
  await first.stop();
  const embedded = await openEmbeddedPostgres({ directory });
  return {
    url: embedded.connectionString,
    close: async () => {
      await embedded.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/**
 * Returns SQL that stores the same password with one iteration. The default of 4096 protects passwords that can be guessed, and took a
 * fifth of the processor time of each connection: each service of a test opens ten.
 */
function quickLogin({ user, password }: Login): string {
  return `set scram_iterations = 1; alter role ${pg.escapeIdentifier(user)} password ${pg.escapeLiteral(password)}`;
}

/** Drops the template and its clones. */
async function dropDatabases(server: string, prefix: string): Promise<void> {
  const all = await query<{ name: string }>(server, "select datname as name from pg_database");
  for (const { name } of all.filter(({ name }) => name.startsWith(prefix))) {
    await dropDatabase(server, name);
  }
}

async function migrateTemplate(url: string): Promise<void> {
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  await migrate(connections);
  // Those that every service would make when it starts, and one more for a run over midnight.
  await createPartitions(connections.db, { nowMs: systemClock.nowMs(), daysAhead: 8 });
  await connections.close();
}
