// Finds the folder of this program's package.json, where what comes with the code lies. Code runs from src/ or from a build's
// folder, so it finds nothing by steps up from itself.

import { readFileSync } from "node:fs";
import { hasErrorCode } from "./error-code.ts";

/** Ends with a slash: `new URL("migrations/", packageRoot)`. */
export const packageRoot: URL = findPackageRoot(new URL(".", import.meta.url));

/** Folders of packages and of builds may have a package.json too: the name decides. */
function findPackageRoot(folder: URL): URL {
  if (readName(folder) === "runnel") {
    return folder;
  }
  const parent = new URL("..", folder);
  if (parent.href === folder.href) {
    throw new Error(`no package.json of runnel lies above ${import.meta.url}: keep it beside the folder of the code`);
  }
  return findPackageRoot(parent);
}

function readName(folder: URL): unknown {
  try {
    return JSON.parse(readFileSync(new URL("package.json", folder), "utf8")).name;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) {
      return undefined;
    }
    throw error;
  }
}
