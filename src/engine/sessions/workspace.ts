// The work directory of tools, and the paths that are hidden from them.

import { isWithin } from "./within.ts";

/** Where the tools of a session work. */
export interface Workspace {
  /** The client of the session. */
  readonly client: string;
  /** The absolute path as the session named it. Tools touch only files below it. */
  readonly workDir: string;
  /** The real path when it was checked. Tools stop working once the directory leads elsewhere. */
  readonly realPath: string;
  /** The service's own files and directories, with links resolved: no tool shows them. */
  readonly hidden: readonly string[];
  /** Directories elsewhere, without links, that tools may read, but not change. */
  readonly readable?: readonly string[];
  /** Why no tool may work here; unset when tools may. */
  readonly refusal?: string;
}

/** Returns why tools may not work in the opened directory, which is at `realPath`; undefined when they may. */
export function findRefusal(workspace: Workspace, realPath: string): string | undefined {
  if (workspace.refusal !== undefined) {
    return workspace.refusal;
  }
  return realPath === workspace.realPath
    ? undefined
    : `work directory ${workspace.workDir} was moved: it was ${workspace.realPath} and is ${realPath}`;
}

/** Returns the hidden path that contains a path without links; undefined when the path is visible. */
export function findHidden(realPath: string, hidden: readonly string[]): string | undefined {
  return hidden.find((each) => isWithin(realPath, each));
}
