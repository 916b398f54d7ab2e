// Ids of spans. Those of a run's spans are derived from the run. So the replica that takes a run over can link to the previous
// span without further data.

import { createHash } from "node:crypto";
import type { IdGenerator } from "@opentelemetry/sdk-trace";

/** The ids of a span. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Returns the trace id of a run that has no trace of its client. The lower half of a uuidv7 is random, which samplers need. */
export function traceIdOf(runId: string): string {
  return runId.replaceAll("-", "");
}

/** Returns the span id of a run's time at one replica. */
export function spanIdOf(runId: string, epoch: number): string {
  return hashPrefix(`${runId}/${epoch}`);
}

/** Returns the first 8 bytes of a SHA-256, in hexadecimal. */
export function hashPrefix(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Gives the chosen ids to the span that `start` starts, and ids of `others` to all other spans. */
export class ChosenIds implements IdGenerator {
  readonly #others: IdGenerator;
  #chosen: SpanIds | undefined;

  constructor(others: IdGenerator) {
    this.#others = others;
  }

  startWith<T>(chosen: SpanIds, start: () => T): T {
    this.#chosen = chosen;
    try {
      return start();
    } finally {
      this.#chosen = undefined;
    }
  }

  generateTraceId(): string {
    return this.#chosen?.traceId ?? this.#others.generateTraceId();
  }

  generateSpanId(): string {
    return this.#chosen?.spanId ?? this.#others.generateSpanId();
  }
}
