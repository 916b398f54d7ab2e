// For each test file: the seed of its property tests, and the end of what its tests pass on to each other.

import fc from "fast-check";
import { closePoolsAfterFile } from "./pool.ts";

const { TEST_SEED: seed } = process.env;
if (seed !== undefined) {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}

closePoolsAfterFile();
