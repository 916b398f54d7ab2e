// The results of one owned run that are not durable yet, the counter that numbers them, and the hash chain over those that are.
//
// Q1  A result gets its sequence when it enters a batch, so numbers are given in the order of writing and never skipped.
// Q2  At most one batch of a run is in flight.
// Q3  After `lose` nothing of the run is written, and whoever waits hears why.
// Q4  The chain covers what is durable and nothing else, so nothing is ever taken back from it.

import type { Clock } from "../../platform/base/clock.ts";
import type { Fault } from "../../platform/base/fault.ts";
import type { LogChain } from "../hash-chain/chain.ts";
import { ResultEncoder } from "./encode.ts";
import { mergeAgeMaxMs, mergeResults, textLength } from "./merge.ts";
import type { LogEntry, ResultInit } from "./result.ts";

/** A driver that is this far ahead of the database waits: many small results, or a few large ones. */
const waitingRowsMax = 256;
const waitingCharsMax = 1_048_576;

export interface RunQueueOptions {
  readonly runId: string;
  readonly epoch: number;
  /** The lease under which this process owns the run. */
  readonly replicaId: string;
  /** Of the log as it stands. It is the queue's from here on. */
  readonly chain: LogChain;
  readonly clock: Clock;
  /** Called once when the run turns out to belong to somebody else. */
  readonly onLost: (fault: Fault) => void;
}

interface WaitingResult {
  init: ResultInit;
  readonly bornMs: number;
}

export class RunQueue {
  readonly runId: string;
  readonly epoch: number;
  readonly replicaId: string;
  readonly #clock: Clock;
  readonly #encoder: ResultEncoder;
  readonly #onLost: (fault: Fault) => void;
  readonly #waiting: WaitingResult[] = [];
  #waitingChars = 0;
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
  }

  get waitingRows(): number {
    return this.#waiting.length;
  }

  /** Of what is durable. */
  get chain(): LogChain {
    return this.#chain;
  }

  get lost(): Fault | undefined {
    return this.#lost;
  }

  push(init: ResultInit): void {
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
    this.#waitingChars += textLength(init);
    const nowMs = this.#clock.monotonicMs();
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
    this.#inFlight = this.number(taken);
    return this.#inFlight;
  }

  /** Numbers results that are written otherwise than by a batch; nothing may be waiting or in flight. */
  number(results: readonly ResultInit[]): LogEntry[] {
    const entries = this.#encoder.encode(results, { after: this.#lastSequence, timeMs: this.#clock.nowMs() });
    this.#lastSequence += entries.length;
    return entries;
  }

  /** Takes numbers back that were given for a transaction which did not commit. */
  unnumber(count: number): void {
    this.#lastSequence -= count;
  }

  /** These, the first ones of the batch in flight, are durable. */
  settle(durable: readonly LogEntry[]): void {
    this.#chain.add(durable);
    this.#inFlight = this.#inFlight.slice(durable.length);
    this.#notify();
  }

  /** What was numbered and written otherwise than by a batch is durable: this is the chain with it. */
  advance(chain: LogChain): void {
    this.#chain = chain;
  }

  lose(fault: Fault): void {
    if (this.#lost !== undefined) {
      return;
    }
    this.#lost = fault;
    this.#waiting.length = 0;
    this.#waitingChars = 0;
    this.#inFlight = [];
    this.#notify();
    this.#onLost(fault);
  }

  /** Undefined while the driver may go on; else resolves when it may. */
  room(): Promise<void> | undefined {
    return this.#isFull ? this.#waitForRoom() : undefined;
  }

  /** Resolves when everything that was pushed is durable. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#inFlight.length > 0) {
      await this.#change();
    }
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
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

  /** Mostly nobody waits, so the promise is made for whoever does. */
  #change(): Promise<void> {
    this.#changed ??= Promise.withResolvers<void>();
    return this.#changed.promise;
  }

  #notify(): void {
    this.#changed?.resolve();
    this.#changed = undefined;
  }
}
