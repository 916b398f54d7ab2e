// For each test file: sets the seed of its property tests, and closes the pools that its tests share.

import "./collect-signed.ts";
import fc from "fast-check";
import { closePoolsAfterFile } from "./pool.ts";

const { TEST_SEED: seed } = process.env;
if (seed !== undefined) {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}

closePoolsAfterFile();
