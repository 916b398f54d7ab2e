// A folder for one embedded Postgres and all other files of a bench. It is removed at the end, together with the server.

import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Login } from "../../../src/platform/database/embedded/login.ts";
import { openEmbeddedPostgres } from "../../../src/platform/database/embedded/open.ts";

export interface Home extends AsyncDisposable {
  /** The value of RUNNEL_DATABASE_DIR. */
  readonly databaseDirectory: string;
  /** The first process of this cluster; all others are its children. Undefined while it is stopped. */
  postmasterPid(): number | undefined;
}

/** A home whose Postgres runs until the home is closed, so that services start and stop without starting it. */
export interface OpenHome extends Home {
  readonly postgresVersion: string;
  readonly login: Login;
  /** Opens a bare connection, for the variants that the service's own way to Postgres is compared with. The caller ends it. */
  connect(): Promise<pg.Client>;
}

/** A fast shutdown ends within a second or two. A hanging bench is worse than a folder that is left behind. */
const stopTimeoutMs = 20_000;
const pollMs = 20;

export async function makeHome(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-bench-"));
  // When root starts Postgres, it runs under another account, which needs to reach its data.
  await chmod(folder, 0o711);
  const databaseDirectory = join(folder, "database");
  const postmasterPid = (): number | undefined => readPostmasterPid(databaseDirectory);
  return {
    databaseDirectory,
    postmasterPid,
    [Symbol.asyncDispose]: async () => {
      await stopPostmaster(postmasterPid);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function openHome(): Promise<OpenHome> {
  await using closers = new AsyncDisposableStack();
  const home = closers.use(await makeHome());
  const { login } = closers.use(await openEmbeddedPostgres({ directory: home.databaseDirectory }));
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(login);
    // A server that goes away fails the current statement. Without a listener the error would end the process.
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const postgresVersion = await readVersion(connect);
  const kept = closers.move();
  return { ...home, postgresVersion, login, connect, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function readVersion(connect: () => Promise<pg.Client>): Promise<string> {
  const client = await connect();
  try {
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return rows[0]?.server_version ?? "unknown";
  } finally {
    await client.end();
  }
}

function readPostmasterPid(databaseDirectory: string): number | undefined {
  const file = join(databaseDirectory, "postgres", "postmaster.pid");
  return existsSync(file) ? Number(readFileSync(file, "utf8").split("\n", 1)[0]) : undefined;
}

/** The last service to end stops Postgres; this is for a bench that failed before. SIGINT is the fast shutdown. */
async function stopPostmaster(postmasterPid: () => number | undefined): Promise<void> {
  const pid = postmasterPid();
  if (pid === undefined) {
    return;
  }
  process.kill(pid, "SIGINT");
  const startedMs = performance.now();
  while (postmasterPid() !== undefined && performance.now() - startedMs < stopTimeoutMs) {
    await delay(pollMs);
  }
}
