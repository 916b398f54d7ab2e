// Starts one command, confined or not, as a process whose whole tree can be ended.

import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { Readable, Writable } from "node:stream";
import { isRoot, type Owner } from "../../../platform/base/owner.ts";
import { type CommandView, jailArguments, launchDescriptors, runInShell, type Shell, type SystemView } from "./jail.ts";
import { shellLimits } from "./limits.ts";
import type { PidsGroup } from "./pids-group.ts";

const { PRIORITY_LOW, PRIORITY_HIGHEST } = constants.priority;

export interface Launched {
  readonly child: ChildProcess;
  /** The first process of the jail, as this system counts, once it is there. */
  readonly jailPid: () => number | undefined;
  /** False as long as nothing of the command itself has run. */
  readonly hasStarted: () => boolean;
  /** Once it is over: whether a signal ended the command's shell, and not the shell itself. */
  readonly wasSignalled: () => boolean;
  /** Ends every process of the command. */
  readonly kill: () => void;
}

export interface Bubblewrap {
  readonly program: string;
  readonly filter: Uint8Array;
  readonly system: SystemView;
}

export interface LaunchOptions {
  /** Stays with the caller, who may close it once the launch has returned. */
  readonly workDirFd: number;
  /** As whom, if not as the service itself. */
  readonly worker?: Owner | undefined;
  readonly group?: PidsGroup | undefined;
}

/** Those of bubblewrap outside of the jail. */
export const launchProcesses = 1;

/** Only who is in the group from the start has all its processes in it. */
const joinGroup = 'echo $$ > "$0" && exec "$@"';

export function launchJailed(
  bubblewrap: Bubblewrap,
  view: CommandView,
  { workDirFd, worker, group }: LaunchOptions,
): Launched {
  const command = [bubblewrap.program, ...jailArguments(bubblewrap.system, view)];
  const [program = "", ...args] =
    group === undefined ? command : ["/bin/sh", "-c", joinGroup, group.members, ...command];
  const child = spawn(program, args, {
    ...worker,
    // Its environment would stay readable inside, as that of the jail's first process.
    env: {},
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", workDirFd, "pipe"],
  });
  prioritise(child.pid, PRIORITY_LOW);
  // A launcher that ends early takes no filter; its own message says why.
  const filter = child.stdio.at(launchDescriptors.filter) as Writable;
  filter.on("error", () => {});
  filter.end(bubblewrap.filter);
  const info = child.stdio.at(launchDescriptors.info) as Readable;
  const infoText = collect(info);
  const told = collect(child.stdio.at(launchDescriptors.told) as Readable);
  const jailPid = (): number | undefined => readPid(infoText());
  const kill = (): void => {
    // The launcher ends when the jail has. Killed before it told of the jail, it could leave it behind half made.
    prioritise(jailPid(), PRIORITY_HIGHEST);
    if (!killProcess(jailPid())) {
      info.on("data", () => killProcess(jailPid()));
    }
  };
  return { child, jailPid, hasStarted: () => told() !== "", wasSignalled: () => told().length > 1, kill };
}

/**
 * For root, whose processes no limit of the kernel counts. What multiplies must leave time to the watch that ends it (the
 * launcher takes a millisecond to have children, which have its priority); and the jail's first process, in which the
 * kernel ends all others, must not wait for its turn among them.
 */
function prioritise(pid: number | undefined, priority: number): void {
  if (pid === undefined || !isRoot()) {
    return;
  }
  try {
    setPriority(pid, priority);
  } catch {
    // It has ended already.
  }
}

/** With the documented limits and environment, and no walls. */
export function launchUnconfined(
  command: string,
  { shell, workDir, environment }: { shell: Shell; workDir: string; environment: Readonly<Record<string, string>> },
): Launched {
  const child = spawn("/bin/bash", ["-c", `${shellLimits}; exec ${runInShell}`, "bash", command, shell], {
    env: environment,
    cwd: workDir,
    // A process group of its own, to be ended as one.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => {
    killProcess(child.pid === undefined ? undefined : -child.pid);
  };
  // What it left in the background would go on, and keep its output open.
  child.once("exit", kill);
  const hasStarted = (): boolean => child.pid !== undefined;
  return { child, jailPid: () => undefined, hasStarted, wasSignalled: () => child.signalCode !== null, kill };
}

function collect(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (piece: string) => {
    text += piece;
  });
  stream.on("error", () => {});
  return () => text;
}

function readPid(info: string): number | undefined {
  const [, pid] = /"child-pid": (\d+)/.exec(info) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/** False where there was nothing to kill. */
function killProcess(pid: number | undefined): boolean {
  if (pid === undefined) {
    return false;
  }
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
