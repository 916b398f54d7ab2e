// The commit that this program was built from: whoever builds it may leave it in a file beside package.json.

import { readFileSync } from "node:fs";
import { packageRoot } from "../base/package-root.ts";

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
