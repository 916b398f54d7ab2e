// Waits for one promise after another; each wait can be interrupted. Promise.race with a long-lived promise would add a
// reaction to it in each round; this class adds none.

/** The outcome of an interrupted wait. */
export const interrupted: unique symbol = Symbol("interrupted");

/** For one waiter. An interruption without a waiter is kept for the next wait. */
export class Interrupt {
  #pending = false;
  #resolve: ((value: typeof interrupted) => void) | undefined;

  fire(): void {
    this.#pending = true;
    this.#resolve?.(interrupted);
  }

  /**
   * Returns the value of the promise, or `interrupted` when that comes first. The promise continues and can be awaited again.
   */
  async guard<T>(promise: Promise<T>): Promise<T | typeof interrupted> {
    if (this.#pending) {
      // The waiter may drop the promise now; an unhandled rejection would then end the process.
      promise.catch(() => {});
    } else {
      try {
        const outcome = await new Promise<T | typeof interrupted>((resolve, reject) => {
          this.#resolve = resolve;
          promise.then(resolve, reject);
        });
        if (outcome !== interrupted) {
          return outcome;
        }
      } finally {
        this.#resolve = undefined;
      }
    }
    this.#pending = false;
    return interrupted;
  }
}
