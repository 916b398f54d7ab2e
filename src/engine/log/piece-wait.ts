// Lets pieces of text wait for each other: those of a run share a row, and those of all runs a batch. One timer serves all runs of
// a replica, and runs only while a piece waits.
//
// W1  A piece waits for the timer at most: everything else of its run, and a reader that begins, releases it before.
// W2  What waits here was not acknowledged, and stays in the queue of its run. Nothing is lost with this list.

import type { Clock } from "../../platform/base/clock.ts";
import type { RunQueue } from "./run-queue.ts";

/** Options of the wait. */
export interface PieceWaitOptions {
  /** The maximum time that a piece waits, in milliseconds; with 0 no piece waits. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** Hands a queue to its batch writer. */
  readonly submit: (queue: RunQueue) => void;
}

/** The runs whose newest piece of text waits for more. */
export class PieceWait {
  readonly #options: PieceWaitOptions;
  readonly #queues = new Map<string, RunQueue>();
  readonly #closing = new AbortController();
  #isTimed = false;

  constructor(options: PieceWaitOptions) {
    this.#options = options;
  }

  /** Whether pieces wait at all. */
  get isOn(): boolean {
    return this.#options.waitMs > 0 && !this.#closing.signal.aborted;
  }

  /** Submits the queue when the timer ends. */
  add(queue: RunQueue): void {
    this.#queues.set(queue.runId, queue);
    if (!this.#isTimed) {
      void this.#submitInTime();
    }
  }

  /** Submits what waits of a run, at once. */
  release(runId: string): void {
    const queue = this.#queues.get(runId);
    if (queue !== undefined) {
      this.#queues.delete(runId);
      this.#options.submit(queue);
    }
  }

  /** Leaves what waits of a run to the caller. */
  withdraw({ runId }: RunQueue): void {
    this.#queues.delete(runId);
  }

  /** Submits everything that waits. */
  close(): void {
    this.#closing.abort();
    this.#submitAll();
  }

  async #submitInTime(): Promise<void> {
    this.#isTimed = true;
    await this.#options.clock.sleep(this.#options.waitMs, this.#closing.signal);
    this.#isTimed = false;
    this.#submitAll();
  }

  #submitAll(): void {
    const queues = [...this.#queues.values()];
    this.#queues.clear();
    for (const queue of queues) {
      this.#options.submit(queue);
    }
  }
}
