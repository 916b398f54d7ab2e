// How many results of each type became durable. It stands in the way of every result, so it counts and does nothing else;
// whoever wants the figures asks for them.

import { type LogEntry, type PayloadCase, resultTypeOf } from "./result.ts";

export class AppendCount {
  readonly #counts = new Map<PayloadCase, number>();

  /** Entries that this process made: their types are at hand. */
  add(entries: readonly LogEntry[]): void {
    let current: PayloadCase;
    let count = 0;
    // Results of one type mostly come together.
    for (const { payloadCase } of entries) {
      if (payloadCase !== current) {
        this.#note(current, count);
        current = payloadCase;
        count = 0;
      }
      count++;
    }
    this.#note(current, count);
  }

  byType(): Iterable<readonly [type: string, count: number]> {
    return Array.from(this.#counts, ([payloadCase, count]) => [resultTypeOf(payloadCase), count] as const);
  }

  #note(payloadCase: PayloadCase, count: number): void {
    if (count > 0) {
      this.#counts.set(payloadCase, (this.#counts.get(payloadCase) ?? 0) + count);
    }
  }
}
