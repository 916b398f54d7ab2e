// A work directory as tools are given it.

import { realpathSync } from "node:fs";
import type { WorkPlace } from "../../src/engine/sessions/work-place.ts";

/** Wherever its path leads at this moment. */
export function placeAt(workDir: string): WorkPlace {
  return { workDir, realPath: realpathSync(workDir), hidden: [] };
}

/** For tools that touch no file. */
export const nowhere: WorkPlace = { workDir: "/nowhere", realPath: "/nowhere", hidden: [] };
