// Starts one command, confined or not, as a process tree that can be killed as a whole.

import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { Readable, Writable } from "node:stream";
import { isRoot, type Owner } from "../../../platform/base/owner.ts";
import { type CommandView, jailArguments, launchDescriptors, runInShell, type Shell, type SystemView } from "./jail.ts";
import { servedLimits, shellLimits } from "./limits.ts";
import type { PidsGroup } from "./pids-group.ts";

const { PRIORITY_LOW, PRIORITY_HIGHEST } = constants.priority;

/** A started command. */
export interface Launched {
  readonly child: ChildProcess;
  /** Returns the pid of the jail's first process on the host, or undefined until it exists. */
  readonly jailPid: () => number | undefined;
  /** Returns false until the command itself has begun. */
  readonly hasStarted: () => boolean;
  /** Returns whether a signal ended the command's shell. Valid after the end of the command. */
  readonly wasSignalled: () => boolean;
  /** Kills every process of the command. */
  readonly kill: () => void;
}

/** A tested bubblewrap and the arguments that all commands share. */
export interface Bubblewrap {
  readonly program: string;
  readonly filter: Uint8Array;
  readonly system: SystemView;
}

/** How to start a jailed command. */
export interface LaunchOptions {
  /** The caller owns this descriptor and may close it once the launch has returned. */
  readonly workDirFd: number;
  /** The user that runs the command; undefined means the user of the service. */
  readonly worker?: Owner | undefined;
  readonly group?: PidsGroup | undefined;
}

/** The number of bubblewrap's processes outside the jail. */
export const launchProcesses = 1;

/** Joins the group before anything else starts, so that all processes are in it. */
const joinGroup = 'echo $$ > "$0" && exec "$@"';

/** Starts a command in a jail. */
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
    // The launcher's environment would be readable inside, as that of the jail's first process.
    env: {},
    cwd: "/",
    stdio: [view.served === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe", "pipe", workDirFd, "pipe"],
  });
  prioritise(child.pid, PRIORITY_LOW);
  // A launcher that ends early does not read the filter; its own message gives the reason.
  const filter = child.stdio.at(launchDescriptors.filter) as Writable;
  filter.on("error", () => {});
  filter.end(bubblewrap.filter);
  const info = child.stdio.at(launchDescriptors.info) as Readable;
  const infoText = collect(info);
  const status = collect(child.stdio.at(launchDescriptors.status) as Readable);
  const jailPid = (): number | undefined => readPid(infoText());
  const kill = (): void => {
    // The launcher ends with the jail. If it were killed before it reported the jail's pid, a half-made jail could remain.
    prioritise(jailPid(), PRIORITY_HIGHEST);
    if (!killProcess(jailPid())) {
      info.on("data", () => killProcess(jailPid()));
    }
  };
  return { child, jailPid, hasStarted: () => status() !== "", wasSignalled: () => status().length > 1, kill };
}

/**
 * Sets the priority when the service runs as root, because the kernel limits no process counts of root. Multiplying processes
 * must leave time to the watchdog that kills them; the launcher takes a millisecond to have children, and they inherit its
 * priority. The jail's first process must not wait for its turn among them, because the kernel kills all the others through it.
 */
function prioritise(pid: number | undefined, priority: number): void {
  if (pid === undefined || !isRoot()) {
    return;
  }
  try {
    setPriority(pid, priority);
  } catch {
    // The process has already ended.
  }
}

/** How to start a command without a jail. */
export interface UnconfinedOptions {
  readonly shell: Shell;
  readonly workDir: string;
  readonly environment: Readonly<Record<string, string>>;
  /** True for a program that serves. */
  readonly isServed?: boolean;
}

/** Starts a command with the documented limits and environment, but without isolation. */
export function launchUnconfined(
  command: string,
  { shell, workDir, environment, isServed = false }: UnconfinedOptions,
): Launched {
  const limits = isServed ? servedLimits : shellLimits;
  const child = spawn("/bin/bash", ["-c", `${limits}; exec ${runInShell}`, "bash", command, shell], {
    env: environment,
    cwd: workDir,
    // Its own process group, so that it can be killed as one.
    detached: true,
    stdio: [isServed ? "pipe" : "ignore", "pipe", "pipe"],
  });
  const kill = (): void => {
    killProcess(child.pid === undefined ? undefined : -child.pid);
  };
  // Background processes would continue and keep the output open.
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

/** Kills a process. Returns false when there was nothing to kill. */
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
