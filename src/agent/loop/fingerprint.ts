// Short names for what a run counts: checkpoints hold them instead of the calls themselves.

import { createHash } from "node:crypto";

/** Returns a hash of a JSON value. */
export function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}
