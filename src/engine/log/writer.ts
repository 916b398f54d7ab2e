// Writes the log of one owned run. `append` is for results without side effects and uses a batch writer. `commit` writes results
// and effects in one transaction. `tryLast` and `transact` end the run or hand it on. At most one of these is in flight, so a
// reader never sees n + 1 before n. `commit` and `tryLast` write the results that wait for a batch with their own.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Connections, Transaction } from "../../platform/database/database.ts";
import { retryOutages } from "../../platform/database/errors.ts";
import type { LogChain } from "../hash-chain/chain.ts";
import { lockOwnRun, type RunRow } from "../storage/run.ts";
import { insertResults, lastSequence, type ResultRow } from "../storage/run-result.ts";
import { type BatchWriter, leaseLost, runLost } from "./batch-writer.ts";
import type { PieceWait } from "./piece-wait.ts";
import type { LogEntry, ResultInit } from "./result.ts";
import type { RunQueue } from "./run-queue.ts";

/** Results written by a transaction. */
export interface WrittenResults {
  readonly sequences: readonly number[];
  /** The chain of the log including these results. */
  readonly chain: LogChain;
}

/** Writes rows in the transaction of results, whose sequences it gets. Must be repeatable. */
export type Effects = (trx: Transaction, written: WrittenResults) => Promise<void>;

/** Options of the writer. */
export interface WriterOptions {
  readonly queue: RunQueue;
  readonly batchWriter: BatchWriter;
  readonly pieceWait: PieceWait;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly onDurable: (runId: string, entries: readonly LogEntry[]) => void;
  /** See `BatchWriterOptions`. */
  readonly renewLease?: ((replicaId: string) => Promise<boolean>) | undefined;
  readonly onLeaseLost: (replicaId: string) => void;
  /** See `BatchWriterOptions`. */
  readonly onShortLog: (queue: RunQueue) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The writer of one owned run. */
export class RunWriter {
  readonly #options: WriterOptions;
  readonly #queue: RunQueue;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#queue = options.queue;
  }

  /** When this writer got the run's first text, on the monotonic clock; undefined before. */
  get firstTextMs(): number | undefined {
    return this.#queue.firstTextMs;
  }

  /**
   * Hands a result to the batch writer. Returns undefined when the driver may go on at once; else a promise that resolves when it
   * may. Both are before the result is durable. Throws when the run is lost.
   */
  append(result: ResultInit): Promise<void> | undefined {
    this.#put(result);
    return this.#queue.room();
  }

  /** Hands a result to the batch writer if there is room. Returns false when it has not, or when the run is lost. */
  tryAppend(result: ResultInit): boolean {
    if (this.#queue.hasRoom) {
      this.#put(result);
      return true;
    }
    return false;
  }

  /** Resolves when every appended result is durable. Throws when the run is lost. */
  async flush(): Promise<void> {
    this.#submit();
    await this.#queue.flush();
  }

  /** Writes results and effects in one transaction. Resolves when they are durable. Throws when the run is lost. */
  async commit(results: readonly ResultInit[], effects: Effects): Promise<void> {
    await this.#withdraw();
    const entries = this.#queue.number(results);
    const chain = this.#queue.chain.with(entries);
    const sequences = entries.slice(entries.length - results.length).map(({ sequence }) => sequence);
    try {
      await this.#untilKnown(entries, () => this.#transact(entries, (trx) => effects(trx, { sequences, chain })));
    } catch (error) {
      this.#queue.unnumber(entries.length);
      throw error;
    }
    this.#queue.advance(chain);
    failpoint("commit.committed");
    this.#options.onDurable(this.#queue.runId, entries);
  }

