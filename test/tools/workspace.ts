// Work directories in the form that tools take.

import { realpathSync } from "node:fs";
import type { Workspace } from "../../src/engine/sessions/workspace.ts";
import { defaultClientId } from "../harness/credentials.ts";

/** The workspace of a work directory, with the real path that it has now. */
export function workspaceAt(workDir: string): Workspace {
  return { client: defaultClientId, workDir, realPath: realpathSync(workDir), hidden: [] };
}

/** A workspace for tools that touch no file. */
export const nowhere: Workspace = { client: defaultClientId, workDir: "/nowhere", realPath: "/nowhere", hidden: [] };
