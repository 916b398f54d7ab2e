// A process that is frozen and thaws after the others gave it up: it still believes that its runs are its own, goes on with
// the very next step, and has to find out.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { query } from "../../harness/database.ts";
import type { ServiceProcess } from "../../harness/process.ts";
import { until } from "../../harness/wait.ts";
import { linesOf, replicaIdsOf } from "../cluster.ts";

const run = promisify(execFile);

/** Postgres takes 10 s to end a transaction that the freeze has caught open, and only then the lease can be taken. */
const takenMaxMs = 40_000;

export async function isFrozen({ pid }: Pick<ServiceProcess, "pid">): Promise<boolean> {
  const { stdout } = await run("ps", ["-o", "state=", "-p", String(pid)]);
  return stdout.trim().startsWith("T");
}

/** Lets a process go on once it has lost its lease to another one. */
export async function thaw(databaseUrl: string, member: ServiceProcess): Promise<void> {
  const replicaId = replicaIdsOf(member).at(-1);
  const isTaken = async (): Promise<boolean> => {
    const rows = await query(databaseUrl, "select 1 from replica where id = $1", [replicaId]);
    return rows.length === 0;
  };
  await until("the lease of the frozen process to be taken", isTaken, takenMaxMs);
  member.signal("SIGCONT");
}

/** A process that thawed writes nothing more under its old id, and serves on under another one. */
export async function comeBack(member: ServiceProcess): Promise<void> {
  await until("the process that thawed to notice", () => linesOf(member, "lease.lost").length > 0);
  await until("the process that thawed to come back", () => replicaIdsOf(member).length > 1);
}
