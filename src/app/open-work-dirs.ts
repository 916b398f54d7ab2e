// Where tools may work, by the settings, and what of this service lies on the same disk.

import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Config } from "../config/keys.ts";
import { WorkDirs } from "../sessions/work-dirs.ts";

/** `secretFiles` are those that settings with secrets came from. */
export async function openWorkDirs(config: Config, secretFiles: readonly string[]): Promise<WorkDirs> {
  const key = config.tlsKeyFile === "" ? [] : [config.tlsKeyFile];
  const database = config.databaseUrl === "" ? [config.databaseDir] : [];
  return new WorkDirs({
    root: await resolveLinks(workRootOf(config)),
    reserved: await Promise.all([programDirectory, ...database, ...key, ...secretFiles].map(resolveLinks)),
    permitted: await Promise.all(config.sessionsWorkDirs.map(resolveLinks)),
  });
}

/** Below which sessions that name no directory have theirs. */
export function workRootOf({ sessionsWorkRoot, databaseDir }: Config): string {
  return resolve(sessionsWorkRoot || join(databaseDir, "work"));
}

/** The source of this program, its packages, and what else lies beside them: who could write there would run in the service. */
const programDirectory = join(import.meta.dirname, "../..");

/** What is not there yet, or not any more, keeps its path. */
async function resolveLinks(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve(path));
}
