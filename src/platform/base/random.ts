// Unpredictable random numbers in the form of Math.random.

import { randomInt } from "node:crypto";

/** Returns a number from 0 (inclusive) to 1 (exclusive). */
export function random(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
