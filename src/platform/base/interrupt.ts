// Waits for one promise after another, each of which may be interrupted. Promise.race with a promise that outlives the
// others would keep a reaction on it for each round; this keeps nothing.

export const interrupted: unique symbol = Symbol("interrupted");

/** For one waiter. An interruption while nobody waits is kept for the next wait. */
export class Interrupt {
  #pending = false;
  #resolve: ((value: typeof interrupted) => void) | undefined;

  fire(): void {
    this.#pending = true;
    this.#resolve?.(interrupted);
  }

  /** What the promise becomes, or `interrupted` when that comes first. The promise goes on and can be waited for again. */
  async guard<T>(promise: Promise<T>): Promise<T | typeof interrupted> {
    if (this.#pending) {
      // The waiter may give the promise up now; its failure would then be nobody's and end the process.
      promise.catch(() => {});
    } else {
      const outcome = await new Promise<T | typeof interrupted>((resolve, reject) => {
        this.#resolve = resolve;
        promise.then(resolve, reject);
      }).finally(() => {
        this.#resolve = undefined;
      });
      if (outcome !== interrupted) {
        return outcome;
      }
    }
    this.#pending = false;
    return interrupted;
  }
}
