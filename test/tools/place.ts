// Work directories in the form that tools take.

import { realpathSync } from "node:fs";
import type { WorkPlace } from "../../src/engine/sessions/work-place.ts";
import { defaultClientId } from "../harness/credentials.ts";

/** The place of a work directory, with the real path that it has now. */
export function placeAt(workDir: string): WorkPlace {
  return { client: defaultClientId, workDir, realPath: realpathSync(workDir), hidden: [] };
}

/** A place for tools that touch no file. */
export const nowhere: WorkPlace = { client: defaultClientId, workDir: "/nowhere", realPath: "/nowhere", hidden: [] };
