// The results of one owned run that are not durable yet, their counter, and the hash chain over the durable ones.
//
// Q1  A result gets its sequence when it enters a batch, so numbers follow the order of writing without a gap.
// Q2  At most one batch of a run is in flight.
// Q3  After `lose` nothing of the run is written, and every waiting caller gets the fault.
// Q4  The chain covers the durable entries and no others, so nothing is ever removed from it.

import type { Clock } from "../../platform/base/clock.ts";
import type { Fault } from "../../platform/base/fault.ts";
import type { LogChain } from "../hash-chain/chain.ts";
import { ResultEncoder } from "./encode.ts";
import { isPiece, mergeAgeMaxMs, mergeCharsMax, mergeResults, textLength } from "./merge.ts";
import type { LogEntry, ResultInit } from "./result.ts";

/** A driver this far ahead of the database has to wait: backpressure for many small results, or a few large ones. */
const waitingRowsMax = 256;
const waitingCharsMax = 1_048_576;
/** Text that flows has no longer pauses than this, in milliseconds. People read what comes slower piece by piece, so it never waits. */
export const flowGapMaxMs = 20;

/** Options of the queue. */
export interface RunQueueOptions {
  readonly runId: string;
  readonly epoch: number;
  /** The lease under which this process owns the run. */
  readonly replicaId: string;
  /** The chain of the log so far. The queue owns it from here on. */
  readonly chain: LogChain;
  /** The sequence up to which readers have seen the log; more than the chain has when the database has lost results. */
  readonly seen?: number;
  readonly clock: Clock;
  /** Called once when the run is lost to another replica, or cannot be written. */
  readonly onLost: (fault: Fault) => void;
}

interface WaitingResult {
  init: ResultInit;
  readonly bornMs: number;
}

/** The results of one run that wait for a batch or are in flight. */
export class RunQueue {
  readonly runId: string;
  readonly epoch: number;
  readonly replicaId: string;
  /** When the log was last known to have all acknowledged entries, on the monotonic clock. */
  checkedAtMs: number;
  readonly #clock: Clock;
  readonly #encoder: ResultEncoder;
  readonly #onLost: (fault: Fault) => void;
  readonly #seen: number;
  readonly #waiting: WaitingResult[] = [];
  #waitingChars = 0;
  /** When the newest piece of text came, on the monotonic clock, if no other result came after it. */
  #pieceAtMs = Number.NEGATIVE_INFINITY;
  #firstTextMs: number | undefined;
  #inFlight: readonly LogEntry[] = [];
  #chain: LogChain;
  #lastSequence: number;
  #lost: Fault | undefined;
  #changed: PromiseWithResolvers<void> | undefined;

  constructor(options: RunQueueOptions) {
    this.runId = options.runId;
    this.epoch = options.epoch;
    this.replicaId = options.replicaId;
    this.#chain = options.chain;
    this.#lastSequence = options.chain.count;
    this.#clock = options.clock;
    this.#encoder = new ResultEncoder(options.runId);
    this.#onLost = options.onLost;
    this.#seen = options.seen ?? 0;
    this.checkedAtMs = this.#seen > options.chain.count ? Number.NEGATIVE_INFINITY : options.clock.monotonicMs();
  }

  /** The number of results that wait for a batch. */
  get waitingRows(): number {
    return this.#waiting.length;
  }

  /** When the first text of the model came, on the monotonic clock; undefined before. */
  get firstTextMs(): number | undefined {
    return this.#firstTextMs;
  }

  /** The chain of the durable entries. */
  get chain(): LogChain {
    return this.#chain;
  }

