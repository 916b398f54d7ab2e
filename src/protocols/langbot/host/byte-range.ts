// Offsets in content that is read in ranges.

import { invalidField } from "../../../platform/base/fault.ts";

/** Converts an offset. Throws Fault INVALID_ARGUMENT when it is negative. An offset beyond any content stays beyond it. */
export function offsetOf(offset: bigint): number {
  if (offset < 0n) {
    throw invalidField("offset", "is negative: 0 is the first byte");
  }
  return Math.min(Number(offset), Number.MAX_SAFE_INTEGER);
}
