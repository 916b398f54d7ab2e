// The machine: Node, disk, the folder of the tools' work, open files, and what could confine commands.

import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Config } from "../../config/keys.ts";
import { workRootOf } from "../../sessions/work-dir.ts";
import { probeEmbedded } from "../../storage/probe.ts";
import { type Finding, fail, type Ground, ok, warn, why } from "./check.ts";

const oldestNode = 24;
const mebibyte = 1_048_576;
/** Postgres stops at a full disk, and its log needs room to be written before it can be cut. */
const freeBytesMin = 256 * mebibyte;
const freeBytesWanted = 2_048 * mebibyte;
/** Each open stream, connection and file is one. */
const openFilesWanted = 4_096;

export function checkNode(): Finding[] {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) >= oldestNode) {
    return [ok("node", `Node ${node}`)];
  }
  return [fail("node", `Node ${node}`, `install Node ${oldestNode} or newer`)];
}

export async function checkDisk({ config }: Ground): Promise<Finding[]> {
  const data = config.databaseUrl === "" ? [{ name: "disk-data", path: dataHome(config) }] : [];
  const places = [...data, { name: "disk-work", path: workRootOf(config) }];
  return await Promise.all(
    places.map(async ({ name, path }) => {
      const existing = nearestExisting(path);
      const { bavail, bsize } = await statfs(existing);
      return judgeDisk(name, bavail * bsize, existing);
    }),
  );
}

export function judgeDisk(name: string, freeBytes: number, path: string): Finding {
  const found = `${Math.floor(freeBytes / mebibyte)} MiB free at ${path}`;
  const fix = `make room: at least ${freeBytesMin / mebibyte} MiB, better ${freeBytesWanted / mebibyte}`;
  if (freeBytes < freeBytesMin) {
    return fail(name, found, fix);
  }
  return freeBytes < freeBytesWanted ? warn(name, found, fix) : ok(name, found);
}

/** It need not exist yet: then its parent has to take it. */
export function checkWorkRoot({ config }: Ground): Finding[] {
  const path = workRootOf(config);
  const existing = nearestExisting(path);
  const fix = `let this user write to ${existing}, or set RUNNEL_SESSIONS_WORK_ROOT to a folder of its own`;
  try {
    if (!statSync(existing).isDirectory()) {
      return [fail("work-root", `${existing} is not a directory`, fix)];
    }
    accessSync(existing, constants.W_OK | constants.X_OK);
    return [ok("work-root", existing === path ? `${path} can be written to` : `${path} can be made`)];
  } catch (error) {
    return [fail("work-root", `${path} cannot be written to (${why(error)})`, fix)];
  }
}

export function checkOpenFiles(): Finding[] {
  if (process.platform === "win32") {
    return [];
  }
  // The report would look up the names of open connections, which may take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as unknown as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = report.userLimits?.open_files?.soft;
  if (limit === "unlimited" || Number(limit) >= openFilesWanted) {
    return [ok("open-files", `${limit} may be open at a time`)];
  }
  const fix = `raise it to ${openFilesWanted} or more: \`ulimit -n\`, LimitNOFILE= of systemd, or --ulimit of the container`;
  return [warn("open-files", `${limit} may be open at a time`, fix)];
}

/** A report only, as long as no tool runs commands. */
export function checkJail(): Finding[] {
  const paths = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const program = paths.map((folder) => join(folder, "bwrap")).find((path) => existsSync(path));
  const bubblewrap = program === undefined ? "no bubblewrap" : `bubblewrap at ${program}`;
  return [ok("jail", `${bubblewrap}, ${describeNamespaces()}; bash is not offered yet, so nothing needs them`)];
}

/** Where these files say no, an unprivileged process cannot make a user namespace. Other systems have none of them. */
const namespaceLocks = [
  { path: "/proc/sys/user/max_user_namespaces", locked: "0" },
  { path: "/proc/sys/kernel/unprivileged_userns_clone", locked: "0" },
  { path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", locked: "1" },
] as const;

function describeNamespaces(): string {
  if (!existsSync("/proc/self/ns/user")) {
    return "no user namespaces on this system";
  }
  const lock = namespaceLocks.find(
    ({ path, locked }) => existsSync(path) && readFileSync(path, "utf8").trim() === locked,
  );
  return lock === undefined
    ? "unprivileged user namespaces are not forbidden"
    : `unprivileged user namespaces are forbidden by ${lock.path}`;
}

function dataHome({ databaseDir }: Config): string {
  try {
    return probeEmbedded(databaseDir).home;
  } catch {
    // The database's own check tells what is wrong with it.
    return resolve(databaseDir);
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
