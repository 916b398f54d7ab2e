// The commit that this program was built from. A build may store it in the file COMMIT beside package.json.

import { readFileSync } from "node:fs";
import { packageRoot } from "../base/package-root.ts";

/** Returns the commit, or `unknown`. */
export function readBuildCommit(file: URL = new URL("COMMIT", packageRoot)): string {
  try {
    const text = readFileSync(file, "utf8").trim();
    return /^[0-9a-f]{7,64}$/.test(text) ? text : unknownCommit;
  } catch {
    // A checkout has no such file.
    return unknownCommit;
  }
}

const unknownCommit = "unknown";
