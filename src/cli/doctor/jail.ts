// Checks whether commands of bash can be confined, by confining one with the rights of the doctor.

import { existsSync, readFileSync } from "node:fs";
import { findBubblewrap } from "../../agent/tools/bash/find-bubblewrap.ts";
import { processesMax } from "../../agent/tools/bash/limits.ts";
import { openPidsGroup } from "../../agent/tools/bash/pids-group.ts";
import { workRootOf } from "../../app/open-work-dirs.ts";
import { sessionOwner } from "../../engine/sessions/session-owner.ts";
import { findClosedFolder, isRoot } from "../../platform/base/owner.ts";
import { type CheckContext, type Finding, ok, warn } from "./check.ts";

/** Confines a command and reports how that went. */
export async function checkJail({ config, clock }: CheckContext): Promise<Finding[]> {
  if (config.toolsJail === "off") {
    const fix = "set RUNNEL_TOOLS_JAIL=required, unless only you give agents their tasks";
    return [warn("jail", "turned off: commands of bash can do and read what the service can", fix)];
  }
  const jail = await findBubblewrap({ clock, hidden: [], path: process.env.PATH ?? "" });
  if ("problem" in jail) {
    const locks = describeLocks();
    const found = `no jail, so agents that ask for bash are refused: ${jail.problem}${locks}`;
    return [warn("jail", found, jail.fix)];
  }
  return [ok("jail", `${jail.program} confines commands${await describeRoot(workRootOf(config))}`)];
}

/** Describes commands that run as root, because the user of sessions cannot reach their directories. */
async function describeRoot(workRoot: string): Promise<string> {
  const closed = isRoot() ? findClosedFolder(workRoot, sessionOwner) : undefined;
  await using group = closed === undefined ? undefined : await openPidsGroup(processesMax);
  return closed === undefined || group !== undefined
    ? ""
    : `; they run as root, whose processes the kernel does not limit: \`chmod o+x ${closed}\`, or run it as another user`;
}

/** Linux files that keep unprivileged processes from making a user namespace. Other systems have none of them. */
const namespaceLocks = [
  { path: "/proc/sys/user/max_user_namespaces", locked: "0" },
  { path: "/proc/sys/kernel/unprivileged_userns_clone", locked: "0" },
  { path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", locked: "1" },
] as const;

function describeLocks(): string {
  const lock = namespaceLocks.find(
    ({ path, locked }) => existsSync(path) && readFileSync(path, "utf8").trim() === locked,
  );
  return lock === undefined ? "" : `; ${lock.path} is ${lock.locked}`;
}
