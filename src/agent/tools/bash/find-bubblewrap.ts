// Checks whether commands can be confined here, by confining one. Only a real attempt shows what the kernel, the container and
// the security module allow together.

import { constants } from "node:fs";
import { access, lstat, mkdtemp, open, readlink, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { sessionOwner, workerOf } from "../../../engine/sessions/session-owner.ts";
import { isWithin } from "../../../engine/sessions/within.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { give, isRoot } from "../../../platform/base/owner.ts";
import type { Cover, SystemView } from "./jail.ts";
import { type Bubblewrap, launchJailed } from "./launch.ts";
import { removeLeftGroups } from "./pids-group.ts";
import { followCommand } from "./run-command.ts";
import { hasFilter, seccompFilter } from "./seccomp.ts";

export type { Bubblewrap };

/** Why there is no jail, and how to fix it. */
export interface NoJail {
  readonly problem: string;
  readonly fix: string;
}

/** Options of the check. */
export interface FindOptions {
  readonly clock: Clock;
  /** The paths that no command may see. */
  readonly hidden: readonly string[];
  /** The directories to search for programs, in the form of PATH. */
  readonly path: string;
}

/** The timeout of the probe. A trivial command takes some 15 ms; a machine that needs this long cannot run commands. */
const probeTimeoutMs = 10_000;

/** Returns the tested jail, or why commands cannot be confined here. */
export async function findBubblewrap({ clock, hidden, path }: FindOptions): Promise<Bubblewrap | NoJail> {
  if (process.platform !== "linux" || !hasFilter(process.arch)) {
    const problem = `there is no jail for ${process.platform} on ${process.arch}`;
    return { problem, fix: "run the service on Linux, on x86-64 or arm64" };
  }
  const program = await findProgram("bwrap", path);
  if (program === undefined) {
    return {
      problem: "bubblewrap is not installed",
      fix: "install it, such as by `apt-get install bubblewrap` (`bwrap` with `--bind-fd`: 0.10, or an updated 0.8)",
    };
  }
  const filter = seccompFilter(process.arch);
  const bubblewrap = { program, filter, system: await lookAtSystem(hidden) };
  await removeLeftGroups();
  const problem = await tryOut(bubblewrap, clock);
  return problem === undefined ? bubblewrap : { problem, fix: fixOf(problem) };
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((each) => each !== "")) {
    const program = join(folder, name);
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) {
      return program;
    }
  }
  return undefined;
}

const programFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

async function lookAtSystem(hidden: readonly string[]): Promise<SystemView> {
  const folders = await Promise.all(
    programFolders.map(async (path) => {
      const stat = await lstat(path).catch(() => undefined);
      const link = stat?.isSymbolicLink() ? await readlink(path) : undefined;
      return stat === undefined ? [] : [{ path, link }];
    }),
  );
  return { folders: folders.flat(), covered: await coversWithin("/usr", "/usr", hidden) };
}

/** Returns the hidden paths below a directory, named as in a jail that shows the directory at `shownAs`. */
export async function coversWithin(directory: string, shownAs: string, hidden: readonly string[]): Promise<Cover[]> {
  const covers = await Promise.all(
    hidden.map(async (path): Promise<Cover[]> => {
      try {
        const real = await realpath(path);
        const kind = (await lstat(real)).isDirectory() ? "directory" : "file";
        const isBelow = real !== directory && isWithin(real, directory);
        return isBelow ? [{ path: join(shownAs, real.slice(directory.length)), kind }] : [];
      } catch {
        // A missing path needs no cover.
        return [];
      }
    }),
  );
  return covers.flat();
}

/** Runs a trivial command. Returns what went wrong, or undefined when it worked. */
async function tryOut(bubblewrap: Bubblewrap, clock: Clock): Promise<string | undefined> {
  const workDir = await mkdtemp(join(tmpdir(), "runnel-jail-"));
  try {
    await using handle = await open(workDir);
    const view = { command: "echo $$", shell: "/bin/bash", sessionId: "probe", workDir: "/work", covered: [] } as const;
    if (isRoot()) {
      await give(handle, sessionOwner);
    }
    const launched = launchJailed(bubblewrap, view, {
      workDirFd: handle.fd,
      worker: workerOf(workDir, await handle.stat()),
    });
    const { signal } = new AbortController();
    const end = await followCommand(launched, { clock, timeoutMs: probeTimeoutMs, signal });
    if ("words" in end) {
      return end.words;
    }
    const { exit, stdout, stderr } = end;
    const isRight = "status" in exit && exit.status === 0 && stdout.text === "2\n" && stderr.text === "";
    return isRight ? undefined : `a trivial command failed in it: ${JSON.stringify(exit)} ${stderr.text.trim()}`;
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

function fixOf(problem: string): string {
  if (/unknown option/i.test(problem)) {
    return "update bubblewrap: it must support --disable-userns and --bind-fd, as 0.10 does, and 0.8 with the fixes of 2024";
  }
  if (/namespace|permission|not permitted|uid map|setting up/i.test(problem)) {
    return (
      "allow this user to create user namespaces: `sysctl user.max_user_namespaces` above 0, " +
      "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for bwrap; " +
      "in a container a seccomp profile that allows unshare and mount, and an unmasked /proc"
    );
  }
  return "`runnel doctor` shows what the kernel allows; see docs/tools-bash.md";
}
