// The direct path to a reader that is in step. The broadcaster or feed writes new items into the reader's answer at once, without a
// promise and an event-loop turn for each reader. Streams are read by pulling; a sink beside a stream saves the pull.
//
// K1  A sink is offered only the items that follow what its reader has, and only while its reader waits for more.
// K2  A sink that refuses an item has not taken it. The reader then pulls the item, once the items taken before are on their
//     way.
// K3  A sink buffers no more for its reader than a pulled stream does: it refuses while its reader is slow.

import { type ContextValues, createContextKey } from "@connectrpc/connect";

/** A destination that takes items without waiting. */
export interface Sink<T> {
  /** Returns false when it has not taken the item. Does not wait. Always takes an item that has nothing to write. */
  take(what: T): boolean;
  /** Resolves when the taken items are on their way, when the reader has left, or when the signal aborts. */
  drained(signal: AbortSignal): Promise<void>;
}

/** Returns a sink that converts each item and passes it to another sink. */
export function mapSink<T, U>(sink: Sink<U>, map: (what: T) => U): Sink<T> {
  return new MappingSink(sink, map);
}

/** One object instead of closures: with a thousand readers, each extra object is a miss of the processor's cache. */
class MappingSink<T, U> implements Sink<T> {
  readonly #sink: Sink<U>;
  readonly #map: (what: T) => U;

  constructor(sink: Sink<U>, map: (what: T) => U) {
    this.#sink = sink;
    this.#map = map;
  }

  take(what: T): boolean {
    return this.#sink.take(this.#map(what));
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.#sink.drained(signal);
  }
}

/** Sets the sink for the bytes of a call's answer. It is usable once the first bytes have been written. */
export function setAnswerSink(values: ContextValues, sink: Sink<Uint8Array>): void {
  values.set(answerKey, sink);
}

/** Returns the sink of a call's answer. Returns undefined for an answer that can only be pulled. */
export function answerSinkOf(values: ContextValues): Sink<Uint8Array> | undefined {
  return values.get(answerKey);
}

const answerKey = createContextKey<Sink<Uint8Array> | undefined>(undefined, { description: "answer of the call" });
