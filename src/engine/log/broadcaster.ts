// Wakes the readers of this process when results of their run become durable. All readers of a run share one buffer of its newest
// entries. A reader holds only its cursor, so a slow reader costs no memory: it reads from the log what has left the buffer. A
// waiting reader may offer a sink. The broadcaster then writes new entries into the sink at once, and the reader goes on waiting.
//
// H1  The broadcaster keeps only runs that have a reader.
// H2  A buffer is contiguous. A gap (entries that this process did not hear of) empties it.
// H3  `heard` is a sequence that is in the log: a reader below it finds something there.
// H4  A forgotten run gets no buffer again: entries that were read before may arrive late. Its readers read from the log.
// H5  A sink gets only entries that follow its reader's cursor, and only while the reader waits. Everything else wakes the
//     reader.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Sink } from "../../platform/base/sink.ts";
import type { LogEntry } from "./result.ts";
import type { Wakeup } from "./wakeup.ts";

/** Enough for readers in step. A reader further behind is better served by the larger pages of the log. */
const bufferLengthMax = 256;
/**
 * The maximum number of forgotten runs to remember. Late entries are seconds late, and purges forget far fewer runs in that
 * time.
 */
const forgottenMax = 10_000;
/** The lag of readers is measured once per interval, for all that wait then: measuring costs a little for each reader. */
const lagIntervalMs = 100;

interface Channel {
  readonly runId: string;
  readonly buffer: LogEntry[];
  /** The sequence up to which this process knows of results. */
  heard: number;
  isForgotten: boolean;
  readonly subscriptions: Set<Subscription>;
}

/** Measures how soon waiting readers get results. */
export interface LagGauge {
  readonly clock: Clock;
  /** Reports that a waiting reader got its results this long after they were offered. */
  readonly onShown: (lagMs: number) => void;
}

/** The readers of this process, by run. */
export class Broadcaster {
  readonly #channels = new Map<string, Channel>();
  readonly #forgotten = new Set<string>();
  readonly #lag: LagGauge | undefined;
  readonly #readerListeners: ((runId: string) => void)[] = [];
  #lagTakenAtMs = Number.NEGATIVE_INFINITY;

  constructor(lag?: LagGauge) {
    this.#lag = lag;
  }

  /** The number of readers; 0 after the last one left. */
  get readerCount(): number {
    let count = 0;
    for (const channel of this.#channels.values()) {
      count += channel.subscriptions.size;
    }
    return count;
  }

  /** Calls the listener with the run of each new reader. */
  onReader(listener: (runId: string) => void): void {
    this.#readerListeners.push(listener);
  }

