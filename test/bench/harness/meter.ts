// What a piece of work cost each process that took part, in CPU time, which on shared cores is steadier than wall time. Other
// processes are read from /proc, to the nanosecond. Without /proc (not Linux) those figures are NaN.

import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface Meter {
  readonly servicePid?: number;
  readonly providerPid?: number;
  readonly postmasterPid?: number | undefined;
}

/** Wall time and CPU seconds; `client` is this process. */
export interface Cost {
  readonly wall: number;
  readonly service: number;
  readonly postgres: number;
  readonly provider: number;
  readonly client: number;
}

export async function measure<T>(meter: Meter, work: () => Promise<T>): Promise<{ result: T; cost: Cost }> {
  const before = readCost(meter);
  const result = await work();
  const after = readCost(meter);
  const cost: Cost = {
    wall: after.wall - before.wall,
    service: after.service - before.service,
    postgres: after.postgres - before.postgres,
    provider: after.provider - before.provider,
    client: after.client - before.client,
  };
  return { result, cost };
}

/** The maximum memory that a process has held since its start. */
export function peakMemoryMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readProc(pid, "status") ?? "")?.[1];
  return Number(kilobytes ?? Number.NaN) / 1_024;
}

/** The memory that a process holds now. */
export function memoryMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readProc(pid, "status") ?? "")?.[1];
  return Number(kilobytes ?? Number.NaN) / 1_024;
}

function readCost({ servicePid, providerPid, postmasterPid }: Meter): Cost {
  const { user, system } = process.cpuUsage();
  return {
    wall: performance.now() / 1_000,
    service: servicePid === undefined ? 0 : readCpu(servicePid).own,
    postgres: postmasterPid === undefined ? 0 : readFamilyCpu(postmasterPid),
    provider: providerPid === undefined ? 0 : readCpu(providerPid).own,
    client: (user + system) / 1_000_000,
  };
}

/** The CPU seconds of a server with its backends: those that are alive, and those that have ended since it started. */
function readFamilyCpu(pid: number): number {
  const children = readProc(pid, `task/${pid}/children`)?.trim().split(" ").filter(Boolean) ?? [];
  const { own, ended } = readCpu(pid);
  return children.reduce((sum, child) => sum + readCpu(Number(child)).own, own + ended);
}

/** The CPU seconds of a living process, and of those of its children that have ended. */
function readCpu(pid: number): { own: number; ended: number } {
  // After the name, which may hold any character: state, then numbers; user, system, children's user, children's system.
  const fields = readProc(pid, "stat")?.split(") ").at(-1)?.split(" ").slice(11, 15).map(Number) ?? [];
  const [user = Number.NaN, system = Number.NaN, endedUser = Number.NaN, endedSystem = Number.NaN] = fields;
  return {
    own: readThreadsCpu(pid) ?? (user + system) / ticksPerSecond,
    ended: (endedUser + endedSystem) / ticksPerSecond,
  };
}

/**
 * Linux reports CPU time in these ticks, independent of the kernel's own tick. They are too coarse for short pieces of work.
 */
const ticksPerSecond = 100;

/**
 * Exact, but only for living threads, as Node's are from start to end. Returns undefined where the kernel does not report it.
 */
function readThreadsCpu(pid: number): number | undefined {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(`${folder}/${pid}/schedstat`)) {
    return undefined;
  }
  const nanoseconds = readdirSync(folder).map((thread) =>
    Number(readProc(pid, `task/${thread}/schedstat`)?.split(" ", 1)[0] ?? 0),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9;
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    // The process has ended meanwhile, or this is not Linux.
    return undefined;
  }
}
