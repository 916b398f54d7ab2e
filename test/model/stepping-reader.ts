// A reader that takes the next piece when the test lets it, and notes what it got.

import type { LogEntry } from "../../src/runlog/result.ts";
import { type TailSource, tail } from "../../src/runlog/tail.ts";

export class SteppingReader {
  readonly got: LogEntry[] = [];
  readonly after: number;
  readonly #leaving = new AbortController();
  /** The log was that long when it came. */
  foundRows = 0;
  isAfterPurge = false;
  error: unknown;
  isOver = false;

  constructor(source: TailSource, place: { runId: string; after: number }, take: () => Promise<void>) {
    this.after = place.after;
    void this.#read(source, place.runId, take)
      .catch((error: unknown) => {
        // Nobody is there any more to be told.
        this.error = this.hasLeft ? undefined : error;
      })
      .finally(() => {
        this.isOver = true;
      });
  }

  /** Where it stands. */
  get cursor(): number {
    return this.after + this.got.length;
  }

  get hasLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(source: TailSource, runId: string, take: () => Promise<void>): Promise<void> {
    for await (const entries of tail(source, { runId, after: this.after, signal: this.#leaving.signal })) {
      if (this.hasLeft) {
        return;
      }
      this.got.push(...entries);
      await take();
    }
  }
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