  /** The sequence up to which entries were acknowledged: the log has to reach it. */
  get acknowledged(): number {
    return Math.max(this.#chain.count, this.#seen);
  }

  /** Why the run is lost; undefined while it is not. */
  get lost(): Fault | undefined {
    return this.#lost;
  }

  /** Whether a driver may add results without waiting. False when the run is lost. */
  get hasRoom(): boolean {
    return this.#lost === undefined && !this.#isFull;
  }

  /**
   * Adds a result, merged into the newest waiting one where possible. Returns whether it may wait for more text: a piece of a text
   * that flows, while one row has all that waits. Throws when the run is lost.
   */
  push(init: ResultInit): boolean {
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
    this.#waitingChars += textLength(init);
    const nowMs = this.#clock.monotonicMs();
    const isFlowing = isPiece(init) && nowMs - this.#pieceAtMs <= flowGapMaxMs;
    this.#pieceAtMs = isPiece(init) ? nowMs : Number.NEGATIVE_INFINITY;
    this.#noteText(init, nowMs);
    this.#add(init, nowMs);
    return isFlowing && this.#waiting.length === 1 && this.#waitingChars < mergeCharsMax;
  }

  #noteText({ payload }: ResultInit, nowMs: number): void {
    if (payload?.case === "messageCompleted" || (payload?.case === "messageDelta" && payload.value.chunk?.content)) {
      this.#firstTextMs ??= nowMs;
    }
  }

  #add(init: ResultInit, nowMs: number): void {
    const newest = this.#waiting.at(-1);
    if (newest !== undefined && nowMs - newest.bornMs <= mergeAgeMaxMs) {
      const merged = mergeResults(newest.init, init);
      if (merged !== undefined) {
        newest.init = merged;
        return;
      }
    }
    this.#waiting.push({ init, bornMs: nowMs });
  }

  /** Numbers up to `rowsMax` waiting results for a batch. */
  take(rowsMax: number): readonly LogEntry[] {
    const taken = this.#waiting.splice(0, rowsMax).map((waiting) => waiting.init);
    this.#waitingChars -= taken.reduce((sum, init) => sum + textLength(init), 0);
    this.#inFlight = this.#encode(taken);
    return this.#inFlight;
  }

  /**
   * Numbers the waiting results, and these after them: they are written without a batch. No result may be in flight. The waiting
   * ones stay until `advance`.
   */
  number(results: readonly ResultInit[]): LogEntry[] {
    for (const result of results) {
      this.#noteText(result, this.#clock.monotonicMs());
    }
    return this.#encode([...this.#waiting.map((waiting) => waiting.init), ...results]);
  }

  #encode(results: readonly ResultInit[]): LogEntry[] {
    const entries = this.#encoder.encode(results, { after: this.#lastSequence, timeMs: this.#clock.nowMs() });
    this.#lastSequence += entries.length;
    return entries;
  }

  /** Takes back the numbers of a transaction that did not commit. */
  unnumber(count: number): void {
    this.#lastSequence -= count;
  }

  /** Notes that these first entries of the batch in flight are durable. */
  settle(durable: readonly LogEntry[]): void {
    this.#chain.add(durable);
    this.#inFlight = this.#inFlight.slice(durable.length);
    this.#notify();
  }

  /** Sets the chain after a commit without a batch; it covers the committed entries too. Nothing waits any more. */
  advance(chain: LogChain): void {
    this.#chain = chain;
    this.#clearWaiting();
  }

  /** Drops everything and rejects waiting callers with the fault. Only the first call counts. */
  lose(fault: Fault): void {
    if (this.#lost !== undefined) {
      return;
    }
    this.#lost = fault;
    this.#clearWaiting();
    this.#inFlight = [];
    this.#notify();
    this.#onLost(fault);
  }

  /**
   * Returns undefined while there is room; else a promise that resolves when there is. The promise rejects when the run is
   * lost.
   */
  room(): Promise<void> | undefined {
    return this.#isFull ? this.#waitForRoom() : undefined;
  }

  /** Resolves when every pushed result is durable. Throws when the run is lost. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#change();
    }
    await this.landed();
  }

  /** Resolves when nothing is in flight. Throws when the run is lost. */
  async landed(): Promise<void> {
    while (this.#inFlight.length > 0) {
      await this.#change();
    }
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
  }

  #clearWaiting(): void {
    this.#waiting.length = 0;
    this.#waitingChars = 0;
  }

  get #isFull(): boolean {
    return this.#waiting.length > waitingRowsMax || this.#waitingChars > waitingCharsMax;
  }

  async #waitForRoom(): Promise<void> {
    while (this.#isFull) {
      await this.#change();
    }
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
  }

  /** Made on demand: mostly no caller waits. */
  #change(): Promise<void> {
    this.#changed ??= Promise.withResolvers<void>();
    return this.#changed.promise;
  }

  #notify(): void {
    this.#changed?.resolve();
    this.#changed = undefined;
  }
}
