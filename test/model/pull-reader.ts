// A reader that takes a piece only when the test calls `pull`, so that it can be arbitrarily slow.

import type { LogEntry } from "../../src/engine/log/result.ts";
import { type TailSource, tail } from "../../src/engine/log/tail.ts";

export class PullReader {
  readonly runId: string;
  readonly after: number;
  readonly got: LogEntry[] = [];
  /** The error of its stream. */
  error: unknown;
  isOver = false;
  readonly #leaving = new AbortController();
  readonly #pieces: AsyncGenerator<readonly LogEntry[]>;
  #pull: Promise<void> | undefined;

  constructor(source: TailSource, runId: string, after: number) {
    this.runId = runId;
    this.after = after;
    this.#pieces = tail(source, { runId, after, signal: this.#leaving.signal });
  }

  /** The sequence of its last entry. */
  get cursor(): number {
    return this.after + this.got.length;
  }

  /** Asks for the next piece, unless it already waits for one. */
  pull(): void {
    this.#pull ??= this.#take().finally(() => {
      this.#pull = undefined;
    });
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#pull;
    await this.#pieces.return(undefined);
  }

  async #take(): Promise<void> {
    try {
      const piece = await this.#pieces.next();
      if (piece.done === true) {
        this.isOver = true;
      } else {
        this.got.push(...piece.value);
      }
    } catch (error) {
      this.error = error;
      this.isOver = true;
    }
  }
}