  /** Subscribes a reader. Subscribe before reading the log: otherwise the reader misses results committed in between. */
  subscribe(runId: string): Subscription {
    let channel = this.#channels.get(runId);
    if (channel === undefined) {
      channel = { runId, buffer: [], heard: 0, isForgotten: this.#forgotten.has(runId), subscriptions: new Set() };
      this.#channels.set(runId, channel);
    }
    const subscription = new Subscription(channel, { leave: () => this.#leave(channel, subscription), lag: this.#lag });
    channel.subscriptions.add(subscription);
    for (const listener of this.#readerListeners) {
      listener(runId);
    }
    return subscription;
  }

  /**
   * Offers durable entries in order; known ones are dropped. `sinceMs` is when this process first knew of them; unset means
   * now.
   */
  publish(runId: string, entries: readonly LogEntry[], sinceMs?: number): void {
    const channel = this.#channels.get(runId);
    if (channel === undefined) {
      return;
    }
    const before = channel.buffer.at(-1)?.sequence ?? 0;
    for (const entry of entries) {
      push(channel, entry);
    }
    // One array for all readers in step, so that they can share what they make of it.
    const news = newsAfter(before, channel);
    const shownSinceMs = this.#takeLag(sinceMs);
    for (const subscription of channel.subscriptions) {
      subscription.show(news, shownSinceMs);
    }
  }

  /** Returns the time from which the lag of readers counts; undefined for most publications. */
  #takeLag(sinceMs: number | undefined): number | undefined {
    const nowMs = this.#lag?.clock.monotonicMs();
    if (nowMs === undefined || nowMs - this.#lagTakenAtMs < lagIntervalMs) {
      return undefined;
    }
    this.#lagTakenAtMs = nowMs;
    return sinceMs ?? nowMs;
  }

  /** Drops the entries of a run because its log was rewritten. Only logs of ended runs are rewritten. */
  forget(runId: string): void {
    this.#forgotten.add(runId);
    const [oldest] = this.#forgotten;
    if (this.#forgotten.size > forgottenMax && oldest !== undefined) {
      this.#forgotten.delete(oldest);
    }
    const channel = this.#channels.get(runId);
    if (channel !== undefined) {
      channel.isForgotten = true;
      channel.buffer.length = 0;
    }
  }

  /** Makes the waiting readers of a run check the log themselves, for a change that no result announces. */
  lookAgain(runId: string): void {
    for (const subscription of this.#channels.get(runId)?.subscriptions ?? []) {
      subscription.demandLook();
    }
  }

  /** Empties all buffers, so that readers use the log: entries may have been rewritten without this process hearing of it. */
  emptyBuffers(): void {
    for (const channel of this.#channels.values()) {
      channel.buffer.length = 0;
    }
  }

  /** Returns each watched run with the sequence known here: the follower fetches what other replicas wrote after it. */
  cursors(): { runId: string; after: number }[] {
    return Array.from(this.#channels.values(), ({ runId, heard }) => ({ runId, after: heard }));
  }

  /** Returns the sequence up to which results of a run are known; undefined when it has no reader here. */
  heard(runId: string): number | undefined {
    return this.#channels.get(runId)?.heard;
  }

  #leave(channel: Channel, subscription: Subscription): void {
    channel.subscriptions.delete(subscription);
    // A subscription may be disposed twice, and by then the run may have new readers.
    if (channel.subscriptions.size === 0 && this.#channels.get(channel.runId) === channel) {
      this.#channels.delete(channel.runId);
    }
  }
}

/** Forgets the runs that another replica has purged. A purge is announced as a result with value 0. */
export function followPurges(broadcaster: Broadcaster, wakeup: Wakeup): void {
  wakeup.subscribe("result", ({ key, value }) => {
    if (value === 0) {
      broadcaster.forget(key);
    }
  });
  wakeup.onGap(() => broadcaster.emptyBuffers());
}

/** The subscription of one reader to a run; disposing it ends the subscription. */
export class Subscription implements Disposable {
  readonly #channel: Channel;
  readonly #leave: () => void;
  readonly #lag: LagGauge | undefined;
  /** The cursor of the reader while it waits. */
  #cursor = 0;
  #sink: Sink<readonly LogEntry[]> | undefined;
  #resolve: ((cursor: number) => void) | undefined;
  #shownSinceMs: number | undefined;
  /** A first check is due at once: the run may have ended long ago. */
  #isLookDue = true;

  constructor(channel: Channel, { leave, lag }: { readonly leave: () => void; readonly lag?: LagGauge | undefined }) {
    this.#channel = channel;
    this.#leave = leave;
    this.#lag = lag;
  }

  /** Returns the entries after the cursor; undefined when the buffer does not hold the next one. */
  live(cursor: number): readonly LogEntry[] | undefined {
    const { buffer } = this.#channel;
    const first = buffer[0];
    if (first === undefined || cursor + 1 < first.sequence) {
      return undefined;
    }
    const entries = entriesAfter(buffer, cursor);
    if (entries !== undefined) {
      this.#tellLag();
    }
    return entries;
  }

  /** Returns whether this process knows of entries after the cursor. */
  isBehind(cursor: number): boolean {
    return this.#channel.heard > cursor;
  }

  /** Whether the reader has to check the log and the status of its run. */
  get isLookDue(): boolean {
    return this.#isLookDue;
  }

  /** Returns whether a check is due, and resets it. */
  takeLook(): boolean {
    const isDue = this.#isLookDue;
    this.#isLookDue = false;
    return isDue;
  }

  /** Demands a check of the log, and wakes the reader. */
  demandLook(): void {
    this.#isLookDue = true;
    this.wake();
  }

  /**
   * Notes a sequence that a reader found in the log, so that the follower fetches nothing up to it. Wakes all waiting readers:
   * those further back have to read the log themselves.
   */
  seen(sequence: number): void {
    if (sequence > this.#channel.heard) {
      this.#channel.heard = sequence;
      for (const subscription of this.#channel.subscriptions) {
        subscription.wake();
      }
    }
  }

  /**
   * Resolves when there may be entries after the cursor: at once, with the next results, or by `wake`. The sink may take
   * entries meanwhile, which advances the cursor. Resolves with the advanced cursor.
   */
  beyond(cursor: number, sink?: Sink<readonly LogEntry[]>): Promise<number> {
    if (this.isBehind(cursor)) {
      return Promise.resolve(cursor);
    }
    this.#cursor = cursor;
    this.#sink = sink;
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Ends the wait of the reader. */
  wake(): void {
    this.#resolve?.(this.#cursor);
    this.#resolve = undefined;
  }

  /**
   * Gives new entries to a waiting reader, or ends its wait. A reader that does not wait is slow itself, so its lag is not
   * measured.
   */
  show(news: readonly LogEntry[], sinceMs: number | undefined): void {
    if (this.#resolve === undefined) {
      return;
    }
    this.#shownSinceMs = sinceMs;
    if (this.#give(news)) {
      this.#tellLag();
    } else {
      this.wake();
    }
  }

  #give(news: readonly LogEntry[]): boolean {
    if (this.#sink === undefined || news[0]?.sequence !== this.#cursor + 1) {
      return false;
    }
    failpoint("sink.giving");
    try {
      if (!this.#sink.take(news)) {
        return false;
      }
    } catch {
      // The failure concerns this reader only. When the reader pulls, the same call fails where the error can be reported.
      return false;
    }
    this.#cursor += news.length;
    return true;
  }

  #tellLag(): void {
    if (this.#shownSinceMs !== undefined) {
      this.#lag?.onShown(this.#lag.clock.monotonicMs() - this.#shownSinceMs);
      this.#shownSinceMs = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}

/** Returns the entries of a publication for sinks. Sinks never get the last entry of a run: the tail has to end with it. */
function newsAfter(sequence: number, { buffer }: Channel): readonly LogEntry[] {
  const entries = buffer.at(-1)?.terminal === true ? undefined : entriesAfter(buffer, sequence);
  return entries ?? [];
}

/** Returns the part of a buffer after a sequence; undefined when it is empty. */
function entriesAfter(buffer: readonly LogEntry[], sequence: number): readonly LogEntry[] | undefined {
  const entries = buffer.slice(Math.max(0, sequence + 1 - (buffer[0]?.sequence ?? 0)));
  return entries.length > 0 ? entries : undefined;
}

function push(channel: Channel, entry: LogEntry): void {
  const { buffer } = channel;
  const newest = buffer.at(-1)?.sequence;
  if (newest !== undefined && entry.sequence <= newest) {
    return;
  }
  if (newest !== undefined && entry.sequence > newest + 1) {
    buffer.length = 0;
  }
  if (!channel.isForgotten) {
    buffer.push(entry);
  }
  if (buffer.length > bufferLengthMax) {
    buffer.shift();
  }
  channel.heard = Math.max(channel.heard, entry.sequence);
}
