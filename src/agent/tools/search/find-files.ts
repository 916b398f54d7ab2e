// The search behind the tool glob: finds files by their path.

import { RE2JSException } from "re2js";
import { CappedText } from "../cap.ts";
import type { ToolOutcome } from "../tool.ts";
import { compileGlob, type Glob, globDepth } from "./glob-pattern.ts";
import type { FileSearch } from "./request.ts";
import { visitFiles } from "./tree.ts";

/** Contract: the maximum number of files. */
const filesMax = 1_000;
const skippedNames: ReadonlySet<string> = new Set([".git", "node_modules", "vendor", ".idea"]);

/** Returns the paths of the files that match the pattern. */
export function findFiles({ root, pattern }: FileSearch): ToolOutcome {
  const glob = compileGlobOrError(pattern);
  if ("error" in glob) {
    return glob;
  }
  const content = new CappedText();
  let count = 0;
  const tree = {
    directoryFd: root.fd,
    realPath: root.realPath,
    hidden: root.hidden,
    skippedNames,
    depthMax: globDepth(pattern),
  };
  const leftOut = visitFiles(tree, ({ path }) => {
    if (glob.matches(path)) {
      content.add(`${count === 0 ? "" : "\n"}${pathBelow(root.joinedPath, path)}`);
      count += 1;
    }
    return count < filesMax;
  });
  const found = count === 0 ? "No files found" : content.toString();
  return { content: leftOut === undefined ? found : `${found}\n... (${leftOut})` };
}

/** Compiles a pattern. Returns an error for the model when the pattern is invalid. */
export function compileGlobOrError(pattern: string): Glob | { readonly error: string } {
  try {
    return compileGlob(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) {
      return { error: `invalid glob pattern "${pattern}": ${error.message}` };
    }
    throw error;
  }
}

/** Joins a directory and a relative path. */
export function pathBelow(directory: string, path: string): string {
  return directory.endsWith("/") ? `${directory}${path}` : `${directory}/${path}`;
}
