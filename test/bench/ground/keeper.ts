// Keeps what was started, so that it ends with the stage whatever becomes of the bench that started it. A bench ends its
// things itself, which may happen before; this is for one that is given up half-way, even in the middle of a start.

export class Keeper implements AsyncDisposable {
  #kept = new AsyncDisposableStack();
  readonly #starting = new Set<Promise<unknown>>();
  #closed = false;

  /** Starts nothing once it is closed: the bench that was given up does not know that it was. */
  async keep<T extends AsyncDisposable>(start: () => Promise<T>): Promise<T> {
    if (this.#closed) {
      throw new Error("the benches are being ended");
    }
    const starting = start();
    this.#starting.add(starting);
    try {
      return this.#kept.use(await starting);
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Hands everything over to another one. */
  move(): Keeper {
    const other = new Keeper();
    other.#kept = this.#kept.move();
    return other;
  }

  /** Waits for what is being started, then closes everything, the last first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await this.#kept.disposeAsync();
  }
}
