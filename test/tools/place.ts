// Work directories in the form that tools take.

import { realpathSync } from "node:fs";
import type { WorkPlace } from "../../src/engine/sessions/work-place.ts";

/** The place of a work directory, with the real path that it has now. */
export function placeAt(workDir: string): WorkPlace {
  return { workDir, realPath: realpathSync(workDir), hidden: [] };
}

/** A place for tools that touch no file. */
export const nowhere: WorkPlace = { workDir: "/nowhere", realPath: "/nowhere", hidden: [] };
