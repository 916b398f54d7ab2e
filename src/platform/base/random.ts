// Chance, as Math.random gives it but not to be foretold.

import { randomInt } from "node:crypto";

export function random(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
