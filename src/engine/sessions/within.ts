// Whether one path lies below another: compared name by name, for as text `/area/s1` is also the start of `/area/s10`.

import { isAbsolute, relative } from "node:path";

/** True for the directory itself, too. Both are absolute and without links. */
export function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}
