// The program that tests start: built from src/ when the test run begins.

import { dirname, join } from "node:path";
import { inject } from "vitest";

/** The path of its `main.js`. */
export const programPath: string = inject("program");

/**
 * The folder where processes cache what Node has compiled, for those that start after them. It is removed with the program when
 * the run ends.
 */
export const compileCacheEnvironment = {
  NODE_COMPILE_CACHE: join(dirname(programPath), "compile-cache"),
} as const;
