// A reader that takes the next piece when the scheduler lets it, and records what it got. Its sink, if any, has room for some
// batches, and has room again after the scheduler lets it drain.

import type { LogEntry } from "../../src/engine/log/result.ts";
import { type TailSource, tail } from "../../src/engine/log/tail.ts";
import type { Sink } from "../../src/platform/base/sink.ts";

export interface Seat {
  readonly runId: string;
  readonly after: number;
  /** How many batches its sink takes before it has to drain; 0 for no sink. */
  readonly room: number;
}

export class SteppingReader {
  readonly got: LogEntry[] = [];
  readonly after: number;
  /** Violations of the sink's contract. */
  readonly wrongs: string[] = [];
  readonly #leaving = new AbortController();
  readonly #room: number;
  readonly #step: (what: string) => Promise<void>;
  #roomLeft: number;
  #waits = false;
  /** The length of the log when the reader opened. */
  foundRows = 0;
  takings = 0;
  isAfterPurge = false;
  error: unknown;
  isOver = false;

  constructor(source: TailSource, { runId, after, room }: Seat, step: (what: string) => Promise<void>) {
    this.after = after;
    this.#room = room;
    this.#roomLeft = room;
    this.#step = step;
    void this.#read(source, runId)
      .catch((error: unknown) => {
        // A reader that has left no longer receives errors.
        this.error = this.hasLeft ? undefined : error;
      })
      .finally(() => {
        this.isOver = true;
      });
  }

  /** The sequence of its last entry. */
  get cursor(): number {
    return this.after + this.got.length;
  }

  get hasLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(source: TailSource, runId: string): Promise<void> {
    const sink = this.#room === 0 ? undefined : this.#openSink();
    const pieces = tail(source, { runId, after: this.after, signal: this.#leaving.signal, sink });
    this.#waits = true;
    for await (const entries of pieces) {
      this.#waits = false;
      if (this.hasLeft) {
        return;
      }
      if (sink !== undefined && this.#roomLeft === 0) {
        this.wrongs.push(`was brought ${entries[0]?.sequence} before it had drained`);
      }
      this.got.push(...entries);
      await this.#step("take");
      this.#waits = true;
    }
  }

  #openSink(): Sink<readonly LogEntry[]> {
    return {
      take: (entries) => {
        if (!this.#waits || this.hasLeft || entries.at(-1)?.terminal === true) {
          this.wrongs.push(`was offered ${entries[0]?.sequence} out of turn`);
        }
        if (this.#roomLeft === 0) {
          return false;
        }
        this.#roomLeft -= 1;
        this.takings += 1;
        this.got.push(...entries);
        return true;
      },
      drained: async (signal) => {
        if (this.#roomLeft === 0 && !signal.aborted) {
          const left = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          await Promise.race([this.#step("drain"), left]);
          this.#roomLeft = this.#room;
        }
      },
    };
  }
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
