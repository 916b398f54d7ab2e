// A control group that limits the processes of one command of root, whom `ulimit -u` passes by. Only where root may make one: not in
// most containers.

import { mkdir, readdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface PidsGroup extends AsyncDisposable {
  /** Whoever writes its process id there is in the group, with all that it starts from then on. */
  readonly members: string;
}

/** Where the controller may be: the first version of control groups has a tree for each, the second one tree for all. */
const trees = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
const namePrefix = "runnel-";

let opened = 0;

/** Undefined where there can be none. */
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

/** Removes the groups of services that did not get to it. */
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
    // Made by the kernel, or this is no group.
    await writeFile(join(folder, "pids.max"), String(processesMax), { flag: "r+" });
    return true;
  } catch {
    await remove(folder);
    return false;
  }
}

/** One that still has members stays, for the next service to remove. */
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
