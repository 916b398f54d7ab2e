// Ids of spans. Those of a run's spans are made from the run, so that whoever takes a run over can link to the span before
// its own without having been told.

import { createHash } from "node:crypto";
import type { IdGenerator } from "@opentelemetry/sdk-trace";

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A run that belongs to no trace of its caller has one of its own. The lower half of a uuidv7 is random, which samplers need. */
export function traceIdOf(runId: string): string {
  return runId.replaceAll("-", "");
}

/** The span of a run's time at one replica. */
export function spanIdOf(runId: string, epoch: number): string {
  return hashPrefix(`${runId}/${epoch}`);
}

/** The first 8 bytes of a SHA-256, in hexadecimal. */
export function hashPrefix(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Chosen ids for the span that `start` starts, and those of `others` for all the rest. */
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
