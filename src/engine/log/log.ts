// The durable log of all runs, as seen by one replica. Opens writers for the runs it owns, and announces durable results: it
// wakes readers here at once and notifies other replicas.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Fault } from "../../platform/base/fault.ts";
import { describeRunEnd } from "../../platform/base/run-end.ts";
import type { Connections } from "../../platform/database/database.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { LogChain } from "../hash-chain/chain.ts";
import { AppendCount } from "./append-count.ts";
import { BatchWriter, runLost } from "./batch-writer.ts";
import type { Broadcaster } from "./broadcaster.ts";
import { markLostResults } from "./lost-results.ts";
import { PieceWait } from "./piece-wait.ts";
import type { LogEntry } from "./result.ts";
import { RunQueue } from "./run-queue.ts";
import type { Wakeup } from "./wakeup.ts";
import { RunWriter } from "./writer.ts";

/** Two batch writers hide one fsync behind the other; more bring nothing (measured with 1, 2 and 4). */
const batchWriterCount = 2;
/** Far more ends than a standby lags behind. */
const endsMax = 10_000;

/** Options of the log. */
export interface ResultLogOptions {
  readonly connections: Connections;
  readonly clock: Clock;
  readonly broadcaster: Broadcaster;
  readonly wakeup: Wakeup;
  /** How long pieces of a text that flows wait for each other, in milliseconds; unset and 0 mean not at all. */
  readonly pieceWaitMs?: number;
  /** See `BatchWriterOptions`. */
  readonly renewLease?: (replicaId: string) => Promise<boolean>;
  readonly onLeaseLost: (replicaId: string) => void;
  readonly onError: (error: unknown) => void;
  readonly events?: Pick<Events, "batchWritten" | "resultsLost" | "runFinished">;
}

/** A run that this replica owns. */
export interface OpenRun {
  readonly runId: string;
  readonly epoch: number;
  readonly replicaId: string;
  /** The chain of the log so far: a new one for a run without entries, else the result of `readStoredChain`. */
  readonly chain: LogChain;
  readonly onLost: (fault: Fault) => void;
}

/** The log of all runs: writers for owned runs, and announcements of durable results. */
export class ResultLog {
  readonly #options: ResultLogOptions;
  readonly #batchWriters: readonly BatchWriter[];
  readonly #pieceWait: PieceWait;
  readonly #appended = new AppendCount();
  /** The last sequences of the newest runs that ended. */
  readonly #ends = new Map<string, number>();

  constructor(options: ResultLogOptions) {
    this.#options = options;
    this.#batchWriters = Array.from(
      { length: batchWriterCount },
      (_, index) =>
        new BatchWriter({
          name: `batchWriter ${index + 1}`,
          connections: options.connections,
          clock: options.clock,
          onDurable: (runId, entries) => this.announce(runId, entries),
          onWritten: (batch) => options.events?.batchWritten(batch),
          renewLease: options.renewLease,
          onLeaseLost: options.onLeaseLost,
          onShortLog: (queue) => this.#markLost(queue),
          onError: options.onError,
        }),
    );
    this.#pieceWait = new PieceWait({
      waitMs: options.pieceWaitMs ?? 0,
      clock: options.clock,
      submit: (queue) => this.#batchWriterOf(queue.runId).submit(queue),
    });
    options.broadcaster.onReader((runId) => this.#pieceWait.release(runId));
  }

  /** Returns the writer of a run that this replica owns. */
  open(run: OpenRun): RunWriter {
    const { connections, clock, broadcaster, renewLease, onLeaseLost, onError } = this.#options;
    return new RunWriter({
      queue: new RunQueue({ ...run, seen: broadcaster.heard(run.runId) ?? 0, clock }),
      batchWriter: this.#batchWriterOf(run.runId),
      pieceWait: this.#pieceWait,
      connections,
      clock,
      onDurable: (runId, entries) => this.announce(runId, entries),
      renewLease,
      onLeaseLost,
      onShortLog: (queue) => this.#markLost(queue),
      onError,
    });
  }

  /** Returns how many results this process made durable, by type. */
  countAppended(): Iterable<readonly [type: string, count: number]> {
    return this.#appended.byType();
  }

  /** Offers durable entries to the readers of all replicas. Call it once for each entry, after the commit and never before. */
  announce(runId: string, entries: readonly LogEntry[]): void {
    const newest = entries.at(-1);
    if (newest === undefined) {
      return;
    }
    this.#options.broadcaster.publish(runId, entries);
    failpoint("announce.published");
    this.#options.wakeup.publish({ topic: "result", key: runId, value: newest.sequence });
    this.#appended.add(entries);
    if (newest.terminal) {
      this.#keepEnd(runId, newest.sequence);
      this.#options.events?.runFinished({ runId, ...describeRunEnd(newest.result) });
    }
  }

  /** Returns the last sequence of a run whose end this process announced lately; undefined for other runs. */
  acknowledgedEnd(runId: string): number | undefined {
    return this.#ends.get(runId);
  }

  #keepEnd(runId: string, sequence: number): void {
    this.#ends.set(runId, sequence);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > endsMax && oldest !== undefined) {
      this.#ends.delete(oldest);
    }
  }

  /** Marks the acknowledged results that the database has lost, and loses the run. */
  async #markLost(queue: RunQueue): Promise<void> {
    const { connections, clock, events } = this.#options;
    const { found, entries } = await connections.db
      .transaction()
      .execute((trx) => markLostResults(trx, queue, clock.nowMs()));
    queue.lose(runLost(queue.runId));
    events?.resultsLost({ runId: queue.runId, acknowledged: queue.acknowledged, found });
    this.announce(queue.runId, entries);
  }

  async close(): Promise<void> {
    this.#pieceWait.close();
    await Promise.all(this.#batchWriters.map((batchWriter) => batchWriter.close()));
  }

  /**
   * Returns the batch writer of a run. The last digits of its id are random, so runs spread evenly, and each run stays with its
   * batch writer.
   */
  #batchWriterOf(runId: string): BatchWriter {
    const batchWriter = this.#batchWriters[Number.parseInt(runId.slice(-8), 16) % batchWriterCount];
    if (batchWriter === undefined) {
      throw new Error(`no batchWriter for run ${runId}`);
    }
    return batchWriter;
  }
}
