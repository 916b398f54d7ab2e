// What a reader skips of a response because it does not know its type: a new feature of a provider, or a gateway's own frames.

import type { Skipped } from "../model.ts";
import { textOf } from "./frame.ts";

/** Where it stood: an event of the stream, an item or block of the answer, or a part of one. */
type SkippedKind = "event" | "item" | "part";

/** Counts the unknown things of one response. */
export class SkippedFrames {
  readonly #counts = { event: 0, item: 0, part: 0 };
  #type: string | undefined;

  /** Counts one. Its type may be any value of the provider. */
  add(kind: SkippedKind, type: unknown): void {
    this.#type ??= printType(textOf(type));
    this.#counts[kind] += 1;
  }

  /** Returns what was skipped so far; undefined for nothing. */
  all(): Skipped | undefined {
    const { event: events, item: items, part: parts } = this.#counts;
    return this.#type === undefined ? undefined : { events, items, parts, type: this.#type };
  }
}

const typeCharsMax = 64;

function printType(type: string): string {
  return type.slice(0, typeCharsMax).toWellFormed().replace(/\p{C}/gu, "");
}
