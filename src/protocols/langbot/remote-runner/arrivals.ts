// Buffers the items that arrive on a stream. Reading continues while the last batch is being written, up to a limit. Then
// backpressure stops the sender.

/** The limits at which reading pauses. */
export interface ArrivalLimits<T> {
  readonly itemsMax: number;
  readonly sizeMax: number;
  readonly sizeOf: (item: T) => number;
}

/** The buffer of one stream. */
export class Arrivals<T> {
  readonly #limits: ArrivalLimits<T>;
  #waiting: T[] = [];
  #size = 0;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #changed: (() => void) | undefined;

  constructor(stream: AsyncIterable<T>, limits: ArrivalLimits<T>) {
    this.#limits = limits;
    void this.#read(stream);
  }

  /**
   * Returns all items since the last call, at least one; an empty list at the end. Throws the error of the stream after all
   * items before it.
   */
  async take(): Promise<T[]> {
    while (this.#waiting.length === 0 && !this.#isOver) {
      await this.#change();
    }
    const taken = this.#waiting;
    if (taken.length === 0 && this.#failure !== undefined) {
      throw this.#failure.error;
    }
    this.#waiting = [];
    this.#size = 0;
    this.#tell();
    return taken;
  }

  async #read(stream: AsyncIterable<T>): Promise<void> {
    try {
      for await (const item of stream) {
        this.#waiting.push(item);
        this.#size += this.#limits.sizeOf(item);
        this.#tell();
        while (this.#waiting.length >= this.#limits.itemsMax || this.#size >= this.#limits.sizeMax) {
          await this.#change();
        }
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#isOver = true;
    this.#tell();
  }

  /** Waits for the next change. Either the reader waits for room or the taker for items, never both. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = undefined;
    changed?.();
  }
}
