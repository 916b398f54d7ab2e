// Places in what is read in ranges.

import { invalidField } from "../../../platform/base/fault.ts";

/** Throws INVALID_ARGUMENT for a negative one. What is beyond every end stays so. */
export function offsetOf(offset: bigint): number {
  if (offset < 0n) {
    throw invalidField("offset", "it is negative: 0 is the first byte");
  }
  return Math.min(Number(offset), Number.MAX_SAFE_INTEGER);
}
