// Temporary directories of sessions whose commands run without a jail: there while any of a session's commands runs.

import { mkdir, rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";

export class TempHomes {
  readonly #users = new Map<string, number>();

  /** Private to the service's user; gone with its last user. */
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
    // Other sessions may have theirs in it.
    await rmdir(dirname(path)).catch(() => {});
  }
}
