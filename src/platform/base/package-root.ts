// Finds the folder of this program's package.json, which also holds the files shipped with the code. The code runs from src/ or
// from a build's folder, so a fixed relative path does not work.

import { readFileSync } from "node:fs";
import { hasErrorCode } from "./error-code.ts";

/** The URL of that folder. It ends with a slash: `new URL("migrations/", packageRoot)`. */
export const packageRoot: URL = findPackageRoot(new URL(".", import.meta.url));

/** Checks the name, because folders of packages and of builds may have a package.json too. */
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
