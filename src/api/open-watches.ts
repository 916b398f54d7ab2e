// Limits how many watches a client has open on this replica.

import { Fault } from "../platform/base/fault.ts";

/** More than the people of a team open, and few enough for their looks to cost little. */
const watchesPerClient = 100;

/** The open watches of each client on this replica. */
export class OpenWatches {
  readonly #counts = new Map<string, number>();

  /**
   * Counts a watch until it is disposed.
   * @throws Fault CONCURRENCY_EXHAUSTED when the client has too many.
   */
  open(client: string): Disposable {
    const count = this.#counts.get(client) ?? 0;
    if (count >= watchesPerClient) {
      const message = `max watches of a client (${watchesPerClient}) reached`;
      throw new Fault("CONCURRENCY_EXHAUSTED", message, { retryAfterMs: 1_000 });
    }
    this.#counts.set(client, count + 1);
    return { [Symbol.dispose]: () => this.#close(client) };
  }

  #close(client: string): void {
    const left = (this.#counts.get(client) ?? 0) - 1;
    if (left > 0) {
      this.#counts.set(client, left);
    } else {
      this.#counts.delete(client);
    }
  }
}
