// Names of callers' tools, as all providers take them.

import { createHash } from "node:crypto";

/** The longest name that all providers take. */
const nameCharsMax = 64;

/** Returns the name of a tool for models: the name itself, or its beginning and a hash of it, as in `mcp__long_…_1f3a5c7e`. */
export function toolNameOf(name: string): string {
  if (name.length <= nameCharsMax) {
    return name;
  }
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, nameCharsMax - hash.length - 1)}_${hash}`;
}
