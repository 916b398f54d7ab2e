// Runs one command in a jail, in its work directory.

import type { ChildProcess } from "node:child_process";
import { constants } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { resolve } from "node:path";
import { workerOf } from "../../../engine/sessions/session-owner.ts";
import { findHidden, findRefusal } from "../../../engine/sessions/workspace.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { isRoot } from "../../../platform/base/owner.ts";
import type { ToolContext } from "../tool.ts";
import { coversWithin } from "./find-bubblewrap.ts";
import type { Growth } from "./growth.ts";
import { refuseWorkDir, type ServedView, type Shell } from "./jail.ts";
import { type Bubblewrap, launchJailed, launchProcesses } from "./launch.ts";
import { processesMax } from "./limits.ts";
import type { CommandEnd, NotRun } from "./outcome.ts";
import { openPidsGroup } from "./pids-group.ts";
import { type CommandOptions, followCommand } from "./run-command.ts";
import { Watchdog } from "./watchdog.ts";

/** The jail and the growth accounting. */
export interface Confinement {
  readonly jail: Bubblewrap;
  readonly growth: Growth;
  readonly clock: Clock;
}

/** A program that serves, and its user. */
export interface Served extends ServedView {
  /** Called once with the started process; its pipes are open. */
  readonly onLaunched: (child: ChildProcess) => void;
}

/** Runs the command in a jail. The text of the command is not checked here. */
export async function runConfined(
  { command, shell, served }: { readonly command: string; readonly shell: Shell; readonly served?: Served | undefined },
  context: ToolContext,
  { jail, growth, clock }: Confinement,
  options: CommandOptions,
): Promise<CommandEnd | NotRun> {
  const { workDir, sessionId, hidden, readable = [] } = context;
  const shownAs = resolve(workDir);
  // Opened once, so that everything below uses this same directory even if its path leads elsewhere later.
  const opened = await open(shownAs, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: Error) => error);
  if (opened instanceof Error) {
    return { kind: "workspace", words: `work directory ${shownAs} is not accessible: ${opened.message}` };
  }
  await using directory = opened;
  const path = `/proc/self/fd/${directory.fd}`;
  const real = await readlink(path);
  const refusal =
    refuseWorkDir(shownAs) ?? refuseLink(shownAs, real) ?? findRefusal(context, real) ?? refuseHidden(real, hidden);
  if (refusal !== undefined) {
    return { kind: "workspace", words: refusal };
  }
  const [writtenBytesMax, covered, watchdog] = await Promise.all([
    growth.roomIn(real),
    coversWithin(real, shownAs, hidden),
    Watchdog.open(path),
  ]);
  const view = { command, shell, sessionId, workDir: shownAs, covered, readable, served };
  const worker = workerOf(real, await directory.stat());
  const isOfRoot = isRoot() && worker === undefined;
  await using group = isOfRoot ? await openPidsGroup(processesMax + launchProcesses) : undefined;
  const launched = launchJailed(jail, view, { workDirFd: directory.fd, worker, group });
  served?.onLaunched(launched.child);
  // Before the jail is set up, its first process still sees this system, and all of the system's processes would be counted.
  const jailPid = (): number | undefined => (launched.hasStarted() ? launched.jailPid() : undefined);
  const end = await followCommand(launched, {
    ...options,
    watch: (ended, onLimit) =>
      watchdog.run(clock, ended, { jailPid, writtenBytesMax, isUncounted: isOfRoot && group === undefined, onLimit }),
  });
  if (await watchdog.sawChange()) {
    growth.mayHaveChanged(real);
  }
  return end;
}

/** Refuses a linked path. A user who places a link in the path could make a command write to any directory. */
function refuseLink(path: string, real: string): string | undefined {
  return real === path
    ? undefined
    : `bash cannot work in ${path}: it is a link, or was moved; name ${real} as work_dir`;
}

function refuseHidden(path: string, hidden: readonly string[]): string | undefined {
  const place = findHidden(path, hidden);
  return place === undefined ? undefined : `bash cannot work in ${path}: ${place} belongs to the service`;
}
