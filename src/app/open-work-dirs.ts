// Where tools may work, by the settings, and what of this service lies on the same disk.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { WorkDirs } from "../engine/sessions/work-dirs.ts";
import { resolveExisting } from "../platform/base/owner.ts";
import { packageRoot } from "../platform/base/package-root.ts";
import type { Config } from "../platform/config/keys.ts";

/** `secretFiles` are those that settings with secrets came from. */
export function openWorkDirs(config: Config, secretFiles: readonly string[]): WorkDirs {
  const key = config.tlsKeyFile === "" ? [] : [config.tlsKeyFile];
  const database = config.databaseUrl === "" ? [config.databaseDir] : [];
  return new WorkDirs({
    root: resolveLinks(workRootOf(config)),
    reserved: [programDirectory, ...database, ...key, ...secretFiles].map(resolveLinks),
    permitted: config.sessionsWorkDirs.map(resolveLinks),
  });
}

/** Below which sessions that name no directory have theirs. */
export function workRootOf({ sessionsWorkRoot, databaseDir }: Config): string {
  return resolve(sessionsWorkRoot || join(databaseDir, "work"));
}

/** The source of this program, its packages, and what else lies beside them: who could write there would run in the service. */
const programDirectory = fileURLToPath(packageRoot);

/**
 * The last parts of a path may not be there yet: the first run makes the root. Links on the way to it count all the same, or what is
 * made there later would go by another name than the one that sessions are kept away from.
 */
function resolveLinks(path: string): string {
  const absolute = resolve(path);
  try {
    return resolveExisting(absolute);
  } catch {
    // Where we may not even look, nobody works for us.
    return absolute;
  }
}
