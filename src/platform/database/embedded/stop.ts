// Ends one process's use of a cluster. The last process to leave stops the server, regardless of which one started it. The
// starter may be killed, or leave before the others; no other part would then stop the server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { embeddedFailure } from "./failure.ts";
import { acquireLock } from "./lock.ts";
import { connectPresence, type Login, type Presence, presenceName } from "./login.ts";
import { dataFolderOf, lockFileOf } from "./place.ts";
import { poll } from "./poll.ts";
import { isServing, readPostmaster } from "./postmaster.ts";

/** One process's use of a cluster. */
export interface Usage {
  readonly home: string;
  readonly login: Login;
  readonly presence: Presence;
  /** Windows has no SIGINT for other processes: there, this program requests the fast shutdown. */
  readonly pgCtl: string;
}

/** The connections that keep the server running: those of every client, or only those of processes that use the cluster. */
export type Others = "clients" | "processes";

/**
 * Ends the usage, and stops the server when none of the others is connected. Holds the lock, so that no process joins
 * meanwhile. With `processes`, the connections of this process may still be open.
 */
export async function leaveCluster(usage: Usage, others: Others): Promise<void> {
  if (!existsSync(usage.home)) {
    await usage.presence.client.end();
    return;
  }
  using _lock = await acquireLock(lockFileOf(usage.home));
  const presence = await renewPresence(usage);
  if (presence === undefined) {
    return;
  }
  presence.socket.ref();
  const isLast = await hasNoOthers(presence, others);
  await presence.client.end();
  if (isLast) {
    await stopPostmaster(dataFolderOf(usage.home), usage.pgCtl);
  }
}

/**
 * Stops the server with SIGINT, the fast shutdown. SIGTERM would wait for clients; SIGKILL would force recovery on the next
 * start.
 */
export async function stopPostmaster(dataFolder: string, pgCtl: string): Promise<void> {
  const postmaster = readPostmaster(dataFolder);
  if (postmaster === undefined || !isServing(postmaster.pid, dataFolder)) {
    return;
  }
  await requestFastShutdown(postmaster.pid, pgCtl, dataFolder);
  const look = (): true | undefined => (isServing(postmaster.pid, dataFolder) ? undefined : true);
  if ((await poll(look, { timeoutMs: stopTimeoutMs })) === true) {
    return;
  }
  throw embeddedFailure(
    `Postgres (pid ${postmaster.pid}) did not stop within ${stopTimeoutMs / 1000} s of being asked to.`,
  );
}

/** Counts the other connections. Reference the presence's socket first. */
export async function countOthers({ client }: Presence, others: Others): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' " +
      "and pid <> pg_backend_pid() and ($1 = 'clients' or application_name = $2)",
    [others, presenceName],
  );
  return rows[0]?.count ?? 0;
}

/** A connection that just closed or was killed stays visible for some milliseconds, on a busy machine for longer. */
const lingerTimeoutMs = 1_000;

/** A fast shutdown writes a checkpoint of at most shared_buffers: a second or two even on a slow disk. */
const stopTimeoutMs = 60_000;

/** Reconnects after a crash that the server survived. Returns undefined when the server is gone. */
async function renewPresence(usage: Usage): Promise<Presence | undefined> {
  if (!usage.presence.isClosed()) {
    return usage.presence;
  }
  const postmaster = readPostmaster(dataFolderOf(usage.home));
  if (postmaster?.address === undefined) {
    return undefined;
  }
  return connectPresence({ ...usage.login, ...postmaster.address }).catch(() => undefined);
}

async function hasNoOthers(presence: Presence, others: Others): Promise<boolean> {
  const look = async (): Promise<true | undefined> => ((await countOthers(presence, others)) === 0 ? true : undefined);
  return (await poll(look, { timeoutMs: lingerTimeoutMs })) ?? false;
}

async function requestFastShutdown(pid: number, pgCtl: string, dataFolder: string): Promise<void> {
  if (process.platform !== "win32") {
    process.kill(pid, "SIGINT");
    return;
  }
  const child = spawn(pgCtl, ["stop", "-D", dataFolder, "-m", "fast", "-W"], { stdio: "ignore", windowsHide: true });
  await once(child, "close");
}
