// A process that is frozen and thaws after the others have given it up: it still believes that it owns its runs, continues
// with the very next step, and has to notice the loss.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { ServiceProcess } from "../../harness/process.ts";
import { until } from "../../harness/wait.ts";
import { linesOf, replicaIdsOf } from "../cluster.ts";

const run = promisify(execFile);

/** Postgres takes 10 s to end a transaction that the freeze has left open; only then can the lease be taken. */
const takenMaxMs = 40_000;

export async function isFrozen({ pid }: Pick<ServiceProcess, "pid">): Promise<boolean> {
  const state = process.platform === "linux" ? await readState(pid) : await askState(pid);
  return state.startsWith("T");
}

/** Lets a process continue once another one has taken its lease. */
export async function thaw(member: ServiceProcess, others: readonly ServiceProcess[]): Promise<void> {
  const frozenId = replicaIdsOf(member).at(-1);
  const reaped = (other: ServiceProcess) => linesOf(other, "replica.reaped").map(({ replicaId }) => replicaId);
  const isTaken = (): boolean => others.flatMap(reaped).includes(frozenId);
  await until("the lease of the frozen process to be taken", isTaken, takenMaxMs);
  member.signal("SIGCONT");
}

/** Waits until a thawed process has lost its old id and continues under a new one. */
export async function comeBack(member: ServiceProcess): Promise<void> {
  await until("the process that thawed to notice", () => linesOf(member, "lease.lost").length > 0);
  await until("the process that thawed to come back", () => replicaIdsOf(member).length > 1);
}

/** The state follows the name of the program, which is in parentheses and may contain parentheses itself. */
async function readState(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2);
}

async function askState(pid: number): Promise<string> {
  const { stdout } = await run("ps", ["-o", "state=", "-p", String(pid)]);
  return stdout.trim();
}
