// The console of a checkout: built when it is missing or older than its source. A package and an image bring it along.

import { execFile } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageRoot } from "../platform/base/package-root.ts";

const root = fileURLToPath(packageRoot);
const builder = fileURLToPath(new URL("scripts/build-console.ts", packageRoot));
const sources = [
  "console/{src,public}/**",
  "console/*.{html,json,yaml}",
  "clients/typescript/src/*.ts",
  "src/platform/run-view/*.ts",
  "proto/**/*.proto",
];

/**
 * Builds the console of a checkout unless it is fresh. Returns why it could not be built; undefined when it is there or comes with
 * the package.
 */
export async function freshenConsole(onBuild: () => void): Promise<string | undefined> {
  const times = await Promise.all((await Array.fromAsync(glob(sources, { cwd: root }))).map(modifiedMs));
  const sourceMs = Math.max(0, ...times);
  if (sourceMs === 0 || (await modifiedMs("console/dist/index.html")) > sourceMs) {
    return undefined;
  }
  onBuild();
  try {
    await promisify(execFile)(process.execPath, [builder], { cwd: root });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns 0 for a missing file. */
async function modifiedMs(path: string): Promise<number> {
  const found = await stat(new URL(path, packageRoot)).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
