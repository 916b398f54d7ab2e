// Finds files that are imported late, so that a start need not load them, and that the same start loads all the same.

import { targetOf } from "./circles.ts";
import type { Import, SourceFile } from "./source-file.ts";

/** Returns each such import as `<importing file> <imported file>`. */
export function findDefeated(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const targetsOf = (file: SourceFile, loads: Import["loads"]): string[] =>
    file.imports.filter((each) => each.loads === loads).flatMap((each) => targetOf(file, each));
  const late = files.flatMap((file) => targetsOf(file, "late").map((target) => ({ importer: file.path, target })));
  // What a root brings along at once. The late imports are roots as well.
  const broughtBy = (root: string): Set<string> => {
    const brought = new Set([root]);
    for (const path of brought) {
      const file = byPath.get(path);
      for (const target of file === undefined ? [] : targetsOf(file, "first")) {
        brought.add(target);
      }
    }
    return brought;
  };
  const starts = ["main.ts", ...late.map(({ target }) => target)].map(broughtBy);
  return late
    .filter(({ importer, target }) => starts.some((brought) => brought.has(importer) && brought.has(target)))
    .map(({ importer, target }) => `${importer} ${target}`);
}
