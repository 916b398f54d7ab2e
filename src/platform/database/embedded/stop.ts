// The end of one process's use of a cluster. The last one to leave stops the server, whoever started it: a starter may be
// killed, or leave before the others, and nothing else would ever stop the server then.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { embeddedFailure } from "./failure.ts";
import { acquireLock } from "./lock.ts";
import { connectPresence, type Login, type Presence, presenceName } from "./login.ts";
import { dataFolderOf, lockFileOf } from "./place.ts";
import { poll } from "./poll.ts";
import { isServing, readPostmaster } from "./postmaster.ts";

export interface Usage {
  readonly home: string;
  readonly login: Login;
  readonly presence: Presence;
  /** Windows has no SIGINT for other processes: there this program asks for the fast shutdown. */
  readonly pgCtl: string;
}

/** Whom the server has to go on for: every client, or only processes that use the cluster as this one does. */
export type Others = "clients" | "processes";

/**
 * Ends the usage, and the server with it when none of the others is connected. Under the lock, so that no process joins meanwhile.
 * With `processes` the connections of this process may still be open.
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

/** SIGINT is the fast shutdown. SIGTERM would wait for clients, SIGKILL would leave recovery to the next start. */
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

/** Reference the presence's socket before. */
export async function countOthers({ client }: Presence, others: Others): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' " +
      "and pid <> pg_backend_pid() and ($1 = 'clients' or application_name = $2)",
    [others, presenceName],
  );
  return rows[0]?.count ?? 0;
}

/** A connection that was closed or killed just now is seen for some milliseconds more, on a busy machine for longer. */
const lingerTimeoutMs = 1_000;

/** A fast shutdown writes a checkpoint, which is at most shared_buffers: a second or two even on a slow disk. */
const stopTimeoutMs = 60_000;

/** The connection may have been lost to a crash that the server survived; undefined when there is no server any more. */
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
