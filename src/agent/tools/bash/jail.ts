// What a command sees: its own processes, its own temporary files, the programs of the system, its work directory, and
// nothing else. Pure: bubblewrap's arguments, and why a work directory cannot be shown.
// J1: the shell is the first process of its own process namespace: when it ends, or is killed, the kernel ends all others
//     before anybody hears of it.
// J2: nothing of the service is there: not its environment, its descriptors, its processes, or its files.
// J3: only the work directory takes writes that stay; what is not on disk is of bounded size.

import { join } from "node:path";
import { isWithin } from "../../../engine/sessions/within.ts";
import { environmentOf, tempDirectoryOf } from "./environment.ts";
import { processesMax, sharedMemoryBytes, shellLimits, tempBytes } from "./limits.ts";

/** Descriptors that the launcher is given, beside those of the command. The shell closes what is left of them. */
export const launchDescriptors = { filter: 3, info: 4, workDir: 5, told: 6 } as const;

/** What is the same for all commands of a service. */
export interface SystemView {
  /** Folders of the root that hold programs: links to another one, or real. */
  readonly folders: readonly { readonly path: string; readonly link: string | undefined }[];
  /** The service's own places among what is shown: they are covered. */
  readonly covered: readonly Cover[];
}

export interface Cover {
  readonly path: string;
  readonly kind: "directory" | "file";
}

/** What may run a command. Both are there in the jail. */
export type Shell = "/bin/bash" | "/bin/sh";

export interface CommandView {
  readonly command: string;
  readonly shell: Shell;
  readonly sessionId: string;
  /** Where the opened work directory is to be seen: where it is for everybody else. */
  readonly workDir: string;
  /** The service's own places below it. */
  readonly covered: readonly Cover[];
}

const jailTemp = "/tmp";

/** Files of /etc that programs cannot do without, where there are any. No passwd: the jail has one user, without a name. */
const systemFiles = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"] as const;

/** For `bwrap`, the command of the jail included. */
export function jailArguments(system: SystemView, view: CommandView): string[] {
  const home = tempDirectoryOf(jailTemp, view.sessionId);
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--disable-userns", "--uid", "65534", "--gid", "65534", "--hostname", "jail", "--cap-drop", "ALL"],
    ...["--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--seccomp", String(launchDescriptors.filter), "--info-fd", String(launchDescriptors.info)],
    ...["--ro-bind", "/usr", "/usr"],
    ...system.folders.flatMap(({ path, link }) =>
      link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path],
    ),
    ...systemFiles.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(tempBytes), "--tmpfs", jailTemp, "--perms", "0700", "--dir", home],
    // By its descriptor: what was checked is what is shown, wherever its path leads by now. `--bind` of a path in
    // /proc/self/fd is not the same: bubblewrap resolves it to a name first.
    ...["--bind-fd", String(launchDescriptors.workDir), view.workDir],
    ...[...system.covered, ...view.covered].flatMap(coverArguments),
    ...["--remount-ro", "/", "--chdir", view.workDir, "--clearenv"],
    ...Object.entries(environmentOf(home)).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--", "/bin/bash", "-c", firstShell, "bash", view.command, view.shell],
  ];
}

/** Runs `$1` with the shell `$2`. A command that starts with a dash is none of the shell's options. */
export const runInShell = '"$2" -c -- "$1"';

/**
 * Bash, whatever the command's own shell is, because other shells spell limits in other ways. It is the first choice of a kernel that is out of memory. What it
 * says itself goes to `told`: a byte once the jail stands, so that what follows is the command's own, and a line when the
 * command's shell is ended by a signal.
 */
const firstShell = [
  "echo 1000 >/proc/self/oom_score_adj",
  `${shellLimits} -u ${processesMax}`,
  // Those that the service itself inherited may be among them: not all of what starts services closes them.
  `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd < 3 || fd == ${launchDescriptors.told})) || eval "exec $fd>&-"; done`,
  `printf . >&${launchDescriptors.told}`,
  `exec 9>&2 2>&${launchDescriptors.told} ${launchDescriptors.told}>&-`,
  `${runInShell} 2>&9 9>&-`,
  // Not the last command, so that bash does not become it: the first process of a namespace ignores most signals.
  "exit",
].join("; ");

/** Something to stand in its place that is empty and takes nothing. */
function coverArguments({ path, kind }: Cover): string[] {
  return kind === "directory"
    ? ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}

/** Where the jail has things of its own. */
const jailPlaces = ["/usr", "/bin", "/sbin", "/lib", "/etc", "/proc", "/sys", "/dev", join(jailTemp, "agent-runner")];
const kernelPlaces = ["/proc", "/sys", "/dev", join(jailTemp, "agent-runner")];

/** Why a directory cannot be the work directory of a command; undefined when it can. */
export function refuseWorkDir(path: string): string | undefined {
  const covered = jailPlaces.find((place) => isWithin(place, path));
  if (covered !== undefined) {
    return `bash cannot work in ${path}: it holds ${covered}, which the jail has for itself`;
  }
  const place = kernelPlaces.find((each) => isWithin(path, each));
  return place === undefined ? undefined : `bash cannot work in ${path}: it is part of ${place}`;
}
