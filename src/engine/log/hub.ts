// Readers of this process, woken when results of their run become durable. Per run there is one ring of the newest
// entries that all its readers share; a reader holds nothing but its cursor, so a slow one costs no memory: what has
// left the ring it reads from the log. One that waits for what comes next may say where to put it: then it is given to it
// there and then, and it goes on waiting.
//
// H1  Only runs that somebody watches are kept.
// H2  A ring is contiguous. A gap (entries this process did not hear of) empties it.
// H3  `heard` is a sequence that is in the log: a reader below it finds something there.
// H4  A run that was forgotten has no ring again: what was read of it before comes late, and its readers go to the log.
// H5  A reader is given nothing but what follows its cursor, while it waits. Whatever else there is wakes it.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Sink } from "../../platform/base/sink.ts";
import type { LogEntry } from "./result.ts";
import type { Wakeup } from "./wakeup.ts";

/** Enough for readers in step; a reader further behind gains by the larger pages of the log. */
const ringLengthMax = 256;
/** Forgotten runs that are remembered as such: what is late is seconds late, and nobody purges so many runs meanwhile. */
const forgottenMax = 10_000;
/** How soon readers get results is looked at this often, for all who wait then: looking costs each of them a little. */
const lagIntervalMs = 100;

interface Channel {
  readonly runId: string;
  readonly ring: LogEntry[];
  /** Sequence up to which this process knows of results. */
  heard: number;
  isForgotten: boolean;
  readonly watches: Set<Watch>;
}

export interface LagGauge {
  readonly clock: Clock;
  /** A reader that waited has got its results this long after they were offered. */
  readonly onShown: (lagMs: number) => void;
}

export class Hub {
  readonly #channels = new Map<string, Channel>();
  readonly #forgotten = new Set<string>();
  readonly #lag: LagGauge | undefined;
  #lagTakenAtMs = Number.NEGATIVE_INFINITY;

  constructor(lag?: LagGauge) {
    this.#lag = lag;
  }

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
      channel = { runId, ring: [], heard: 0, isForgotten: this.#forgotten.has(runId), watches: new Set() };
      this.#channels.set(runId, channel);
    }
    const watch = new Watch(channel, { leave: () => this.#leave(channel, watch), lag: this.#lag });
    channel.watches.add(watch);
    return watch;
  }

  /**
   * Offers entries that are durable, in order. Known ones are dropped. `sinceMs` is when this process first knew of them,
   * if it was not now.
   */
  publish(runId: string, entries: readonly LogEntry[], sinceMs?: number): void {
    const channel = this.#channels.get(runId);
    if (channel === undefined) {
      return;
    }
    const before = channel.ring.at(-1)?.sequence ?? 0;
    for (const entry of entries) {
      push(channel, entry);
    }
    // The same array for all who are in step, so that what is made of it can be shared.
    const news = newsAfter(before, channel);
    const shownSinceMs = this.#takeLag(sinceMs);
    for (const watch of channel.watches) {
      watch.show(news, shownSinceMs);
    }
  }

  /** The time from which readers are to be clocked; undefined for most publications. */
  #takeLag(sinceMs: number | undefined): number | undefined {
    const nowMs = this.#lag?.clock.monotonicMs();
    if (nowMs === undefined || nowMs - this.#lagTakenAtMs < lagIntervalMs) {
      return undefined;
    }
    this.#lagTakenAtMs = nowMs;
    return sinceMs ?? nowMs;
  }

  /** Keeps nothing of a run any more, because its log was rewritten. Only runs that have ended are. */
  forget(runId: string): void {
    this.#forgotten.add(runId);
    const [oldest] = this.#forgotten;
    if (this.#forgotten.size > forgottenMax && oldest !== undefined) {
      this.#forgotten.delete(oldest);
    }
    const channel = this.#channels.get(runId);
    if (channel !== undefined) {
      channel.isForgotten = true;
      channel.ring.length = 0;
    }
  }

  /** Lets the readers of a run that wait look at the log themselves: there is something that they would never hear of. */
  lookAgain(runId: string): void {
    for (const watch of this.#channels.get(runId)?.watches ?? []) {
      watch.demandLook();
    }
  }

