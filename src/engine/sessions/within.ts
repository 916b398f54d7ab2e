// Checks whether one path lies below another. Compares name by name: as text, `/area/s1` is also the start of `/area/s10`.

import { isAbsolute, relative } from "node:path";

/** Returns whether a path lies in a directory, or is the directory. Both are absolute and without links. */
export function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}
