// Where processes that tests start keep what Node has compiled: a start costs half as much with it, and there are hundreds. It lies
// in the folder of the checkout's packages, which nobody else writes to.

import { fileURLToPath } from "node:url";

export const compileCacheEnvironment = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/node-compile", import.meta.url)),
} as const;
