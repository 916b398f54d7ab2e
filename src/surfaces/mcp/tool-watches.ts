// Watches the lists of tools: one look serves all streams of a client, and a client without streams costs nothing.

import type { Clock } from "../../platform/base/clock.ts";

/** A stream that wants to know of changes. */
export interface ToolListener {
  /** Returns the list as the stream's caller has it. */
  readonly read: () => Promise<string>;
  readonly changed: () => Promise<void>;
  /** Takes the error of a look, after which the stream hears nothing more. */
  readonly failed: (error: unknown) => void;
}

/** The watches of all clients of a replica. */
export class ToolWatches {
  readonly #clock: Clock;
  readonly #watches = new Map<string, ToolWatch>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a stream of a client until it is disposed. It hears of every change after this call has resolved. */
  async add(client: string, listener: ToolListener): Promise<Disposable> {
    const known = this.#watches.get(client);
    const watch: ToolWatch = known ?? new ToolWatch(this.#clock, () => this.#remove(client, watch));
    this.#watches.set(client, watch);
    return await watch.add(listener);
  }

  #remove(client: string, watch: ToolWatch): void {
    if (this.#watches.get(client) === watch) {
      this.#watches.delete(client);
    }
  }
}

class ToolWatch {
  readonly #clock: Clock;
  readonly #end: () => void;
  readonly #listeners = new Set<ToolListener>();
  readonly #over = new AbortController();
  #known: Promise<string> | undefined;

  constructor(clock: Clock, end: () => void) {
    this.#clock = clock;
    this.#end = end;
  }

  async add(listener: ToolListener): Promise<Disposable> {
    this.#listeners.add(listener);
    try {
      if (this.#known === undefined) {
        this.#known = listener.read();
        void this.#follow(this.#known);
      }
      await this.#known;
    } catch (error) {
      this.#remove(listener);
      throw error;
    }
    return { [Symbol.dispose]: () => this.#remove(listener) };
  }

  #remove(listener: ToolListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) {
      this.#over.abort();
      this.#end();
    }
  }

  async #follow(first: Promise<string>): Promise<void> {
    let known = await first.catch(() => undefined);
    while (!this.#over.signal.aborted) {
      await this.#clock.sleep(lookMs, this.#over.signal);
      // Any stream of the client reads the same list.
      const [reader] = this.#listeners;
      if (reader === undefined) {
        return;
      }
      const now = await reader.read().catch((error: unknown) => {
        this.#remove(reader);
        reader.failed(error);
        return known;
      });
      if (now !== known) {
        known = now;
        for (const listener of this.#listeners) {
          listener.changed().catch((error: unknown) => listener.failed(error));
        }
      }
    }
  }
}

/** Agents change seldom, and a look at them is four short queries. */
const lookMs = 2_000;
