// A control group that limits the processes of one command that runs as root, because `ulimit -u` does not apply to root. It
// works only where root may create groups, which most containers forbid.

import { mkdir, readdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** An open group. Disposing removes it. */
export interface PidsGroup extends AsyncDisposable {
  /** A process that writes its pid into this file joins the group, with everything it starts afterwards. */
  readonly members: string;
}

/** Where the controller may be: version 1 of control groups has one tree for each controller, version 2 one for all. */
const trees = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
const namePrefix = "runnel-";

let opened = 0;

/** Creates a group, or returns undefined where that is not possible. */
export async function openPidsGroup(processesMax: number): Promise<PidsGroup | undefined> {
  opened += 1;
  for (const tree of trees) {
    const folder = join(tree, `${namePrefix}${process.pid}-${opened}`);
    if (await make(folder, processesMax)) {
      return { members: join(folder, "cgroup.procs"), [Symbol.asyncDispose]: () => remove(folder) };
    }
  }
  return undefined;
}

/** Removes the groups of services that died before they removed them. */
export async function removeLeftGroups(): Promise<void> {
  for (const tree of trees) {
    const names = await readdir(tree).catch(() => []);
    const left = names.filter((name) => name.startsWith(namePrefix) && !isAlive(Number(name.split("-")[1])));
    await Promise.all(left.map((name) => remove(join(tree, name))));
  }
}

async function make(folder: string, processesMax: number): Promise<boolean> {
  try {
    await mkdir(folder);
  } catch {
    return false;
  }
  try {
    // The kernel creates this file; if it is missing, the folder is no group.
    await writeFile(join(folder, "pids.max"), String(processesMax), { flag: "r+" });
    return true;
  } catch {
    await remove(folder);
    return false;
  }
}

/** Removes a group. A group with members remains, and the next service removes it. */
async function remove(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
