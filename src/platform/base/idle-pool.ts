// Values that several users share and that cost something to have open: opened at the first use, closed some time after the last one.
//
// I1  All users of a key share one value, until it breaks.
// I2  A value is closed after its idle time without a user, and with the pool.

import type { Clock } from "./clock.ts";

/** Options of a pool. */
export interface IdlePoolOptions<T> {
  readonly clock: Clock;
  readonly idleMs: number;
  /** Returns false for a value that is broken: the next user opens another one. Unset for values that do not break. */
  readonly isOpen?: (value: T) => boolean;
  /** Never rejects. */
  readonly close: (value: T) => Promise<void>;
}

/** A value in use. Its release begins the idle time. */
export interface Lease<T> {
  readonly value: T;
  readonly release: () => void;
}

interface Slot<T> {
  readonly opening: Promise<T>;
  /** Set once it is open. */
  value?: T;
  users: number;
  /** Counts the uses, so that an old timer does not close a value that is in use again. */
  uses: number;
}

/** A pool of values by key. */
export class IdlePool<T> {
  readonly #options: IdlePoolOptions<T>;
  readonly #slots = new Map<string, Slot<T>>();
  readonly #closing = new AbortController();

  constructor(options: IdlePoolOptions<T>) {
    this.#options = options;
  }

  /** The number of values that are open or being opened. */
  get size(): number {
    return this.#slots.size;
  }

  /** True once the pool is being closed. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Returns the value of a key, and opens it first where the key has no value. Rejects when that fails. */
  async lease(key: string, open: () => Promise<T>): Promise<Lease<T>> {
    const { isOpen = () => true } = this.#options;
    for (;;) {
      const known = this.#slots.get(key);
      const slot = known ?? this.#open(key, open);
      const value = await slot.opening;
      // It may have been closed or forgotten meanwhile.
      if (this.#slots.get(key) === slot && isOpen(value)) {
        return this.#use(key, slot, value);
      }
      this.forget(key, value);
      if (known === undefined) {
        throw new Error("the value broke while it was opened");
      }
    }
  }

  /** Gives the key of a value that is broken to another one. */
  forget(key: string, value: T): void {
    if (this.#slots.get(key)?.value === value) {
      this.#slots.delete(key);
    }
  }

  /** Closes all values. */
  async close(): Promise<void> {
    this.#closing.abort();
    const values = await Promise.allSettled([...this.#slots.values()].map(({ opening }) => opening));
    await Promise.all(
      values.map((each) => (each.status === "fulfilled" ? this.#options.close(each.value) : undefined)),
    );
  }

  #open(key: string, open: () => Promise<T>): Slot<T> {
    const opening = open();
    const slot: Slot<T> = { opening, users: 0, uses: 0 };
    this.#slots.set(key, slot);
    opening.then(
      (value) => {
        slot.value = value;
      },
      () => this.#slots.delete(key),
    );
    return slot;
  }

  #use(key: string, slot: Slot<T>, value: T): Lease<T> {
    slot.users += 1;
    slot.uses += 1;
    let isLeased = true;
    return {
      value,
      release: () => {
        if (isLeased) {
          isLeased = false;
          slot.users -= 1;
          void this.#closeLater(key, slot, value);
        }
      },
    };
  }

  async #closeLater(key: string, slot: Slot<T>, value: T): Promise<void> {
    const { uses } = slot;
    await this.#options.clock.sleep(this.#options.idleMs, this.#closing.signal);
    if (slot.users === 0 && slot.uses === uses && !this.isClosing) {
      this.forget(key, value);
      await this.#options.close(value);
    }
  }
}
