// Counts the results that became durable, by type. Every result passes here, so it only counts; the metrics read the figures
// when they are asked for them.

import { type LogEntry, type PayloadCase, resultTypeOf } from "./result.ts";

/** The number of results that this process made durable, by type. */
export class AppendCount {
  readonly #counts = new Map<PayloadCase, number>();

  /** Counts entries that this process made: their types are known without decoding. */
  add(entries: readonly LogEntry[]): void {
    let current: PayloadCase;
    let count = 0;
    // Neighbouring results mostly have the same type.
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

  /** Returns the counts with the dotted names of the types. */
  byType(): Iterable<readonly [type: string, count: number]> {
    return Array.from(this.#counts, ([payloadCase, count]) => [resultTypeOf(payloadCase), count] as const);
  }

  #note(payloadCase: PayloadCase, count: number): void {
    if (count > 0) {
      this.#counts.set(payloadCase, (this.#counts.get(payloadCase) ?? 0) + count);
    }
  }
}
