// Notices changes of files for development.

import { type FSWatcher, watch } from "node:fs";
import { systemClock } from "../../platform/base/clock.ts";

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
    void systemClock.sleep(quietMs, wait.signal).then(() => {
      if (wait.signal.aborted) {
        return;
      }
      const found = read();
      if (found !== undefined) {
        resolve(found);
      }
    }, reject);
  };
  const watchers: FSWatcher[] = directories.map((directory) => watch(directory, { persistent: false }, onChange));
  for (const watcher of watchers) {
    // A directory that was removed changes no more.
    watcher.on("error", () => watcher.close());
  }
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
