// Keeps what was started, so that it ends with the stage even when the bench that started it fails. A bench may end its things
// itself before. This is for a bench that is given up half-way, even in the middle of a start.

export class Keeper implements AsyncDisposable {
  #kept = new AsyncDisposableStack();
  readonly #starting = new Set<Promise<unknown>>();
  #closed = false;

  /** Starts nothing once it is closed: a bench does not notice that it was given up. */
  async keep<T extends AsyncDisposable>(start: () => Promise<T>): Promise<T> {
    if (this.#closed) {
      throw new Error("the benches are stopping");
    }
    const starting = start();
    this.#starting.add(starting);
    try {
      return this.#kept.use(await starting);
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Moves everything to a new keeper. */
  move(): Keeper {
    const other = new Keeper();
    other.#kept = this.#kept.move();
    return other;
  }

  /** Waits for pending starts, then closes everything in reverse order. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await this.#kept.disposeAsync();
  }
}
