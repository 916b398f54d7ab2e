// How many results of each type became durable. It stands in the way of every result, so it counts and does nothing else;
// whoever wants the figures asks for them.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { type LogEntry, resultTypeOf } from "./result.ts";

type PayloadCase = RunResult["payload"]["case"];

export class AppendCount {
  readonly #counts = new Map<PayloadCase, number>();

  /** Entries that this process made: their results are at hand. */
  add(entries: readonly LogEntry[]): void {
    let current: PayloadCase;
    let count = 0;
    // Results of one type mostly come together.
    for (const { result } of entries) {
      const payloadCase = result.payload.case;
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
