// The program that tests start: built from src/ when the test run begins.

import { dirname, join } from "node:path";
import { inject } from "vitest";

/** Of its `main.js`. */
export const programPath: string = inject("program");

/** Where processes keep what Node has compiled, for those that start after them. It goes with the program when the run ends. */
export const compileCacheEnvironment = {
  NODE_COMPILE_CACHE: join(dirname(programPath), "compile-cache"),
} as const;