  /** Lets readers go to the log for what is in the rings: some of it may have been rewritten unheard. */
  emptyRings(): void {
    for (const channel of this.#channels.values()) {
      channel.ring.length = 0;
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

/** Forgets the runs that another replica has purged. Such a run is told of as one with results up to 0. */
export function followPurges(hub: Hub, wakeup: Wakeup): void {
  wakeup.subscribe("result", ({ key, value }) => {
    if (value === 0) {
      hub.forget(key);
    }
  });
  wakeup.onGap(() => hub.emptyRings());
}

/** One reader's registration; disposing it ends it. */
export class Watch implements Disposable {
  readonly #channel: Channel;
  readonly #leave: () => void;
  readonly #lag: LagGauge | undefined;
  /** Where the reader stands while it waits. */
  #cursor = 0;
  #sink: Sink<readonly LogEntry[]> | undefined;
  #resolve: ((cursor: number) => void) | undefined;
  #shownSinceMs: number | undefined;
  /** The first look is due at once: the run may have ended long ago. */
  #isLookDue = true;

  constructor(channel: Channel, { leave, lag }: { readonly leave: () => void; readonly lag?: LagGauge | undefined }) {
    this.#channel = channel;
    this.#leave = leave;
    this.#lag = lag;
  }

  /** The entries that follow the cursor, when the ring holds the next one. */
  live(cursor: number): readonly LogEntry[] | undefined {
    const { ring } = this.#channel;
    const first = ring[0];
    if (first === undefined || cursor + 1 < first.sequence) {
      return undefined;
    }
    const entries = entriesAfter(ring, cursor);
    if (entries !== undefined) {
      this.#tellLag();
    }
    return entries;
  }

  /** Whether this process has heard of something beyond the cursor. */
  isBehind(cursor: number): boolean {
    return this.#channel.heard > cursor;
  }

  /** Whether the reader is to look at the log and at how its run stands. */
  get isLookDue(): boolean {
    return this.#isLookDue;
  }

  /** True once after each demand. */
  takeLook(): boolean {
    const isDue = this.#isLookDue;
    this.#isLookDue = false;
    return isDue;
  }

  demandLook(): void {
    this.#isLookDue = true;
    this.wake();
  }

  /**
   * Notes a sequence that a reader has found in the log, so that nothing up to there is fetched for it. Nor for those who
   * wait further back: they have to look themselves.
   */
  seen(sequence: number): void {
    if (sequence > this.#channel.heard) {
      this.#channel.heard = sequence;
      for (const watch of this.#channel.watches) {
        watch.wake();
      }
    }
  }

  /**
   * Resolves when there may be something beyond the cursor: at once, with the next results, or by `wake`. What the sink
   * takes meanwhile moves the cursor on; it resolves with where that is then.
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

  /** Ends a wait. */
  wake(): void {
    this.#resolve?.(this.#cursor);
    this.#resolve = undefined;
  }

  /** Gives a reader that waits what is new, or ends its wait. One that does not is slow by its own fault and not clocked. */
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
      // Nobody's but this reader's. Pulled, the same fails where it can be told.
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

/** What sinks are given of a publication. The last entry of a run is not for them: a tail ends with it. */
function newsAfter(sequence: number, { ring }: Channel): readonly LogEntry[] {
  const entries = ring.at(-1)?.terminal === true ? undefined : entriesAfter(ring, sequence);
  return entries ?? [];
}

/** The part of a ring that comes after a sequence; undefined when there is none. */
function entriesAfter(ring: readonly LogEntry[], sequence: number): readonly LogEntry[] | undefined {
  const entries = ring.slice(Math.max(0, sequence + 1 - (ring[0]?.sequence ?? 0)));
  return entries.length > 0 ? entries : undefined;
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
  if (!channel.isForgotten) {
    ring.push(entry);
  }
  if (ring.length > ringLengthMax) {
    ring.shift();
  }
  channel.heard = Math.max(channel.heard, entry.sequence);
}
