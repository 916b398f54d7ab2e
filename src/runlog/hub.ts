// Readers of this process, woken when results of their run become durable. Per run there is one ring of the newest
// entries that all its readers share; a reader holds nothing but its cursor, so a slow one costs no memory: what has
// left the ring it reads from the log.
//
// H1  Only runs that somebody watches are kept.
// H2  A ring is contiguous. A gap (entries this process did not hear of) empties it.

import type { LogEntry } from "./result.ts";

/** Enough for readers in step; a reader further behind gains by the larger pages of the log. */
const ringLengthMax = 256;

interface Channel {
  readonly runId: string;
  readonly ring: LogEntry[];
  /** Sequence up to which this process knows of results. */
  heard: number;
  watchers: number;
  readonly wakers: Set<() => void>;
}

export class Hub {
  readonly #channels = new Map<string, Channel>();

  /** How many readers there are; 0 after the last one left. */
  get watcherCount(): number {
    let count = 0;
    for (const channel of this.#channels.values()) count += channel.watchers;
    return count;
  }

  /** Registers a reader that has everything up to `after`. Register before reading the log, or results get lost between. */
  watch(runId: string, after: number): Watch {
    let channel = this.#channels.get(runId);
    if (channel === undefined) {
      channel = { runId, ring: [], heard: after, watchers: 0, wakers: new Set() };
      this.#channels.set(runId, channel);
    }
    channel.watchers++;
    return new Watch(channel, () => this.#leave(channel));
  }

  /** Offers entries that are durable, in order. Known ones are dropped. */
  publish(runId: string, entries: readonly LogEntry[]): void {
    const channel = this.#channels.get(runId);
    if (channel === undefined) return;
    for (const entry of entries) push(channel, entry);
    wake(channel);
  }

  /** Where each watched run's readers would go on, for whoever fetches results of other replicas. */
  cursors(): { runId: string; after: number }[] {
    return Array.from(this.#channels.values(), ({ runId, heard }) => ({ runId, after: heard }));
  }

  /** What is known of one run: undefined when nobody here watches it. */
  heard(runId: string): number | undefined {
    return this.#channels.get(runId)?.heard;
  }

  #leave(channel: Channel): void {
    if (--channel.watchers === 0) this.#channels.delete(channel.runId);
  }
}

/** One reader's registration; disposing it ends it. */
export class Watch implements Disposable {
  readonly #channel: Channel;
  readonly #leave: () => void;

  constructor(channel: Channel, leave: () => void) {
    this.#channel = channel;
    this.#leave = leave;
  }

  /** The entries that follow the cursor, when the ring holds the next one. */
  live(cursor: number): readonly LogEntry[] | undefined {
    const { ring } = this.#channel;
    const first = ring[0];
    if (first === undefined || cursor + 1 < first.sequence) return undefined;
    const entries = ring.slice(cursor + 1 - first.sequence);
    return entries.length > 0 ? entries : undefined;
  }

  /** Notes how far a reader has come by itself, so that nothing is fetched again for it. */
  seen(sequence: number): void {
    if (sequence > this.#channel.heard) this.#channel.heard = sequence;
  }

  /** Resolves when there is something beyond the cursor, or when the signal aborts. */
  async beyond(cursor: number, signal: AbortSignal): Promise<void> {
    const { wakers } = this.#channel;
    while (this.#channel.heard <= cursor && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wakers.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      try {
        await promise;
      } finally {
        wakers.delete(resolve);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}

function push(channel: Channel, entry: LogEntry): void {
  const { ring } = channel;
  const newest = ring.at(-1)?.sequence;
  if (newest !== undefined && entry.sequence <= newest) return;
  if (newest !== undefined && entry.sequence > newest + 1) ring.length = 0;
  ring.push(entry);
  if (ring.length > ringLengthMax) ring.shift();
  channel.heard = Math.max(channel.heard, entry.sequence);
}

function wake(channel: Channel): void {
  for (const resolve of channel.wakers) resolve();
}
