// Passes services from one test of a file to the next.

import { afterAll } from "vitest";

/**
 * Things of one kind that wait for the next test, keyed by the options they were requested with. The one that waits longest is
 * first.
 */
export class Pool<T> {
  #idle: { readonly key: string; readonly one: T }[] = [];
  readonly #close: (one: T) => Promise<void>;

  constructor(close: (one: T) => Promise<void>) {
    this.#close = close;
    afterEachFile(() => this.closeAll());
  }

  take(key: string): T | undefined {
    const index = this.#idle.findLastIndex((each) => each.key === key);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0]?.one;
  }

  /** Keeps it. When there are too many, the pool closes the one that waits longest. */
  async give(key: string, one: T): Promise<void> {
    this.#idle.push({ key, one });
    const oldest = this.#idle.length > idleMax ? this.#idle.shift() : undefined;
    if (oldest !== undefined) {
      await this.#close(oldest.one);
    }
  }

  async closeAll(): Promise<void> {
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(idle.map(({ one }) => this.#close(one)));
  }
}

/** Each service holds about ten connections of a server that all files share. */
const idleMax = 4;

const closers: (() => Promise<void>)[] = [];

/** Calls it after each test file, before what was registered earlier. */
export function afterEachFile(close: () => Promise<void>): void {
  closers.unshift(close);
}

/** For the setup file: nothing outlives the test file. */
export function closePoolsAfterFile(): void {
  afterAll(async () => {
    for (const close of closers) {
      await close();
    }
  });
}
