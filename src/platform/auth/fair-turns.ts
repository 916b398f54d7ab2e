// A concurrency limit that is fair between keys. Each waiting key gets a turn before any key gets its second one, so a key with
// many jobs delays only itself. Example: lookups of tokens, keyed by their network.

/** Runs jobs with a maximum concurrency, in fair turns. */
export class FairTurns {
  #free: number;
  /** In the order in which the keys get their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(atOnceMax: number) {
    this.#free = atOnceMax;
  }

  /** Runs the job when it is the key's turn. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    await this.#wait(key);
    try {
      return await job();
    } finally {
      this.#passOn();
    }
  }

  async #wait(key: string): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(key);
    if (queue === undefined) {
      this.#waiting.set(key, [resolve]);
    } else {
      queue.push(resolve);
    }
    await promise;
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    const [key, queue] = next;
    const begin = queue.shift();
    this.#waiting.delete(key);
    if (queue.length > 0) {
      this.#waiting.set(key, queue);
    }
    begin?.();
  }
}
