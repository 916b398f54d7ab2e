// Readers of this process, woken when results of their run become durable. Per run there is one ring of the newest
// entries that all its readers share; a reader holds nothing but its cursor, so a slow one costs no memory: what has
// left the ring it reads from the log.
//
// H1  Only runs that somebody watches are kept.
// H2  A ring is contiguous. A gap (entries this process did not hear of) empties it.
// H3  `heard` is a sequence that is in the log: a reader below it finds something there.

import type { LogEntry } from "./result.ts";

/** Enough for readers in step; a reader further behind gains by the larger pages of the log. */
const ringLengthMax = 256;

interface Channel {
  readonly runId: string;
  readonly ring: LogEntry[];
  /** Sequence up to which this process knows of results. */
  heard: number;
  readonly watches: Set<Watch>;
}

export class Hub {
  readonly #channels = new Map<string, Channel>();

  /** How many readers there are; 0 after the last one left. */
  get watcherCount(): number {
    let count = 0;
    for (const channel of this.#channels.values()) {
      count += channel.watches.size;
    }
    return count;
  }

  /** Registers a reader. Register before reading the log, or results get lost between. */
  watch(runId: string): Watch {
    let channel = this.#channels.get(runId);
    if (channel === undefined) {
      channel = { runId, ring: [], heard: 0, watches: new Set() };
      this.#channels.set(runId, channel);
    }
    const watch = new Watch(channel, () => this.#leave(channel, watch));
    channel.watches.add(watch);
    return watch;
  }

  /** Offers entries that are durable, in order. Known ones are dropped. */
  publish(runId: string, entries: readonly LogEntry[]): void {
    const channel = this.#channels.get(runId);
    if (channel === undefined) {
      return;
    }
    for (const entry of entries) {
      push(channel, entry);
    }
    for (const watch of channel.watches) {
      watch.wake();
    }
  }

  /** Where each watched run's readers would go on, for whoever fetches results of other replicas. */
  cursors(): { runId: string; after: number }[] {
    return Array.from(this.#channels.values(), ({ runId, heard }) => ({ runId, after: heard }));
  }

  /** What is known of one run: undefined when nobody here watches it. */
  heard(runId: string): number | undefined {
    return this.#channels.get(runId)?.heard;
  }

  #leave(channel: Channel, watch: Watch): void {
    channel.watches.delete(watch);
    // A watch may be ended twice, and by then the run may have readers again.
    if (channel.watches.size === 0 && this.#channels.get(channel.runId) === channel) {
      this.#channels.delete(channel.runId);
    }
  }
}

/** One reader's registration; disposing it ends it. */
export class Watch implements Disposable {
  readonly #channel: Channel;
  readonly #leave: () => void;
  #resolve: (() => void) | undefined;

  constructor(channel: Channel, leave: () => void) {
    this.#channel = channel;
    this.#leave = leave;
  }

  /** The entries that follow the cursor, when the ring holds the next one. */
  live(cursor: number): readonly LogEntry[] | undefined {
    const { ring } = this.#channel;
    const first = ring[0];
    if (first === undefined || cursor + 1 < first.sequence) {
      return undefined;
    }
    const entries = ring.slice(cursor + 1 - first.sequence);
    return entries.length > 0 ? entries : undefined;
  }

  /** Whether this process has heard of something beyond the cursor. */
  isBehind(cursor: number): boolean {
    return this.#channel.heard > cursor;
  }

  /** Notes a sequence that a reader has found in the log, so that nothing up to there is fetched for it. */
  seen(sequence: number): void {
    if (sequence > this.#channel.heard) {
      this.#channel.heard = sequence;
    }
  }

  /** Resolves when there may be something beyond the cursor: at once, with the next results, or by `wake`. */
  beyond(cursor: number): Promise<void> {
    if (this.isBehind(cursor)) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Ends a wait. */
  wake(): void {
    this.#resolve?.();
    this.#resolve = undefined;
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}

function push(channel: Channel, entry: LogEntry): void {
  const { ring } = channel;
  const newest = ring.at(-1)?.sequence;
  if (newest !== undefined && entry.sequence <= newest) {
    return;
  }
  if (newest !== undefined && entry.sequence > newest + 1) {
    ring.length = 0;
  }
  ring.push(entry);
  if (ring.length > ringLengthMax) {
    ring.shift();
  }
  channel.heard = Math.max(channel.heard, entry.sequence);
}
