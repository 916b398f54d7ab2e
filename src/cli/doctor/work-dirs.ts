// Checks which directories sessions may name.

import { holdsTrees, listedWorkDirs } from "../../app/open-work-dirs.ts";
import { isWithin } from "../../engine/sessions/within.ts";
import { findAroundTrees, systemPlaces } from "../../engine/sessions/work-dirs.ts";
import { isAuthConfigured } from "../../platform/config/keys.ts";
import { type CheckContext, type Finding, fail, ok, warn } from "./check.ts";

/** Checks the list of directories that sessions may name. */
export function checkWorkDirs({ config }: CheckContext): Finding[] {
  const listed = listedWorkDirs(config);
  if (listed.length === 0 && isAuthConfigured(config)) {
    const fix = "if clients name directories, set RUNNEL_SESSIONS_WORK_DIRS, for instance to /srv/agents/{client}";
    return [warn("work-dirs", "none is listed: serve refuses every work_dir that a client names", fix)];
  }
  const around = findAroundTrees(listed);
  if (around !== undefined) {
    return [
      fail("work-dirs", `${around} ${holdsTrees}`, "change RUNNEL_SESSIONS_WORK_DIRS: serve does not start with it"),
    ];
  }
  const wide = listed.filter((path) => systemPlaces.some((place) => isWithin(place, path) || isWithin(path, place)));
  if (wide.length > 0) {
    const fix =
      "list directories that contain only the files of agents in RUNNEL_SESSIONS_WORK_DIRS, such as /srv/agents/{client}";
    return [warn("work-dirs", `sessions may name directories of the system, or around them: ${wide.join(", ")}`, fix)];
  }
  const found =
    listed.length === 0 ? "none is listed: sessions have their own" : `sessions may name ${listed.join(", ")}`;
  return [ok("work-dirs", found)];
}
