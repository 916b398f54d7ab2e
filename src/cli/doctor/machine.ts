// Checks the machine: Node, disk, the work root of tools, and open files.

import { accessSync, constants, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { resolve } from "node:path";
import { workRootOf } from "../../app/open-work-dirs.ts";
import type { Config } from "../../platform/config/keys.ts";
import { nearestExisting } from "../../platform/database/embedded/disk.ts";
import { probeEmbedded } from "../../platform/database/probe.ts";
import { type CheckContext, type Finding, fail, ok, warn, why } from "./check.ts";

const oldestNode = 24;
const mebibyte = 1_048_576;
/** Postgres stops at a full disk, and its log needs room to be written before it can be cut. */
const freeBytesMin = 256 * mebibyte;
const freeBytesWanted = 2_048 * mebibyte;
/** Each open stream, connection and file counts as one. */
const openFilesWanted = 4_096;

/** Checks the version of Node. */
export function checkNode(): Finding[] {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) >= oldestNode) {
    return [ok("node", `Node ${node}`)];
  }
  return [fail("node", `Node ${node}`, `install Node ${oldestNode} or newer`)];
}

/** Checks the free disk for data and for the work of tools. */
export async function checkDisk({ config }: CheckContext): Promise<Finding[]> {
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

/** Judges the free bytes at `path`. */
export function judgeDisk(name: string, freeBytes: number, path: string): Finding {
  const found = `${Math.floor(freeBytes / mebibyte)} MiB free at ${path}`;
  const fix = `make room: at least ${freeBytesMin / mebibyte} MiB, better ${freeBytesWanted / mebibyte}`;
  if (freeBytes < freeBytesMin) {
    return fail(name, found, fix);
  }
  return freeBytes < freeBytesWanted ? warn(name, found, fix) : ok(name, found);
}

/** Checks that the work root can be written to. If it does not exist yet, its parent counts. */
export function checkWorkRoot({ config }: CheckContext): Finding[] {
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

/** Checks the limit of open files. */
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

function dataHome({ databaseDir }: Config): string {
  try {
    return probeEmbedded(databaseDir).home;
  } catch {
    // The database's own check reports the problem.
    return resolve(databaseDir);
  }
}
