// Finds files that import each other in a circle. Imports of types count too: a circle of types has no place to begin reading.

import { posix } from "node:path";
import type { Import, SourceFile } from "./source-file.ts";

/** Returns each circle once, as the sorted paths of its files. */
export function findCircles(files: readonly SourceFile[]): string[][] {
  const targets = new Map(files.map((file) => [file.path, file.imports.flatMap((each) => targetOf(file, each))]));
  const circles: string[][] = [];
  const found = new Map<string, number>();
  const open: string[] = [];
  // Tarjan's algorithm: `lowest` is the earliest open file that a file reaches.
  const visit = (path: string): number => {
    const place = found.size;
    found.set(path, place);
    let lowest = place;
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!found.has(target) && targets.has(target)) {
        lowest = Math.min(lowest, visit(target));
      } else if (open.includes(target)) {
        lowest = Math.min(lowest, found.get(target) ?? lowest);
      }
    }
    if (lowest === place) {
      const circle = open.splice(open.indexOf(path));
      if (circle.length > 1) {
        circles.push(circle.sort());
      }
    }
    return lowest;
  };
  for (const path of targets.keys()) {
    if (!found.has(path)) {
      visit(path);
    }
  }
  return circles;
}

/** Clients import the `.js` that is built of a `.ts`. */
export function targetOf({ path }: SourceFile, { specifier }: Import): string[] {
  return specifier.startsWith(".") ? [posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts")] : [];
}
