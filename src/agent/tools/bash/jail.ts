// The view of a command: its own processes and temporary files, the programs of the system and its work directory, and nothing
// else. Pure: the arguments of bubblewrap, and why a work directory is refused.
//
// J1  The shell is the first process of its own process namespace. When it ends or is killed, the kernel ends all the others
//     before its parent learns of the end.
// J2  The jail contains nothing of the service: no environment, descriptors, processes or files.
// J3  Only writes to the work directory persist. Everything in memory has a bounded size.

import { join } from "node:path";
import { isWithin } from "../../../engine/sessions/within.ts";
import { environmentOf, tempDirectoryOf } from "./environment.ts";
import { processesMax, servedLimits, sharedMemoryBytes, shellLimits, tempBytes } from "./limits.ts";

/** The file descriptors that the launcher gets beside those of the command. The shell closes the ones that remain. */
export const launchDescriptors = { filter: 3, info: 4, workDir: 5, status: 6 } as const;

/** The parts of the view that are the same for all commands of a service. */
export interface SystemView {
  /** Root folders with programs: links to other folders, or real ones. */
  readonly folders: readonly { readonly path: string; readonly link: string | undefined }[];
  /** The service's own paths inside the visible folders; they are covered. */
  readonly covered: readonly Cover[];
}

/** A path that a command must not see. */
export interface Cover {
  readonly path: string;
  readonly kind: "directory" | "file";
}

/** The shells that may run a command. Both exist in the jail. */
export type Shell = "/bin/bash" | "/bin/sh";

/** A command and what it sees of its own. */
export interface CommandView {
  readonly command: string;
  readonly shell: Shell;
  readonly sessionId: string;
  /** The path at which the jail shows the opened work directory: the same as on the host. */
  readonly workDir: string;
  /** The service's own paths below the work directory. */
  readonly covered: readonly Cover[];
  /** Directories elsewhere that it may read. */
  readonly readable?: readonly string[] | undefined;
  /** What a program that serves sees and may do; undefined for a command. */
  readonly served?: ServedView | undefined;
}

/** A program that serves: the operator has named it. */
export interface ServedView {
  /** Added to the environment of every command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Directories that it may read. */
  readonly folders: readonly string[];
  /** Whether it has the network of the machine; unset means none. */
  readonly network?: boolean | undefined;
}

const jailTemp = "/tmp";

/** Files of /etc that programs need, where they exist. There is no passwd: the jail has one user, without a name. */
const systemFiles = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"] as const;

/** Files of /etc by which programs find hosts and check their certificates. */
const networkFiles = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki"] as const;

/** Returns the arguments for `bwrap`, including the jail's command. */
export function jailArguments(system: SystemView, view: CommandView): string[] {
  const home = tempDirectoryOf(jailTemp, view.sessionId);
  const hasNetwork = view.served?.network === true;
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...["--disable-userns", "--uid", "65534", "--gid", "65534", "--hostname", "jail", "--cap-drop", "ALL"],
    ...["--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--seccomp", String(launchDescriptors.filter), "--info-fd", String(launchDescriptors.info)],
    ...["--ro-bind", "/usr", "/usr"],
    ...system.folders.flatMap(({ path, link }) =>
      link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path],
    ),
    ...[...systemFiles, ...(hasNetwork ? networkFiles : [])].flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", String(tempBytes), "--tmpfs", jailTemp, "--perms", "0700", "--dir", home],
    // Mounted by its descriptor, so that the jail shows the directory that was checked, even if its path leads elsewhere now.
    // `--bind` with a path in /proc/self/fd is not equivalent: bubblewrap resolves it to a name first.
    ...["--bind-fd", String(launchDescriptors.workDir), view.workDir],
    ...(view.readable ?? []).flatMap((path) => ["--ro-bind-try", path, path]),
    ...(view.served?.folders ?? []).flatMap((path) => ["--ro-bind", path, path]),
    ...[...system.covered, ...view.covered].flatMap(coverArguments),
    ...["--remount-ro", "/", "--chdir", view.workDir, "--clearenv"],
    ...Object.entries({ ...environmentOf(home), ...view.served?.environment }).flatMap(([name, value]) => [
      ...["--setenv", name, value],
    ]),
    ...["--", "/bin/bash", "-c", firstShell(view.served === undefined ? shellLimits : servedLimits), "bash"],
    ...[view.command, view.shell],
  ];
}

/** Runs `$1` with the shell `$2`. The `--` keeps a command that starts with a dash from being read as an option. */
export const runInShell = '"$2" -c -- "$1"';

/**
 * The script of the first process in the jail. It is always bash, because other shells spell limits differently. The kernel
 * kills it first when memory runs out. Its own messages go to descriptor 6: a byte once the jail is ready, and a line when a
 * signal ends the command's shell. Output after that byte is the command's own.
 */
function firstShell(limits: string): string {
  return [
    "echo 1000 >/proc/self/oom_score_adj",
    `${limits} -u ${processesMax}`,
    // The service itself may have inherited descriptors from its own parent, which does not always close them.
    `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd < 3 || fd == ${launchDescriptors.status})) || eval "exec $fd>&-"; done`,
    `printf . >&${launchDescriptors.status}`,
    `exec 9>&2 2>&${launchDescriptors.status} ${launchDescriptors.status}>&-`,
    `${runInShell} 2>&9 9>&-`,
    // `exit` comes last so that bash does not exec the command: the first process of a namespace ignores most signals.
    "exit",
  ].join("; ");
}

/** Returns the arguments that replace a path with something empty and read-only. */
function coverArguments({ path, kind }: Cover): string[] {
  return kind === "directory"
    ? ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}

/** Paths that the jail uses itself. */
const jailPlaces = ["/usr", "/bin", "/sbin", "/lib", "/etc", "/proc", "/sys", "/dev", join(jailTemp, "agent-runner")];
const kernelPlaces = ["/proc", "/sys", "/dev", join(jailTemp, "agent-runner")];

/** Returns why a directory cannot be the work directory of a command, or undefined when it can. */
export function refuseWorkDir(path: string): string | undefined {
  const covered = jailPlaces.find((place) => isWithin(place, path));
  if (covered !== undefined) {
    return `bash cannot work in ${path}: it contains ${covered}, which the jail uses itself`;
  }
  const place = kernelPlaces.find((each) => isWithin(path, each));
  return place === undefined ? undefined : `bash cannot work in ${path}: it is part of ${place}`;
}
