// Temporary directories of sessions that run commands without a jail. A directory exists while a command of its session runs.

import { mkdir, rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Counts the users of each directory. */
export class TempHomes {
  readonly #users = new Map<string, number>();

  /** Creates a directory that only the service's user can read. It is deleted when its last user closes it. */
  async open(path: string): Promise<AsyncDisposable> {
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { [Symbol.asyncDispose]: () => this.#close(path) };
  }

  async #close(path: string): Promise<void> {
    const users = (this.#users.get(path) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(path, users);
      return;
    }
    this.#users.delete(path);
    await rm(path, { recursive: true, force: true });
    // The parent may contain directories of other sessions.
    await rmdir(dirname(path)).catch(() => {});
  }
}
