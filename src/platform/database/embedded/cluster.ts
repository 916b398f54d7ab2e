// One cluster as the steps of this folder see it, and how its programs are started. They run as the cluster's account, in the
// data folder, without our environment variables.

import type { SpawnOptions } from "node:child_process";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.ts";

/** A cluster and everything needed to start it. */
export interface Cluster {
  readonly home: string;
  readonly dataFolder: string;
  readonly logFile: string;
  readonly password: string;
  readonly account: Account | undefined;
  readonly binaries: Binaries;
  /** Package, account and folders in words, for an error message. */
  readonly tried: string;
  readonly signal: AbortSignal | undefined;
}

/** Returns the spawn options of the cluster's programs. */
export function childOptions(cluster: Cluster, folder: string): SpawnOptions {
  const { account } = cluster;
  return {
    cwd: folder,
    env: { ...baseEnvironment, ...cluster.binaries.libraryEnvironment },
    windowsHide: true,
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  };
}

/** Explains a spawn error: the kernel reports a missing loader as if the program itself were missing. */
export function explainSpawnError(error: Error, program: string): string {
  const missing = "code" in error && error.code === "ENOENT" && process.platform === "linux";
  const hint = missing ? " The programs need glibc; on Alpine and other musl systems they do not run." : "";
  return `${program} could not be started: ${error.message}.${hint}`;
}

const baseEnvironment: Readonly<Record<string, string>> =
  process.platform === "win32"
    ? { SystemRoot: process.env.SystemRoot ?? "C:\\Windows", TEMP: process.env.TEMP ?? "C:\\Windows\\Temp", TZ: "UTC" }
    : { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
