// Follows the logs of a run and of all child runs below it as one stream. A reader knows a child run from the entry that names it, so
// the logs themselves say which runs there are: a position needs only the runs that the reader has begun and does not have whole.

import { Fault } from "../../platform/base/fault.ts";
import { onAbort } from "../../platform/base/on-abort.ts";
import type { LogEntry } from "./result.ts";
import { type TailSource, tail } from "./tail.ts";

/** The sequences that a reader has of each run that it does not have whole, by the ids of the runs. */
export type TreePosition = ReadonlyMap<string, number>;

/** An entry, and the position after it. */
export interface TreeEntry {
  readonly entry: LogEntry;
  readonly position: TreePosition;
}

/**
 * So many runs are followed at a time: more than the agents of a response, with those that they call. It bounds a position, and the
 * queries of a reader that begins a large tree. While as many are open, the entries that name further ones wait.
 */
const openMax = 64;

/**
 * Yields the entries of the runs at `position` and below them. Those of a run come in their order; those of a child run come after the
 * entry that names it. Ends when every run has ended.
 * @throws those of `tail` for the run `rootId`. The log of a child run that is no longer kept is left out.
 */
export async function* tailTree(
  source: TailSource,
  { rootId, position, signal }: { rootId: string; position: TreePosition; signal: AbortSignal },
): AsyncGenerator<TreeEntry> {
  using tree = new OpenRuns(source, rootId, signal);
  using _leaving = onAbort(signal, () => tree.wake());
  for (const [runId, after] of position) {
    tree.open(runId, after);
  }
  for (let entry = await tree.next(); entry !== undefined; entry = await tree.next()) {
    yield { entry, position: tree.position };
  }
}

interface OpenRun {
  after: number;
  /** What its tail has yielded and this stream has not. */
  entries: readonly LogEntry[];
  /** Takes the next batch of its tail. */
  resume: () => void;
}

class OpenRuns {
  readonly #source: TailSource;
  readonly #rootId: string;
  readonly #signal: AbortSignal;
  readonly #open = new Map<string, OpenRun>();
  #wake: () => void = () => {};
  #failure: unknown;

  constructor(source: TailSource, rootId: string, signal: AbortSignal) {
    this.#source = source;
    this.#rootId = rootId;
    this.#signal = signal;
  }

  get position(): TreePosition {
    return new Map([...this.#open].map(([runId, { after }]) => [runId, after]));
  }

  open(runId: string, after: number): void {
    const run: OpenRun = { after, entries: [], resume: () => {} };
    this.#open.set(runId, run);
    void this.#follow(runId, run).catch((error: unknown) => {
      this.#failure = error;
      this.wake();
    });
  }

  /** Lets `next` look again. */
  wake(): void {
    this.#wake();
  }

  /** Lets the tails go on, which then see that the signal has aborted. */
  [Symbol.dispose](): void {
    for (const { resume } of this.#open.values()) {
      resume();
    }
  }

  /** Returns the next entry; undefined when no run is open any more. */
  async next(): Promise<LogEntry | undefined> {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#failure !== undefined) {
        throw this.#failure;
      }
      const ready = [...this.#open].filter(([, { entries }]) => entries.length > 0);
      const next = ready.find(([, { entries }]) => this.#hasRoomFor(entries[0])) ?? this.#anyOf(ready);
      if (next !== undefined) {
        return this.#take(...next);
      }
      if (this.#open.size === 0 || this.#signal.aborted) {
        return undefined;
      }
      await changed;
    }
  }

  #hasRoomFor(entry: LogEntry | undefined): boolean {
    return this.#open.size < openMax || entry?.payloadCase !== "childRunStarted";
  }

  /** When each open run waits to name another one, one of them may. */
  #anyOf<T>(ready: readonly T[]): T | undefined {
    return ready.length === this.#open.size ? ready[0] : undefined;
  }

  #take(runId: string, run: OpenRun): LogEntry | undefined {
    const [entry, ...rest] = run.entries;
    run.entries = rest;
    if (entry === undefined) {
      return undefined;
    }
    run.after = entry.sequence;
    if (rest.length === 0) {
      run.resume();
    }
    this.#open.delete(runId);
    if (!entry.terminal) {
      // The others have their turn first.
      this.#open.set(runId, run);
    }
    const { payload } = entry.result;
    if (payload.case === "childRunStarted") {
      this.open(payload.value.runId, 0);
    }
    return entry;
  }

  async #follow(runId: string, run: OpenRun): Promise<void> {
    try {
      for await (const entries of tail(this.#source, { runId, after: run.after, signal: this.#signal })) {
        await new Promise<void>((resolve) => {
          run.entries = entries;
          run.resume = resolve;
          this.wake();
        });
      }
    } catch (error) {
      if (runId === this.#rootId || !isGone(error)) {
        throw error;
      }
    }
    this.#open.delete(runId);
    this.wake();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Fault && (error.reason === "RUN_NOT_FOUND" || error.reason === "RESULTS_EXPIRED");
}
