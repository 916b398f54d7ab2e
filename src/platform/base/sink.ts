// The short way to a reader that is in step: what it waits for is written to it at once, by whoever has it, without a
// promise and a turn for each reader. Streams are read by pulling; a sink beside one spares the pull.
//
// K1  A sink is offered only what follows what its reader has, while its reader waits for more.
// K2  What a sink refuses it has not taken. It is pulled then, once what it took before is on its way.
// K3  A sink that is offered something holds no more for it than one that is pulled from: it refuses while its reader is
//     slow.

import { type ContextValues, createContextKey } from "@connectrpc/connect";

export interface Sink<T> {
  /** False when it has not taken it. Does not wait. What there is nothing to write of is always taken. */
  take(what: T): boolean;
  /** Resolves when what it took is on its way, when its reader has left, or when the signal aborts. */
  drained(signal: AbortSignal): Promise<void>;
}

/** A sink for what another one's things are made from. */
export function mapSink<T, U>(sink: Sink<U>, map: (what: T) => U): Sink<T> {
  return new MappingSink(sink, map);
}

/** One object and no closures: with a thousand readers each of them is a miss of the processor's cache. */
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

/** Where the bytes of a call's answer may be written, once the first of them have been. */
export function setAnswerSink(values: ContextValues, sink: Sink<Uint8Array>): void {
  values.set(answerKey, sink);
}

/** Undefined for an answer that can only be pulled. */
export function answerSinkOf(values: ContextValues): Sink<Uint8Array> | undefined {
  return values.get(answerKey);
}

const answerKey = createContextKey<Sink<Uint8Array> | undefined>(undefined, { description: "answer of the call" });
