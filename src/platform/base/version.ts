// The version of this program, from package.json.

import { readFileSync } from "node:fs";
import { packageRoot } from "./package-root.ts";

/** The version, such as `1.2.3`. */
export const version: string = JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8")).version;