  /**
   * Runs a last transaction under this writer's ownership, such as the terminal result or the hand-over of the run. Locks and
   * checks the run before `work`, which gets the chain of the log so far.
   */
  async transact<T>(work: (trx: Transaction, run: RunRow, chain: LogChain) => Promise<T>): Promise<T> {
    await this.flush();
    return await this.#retried(() =>
      this.#options.connections.db
        .transaction()
        .execute(async (trx) => work(trx, await this.#lock(trx), this.#queue.chain)),
    );
  }

  /**
   * Writes the last results by one statement, which checks itself whether this replica still owns the run. Returns undefined
   * when it wrote nothing or its outcome is unknown; the caller then uses `transact`, which finds out.
   */
  async tryLast(
    results: readonly ResultInit[],
    write: (rows: readonly ResultRow[], logHash: Uint8Array) => Promise<boolean>,
  ): Promise<readonly LogEntry[] | undefined> {
    await this.#withdraw();
    const entries = this.#queue.number(results);
    const chain = this.#queue.chain.with(entries);
    try {
      if (await write(this.#rowsOf(entries), chain.value)) {
        this.#queue.advance(chain);
        return entries;
      }
    } catch (error) {
      this.#options.onError(error);
    }
    this.#queue.unnumber(entries.length);
    return undefined;
  }

  /** Gives the run up without asking the database: another replica owns it by now. */
  abandon(): void {
    this.#queue.lose(leaseLost());
  }

  #put(result: ResultInit): void {
    const { pieceWait } = this.#options;
    if (this.#queue.push(result) && pieceWait.isOn) {
      pieceWait.add(this.#queue);
    } else {
      this.#submit();
    }
  }

  #submit(): void {
    const { batchWriter, pieceWait } = this.#options;
    pieceWait.withdraw(this.#queue);
    batchWriter.submit(this.#queue);
  }

  /** Keeps what waits out of batches, so that the caller can write it. Resolves when nothing is in flight. */
  async #withdraw(): Promise<void> {
    const { batchWriter, pieceWait } = this.#options;
    pieceWait.withdraw(this.#queue);
    batchWriter.withdraw(this.#queue);
    await this.#queue.landed();
  }

  async #transact(entries: readonly LogEntry[], effects: (trx: Transaction) => Promise<void>): Promise<void> {
    await this.#options.connections.db.transaction().execute(async (trx) => {
      await this.#lock(trx);
      await insertResults(trx, this.#rowsOf(entries));
      await effects(trx);
    });
  }

  #rowsOf(entries: readonly LogEntry[]): ResultRow[] {
    const { runId, epoch } = this.#queue;
    return entries.map(({ sequence, bytes }) => ({ runId, sequence, epoch, payload: bytes }));
  }

  /** Locks the lease and the run, and checks that this replica still holds both. */
  async #lock(trx: Transaction): Promise<RunRow> {
    const { runId, epoch, replicaId } = this.#queue;
    const run = await lockOwnRun(trx, { id: runId, replicaId });
    if (run?.is_held === false) {
      throw new LeaseEnded();
    }
    if (run === undefined || run.epoch !== epoch || run.owner !== replicaId) {
      throw this.#lose(runLost(runId));
    }
    if (run.log_length < this.#queue.acknowledged) {
      throw new LogIsShort();
    }
    return run;
  }

  #lose(fault: ReturnType<typeof runLost>): typeof fault {
    this.#queue.lose(fault);
    return fault;
  }

  /** Repeats a transaction whose outcome is unknown, unless its results are in the log already. */
  async #untilKnown(entries: readonly LogEntry[], work: () => Promise<void>): Promise<void> {
    let repeated = false;
    await this.#retried(async () => {
      const last = entries.at(-1)?.sequence;
      if (repeated && last !== undefined && (await this.#reached(last))) {
        return;
      }
      repeated = true;
      await work();
    });
  }

  /** Returns whether the log has the sequence: while this replica owns the run, only this writer writes its log. */
  async #reached(sequence: number): Promise<boolean> {
    return await this.#options.connections.db.transaction().execute(async (trx) => {
      await this.#lock(trx);
      return (await lastSequence(trx, this.#queue.runId)) >= sequence;
    });
  }

  /** Retries through outages. This ends even when the database stays away: the lease expires, and the run is lost. */
  async #retried<T>(work: () => Promise<T>): Promise<T> {
    const { clock, onError } = this.#options;
    return await retryOutages(() => this.#underLease(work), { clock, onOutage: onError });
  }

  /** Repeats the work when the lease had expired and can be renewed. Throws when the run is lost. */
  async #underLease<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#queue.lost !== undefined) {
        throw this.#queue.lost;
      }
      try {
        return await work();
      } catch (error) {
        if (error instanceof LeaseEnded) {
          await this.#renewLease();
        } else if (error instanceof LogIsShort) {
          await this.#options.onShortLog(this.#queue);
        } else {
          throw error;
        }
      }
    }
  }

  async #renewLease(): Promise<void> {
    const { replicaId } = this.#queue;
    if ((await this.#options.renewLease?.(replicaId)) !== true) {
      this.#options.onLeaseLost(replicaId);
      throw this.#lose(leaseLost());
    }
  }
}

/** Nothing was written: the lease has expired and has to be renewed first, if possible. */
class LeaseEnded extends Error {
  override readonly name = "LeaseEnded";
}

/** Nothing was written: the database has lost acknowledged results of the run. */
class LogIsShort extends Error {
  override readonly name = "LogIsShort";
}
