// Notices changes of files for development.

import { type FSWatcher, watch } from "node:fs";
import { systemClock } from "../../platform/base/clock.ts";
import { describeError } from "../../platform/config/problem.ts";
import { sayLine } from "../terminal.ts";

/** An editor writes a file in several steps. */
const quietMs = 200;

/**
 * Resolves with what `read` returns when files in the directories have changed and it returns something: then it is no longer watched.
 * Calls `read` at the start and after each change, once the directories are quiet.
 */
export async function nextChange<T>(directories: readonly string[], read: () => T | undefined): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let pending: AbortController | undefined;
  const onChange = (): void => {
    pending?.abort();
    const wait = new AbortController();
    pending = wait;
    const look = (): void => {
      const found = wait.signal.aborted ? undefined : read();
      if (found !== undefined) {
        resolve(found);
      }
    };
    systemClock.sleep(quietMs, wait.signal).then(look).catch(reject);
  };
  const watchers = directories.flatMap((directory) => tryWatch(directory, onChange));
  // A change may have come before the watch.
  onChange();
  try {
    return await promise;
  } finally {
    for (const watcher of watchers) {
      watcher.close();
    }
  }
}

/** A machine watches a limited number of directories, and one that was removed changes no more: the service runs all the same. */
function tryWatch(directory: string, onChange: () => void): FSWatcher[] {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    watcher.on("error", () => watcher.close());
    return [watcher];
  } catch (error) {
    sayLine(`changes in ${directory} are not noticed (${describeError(error)}): start dev again after one`);
    return [];
  }
}
