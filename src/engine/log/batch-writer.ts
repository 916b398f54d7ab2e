// Writes the results of many runs over one connection. At most one INSERT is in flight. Results that arrive meanwhile form the
// next batch, so a batch writer needs no timer.
//
// L1  Results are offered to readers only after their batch has committed.
// L2  A batch that hits a lost lease writes nothing, and all its runs are lost.
// L3  A run that belongs to another replica costs only its own rows, never those of other runs in the batch.
// L4  After an error whose outcome is unknown, the batch writer reads from the log what was written, and writes only the rest
//     again. It reads by a commit, which waits for synchronous standbys as the batch does.
// L5  On a new connection the batch writer writes results of an older run only after a check that the log reaches what was
//     acknowledged: a promoted standby may have lost some. Without a new connection, a database loses nothing.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Connection, Connections } from "../../platform/database/database.ts";
import { isOutage, isUniqueViolation } from "../../platform/database/errors.ts";
import { insertResultsFenced, type RunPosition, type RunRows, readPositions } from "../storage/run-result.ts";
import type { LogEntry } from "./result.ts";
import type { RunQueue } from "./run-queue.ts";

/** Without this maximum, batches grow until commits take seconds (measured: collapse at 400,000 results a second). */
const batchRowsMax = 3000;
const retryDelayMs = 100;
/** The maximum number of errors that are not the connection's; a batch that fails this often is refused. */
const refusalsMax = 3;

/** Options of a batch writer. */
export interface BatchWriterOptions {
  readonly name: string;
  readonly connections: Connections;
  readonly clock: Clock;
  /** Called when entries of a run are durable. */
  readonly onDurable: (runId: string, entries: readonly LogEntry[]) => void;
  /** Called after each commit of a batch. */
  readonly onWritten?: (batch: { readonly results: number; readonly durationMs: number }) => void;
  /**
   * Called when the lease had expired at a write, as happens during a database outage. Returns true when the lease is renewed,
   * because no other replica took over. Without this function an expired lease is lost.
   */
  readonly renewLease?: ((replicaId: string) => Promise<boolean>) | undefined;
  /** Called when the replica's lease is lost. */
  readonly onLeaseLost: (replicaId: string) => void;
  /** Called when the log has lost acknowledged results. Marks them and loses the run. */
  readonly onShortLog: (queue: RunQueue) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

interface BatchPart {
  readonly queue: RunQueue;
  readonly entries: readonly LogEntry[];
}

/** One connection that writes batches. */
export class BatchWriter {
  readonly #options: BatchWriterOptions;
  readonly #queues = new Set<RunQueue>();
  readonly #closing = new AbortController();
  #client: Connection | undefined;
  /** When the connection was opened, on the monotonic clock. */
  #connectedAtMs = 0;
  #writing: Promise<void> | undefined;

  constructor(options: BatchWriterOptions) {
    this.#options = options;
  }

  /** Writes the waiting results of the queue, if it has any, with the next batch. */
  submit(queue: RunQueue): void {
    if (queue.waitingRows === 0) {
      return;
    }
    this.#queues.add(queue);
    this.#writing ??= this.#writeAll();
  }

  /** Leaves the waiting results of the queue to the caller. */
  withdraw(queue: RunQueue): void {
    this.#queues.delete(queue);
  }

  /** Waits for the batch in flight and drops the connection. Flush the runs first: what still waits is lost. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    await this.#client?.end().catch(() => {});
  }

  async #writeAll(): Promise<void> {
    // Results of other runs within this turn of the event loop share the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queues.size > 0 && !this.#closing.signal.aborted) {
      await this.#write(this.#takeBatch());
    }
    // Only a closing batch writer leaves queues here.
    for (const queue of this.#queues) {
      queue.lose(new Fault("INTERNAL", `the log closed before run ${queue.runId}`));
    }
    this.#queues.clear();
    this.#writing = undefined;
  }

  /** Takes the next batch. It belongs to one lease: a queue of an earlier lease was lost with it. */
  #takeBatch(): BatchPart[] {
    const parts: BatchPart[] = [];
    let rows = 0;
    let replicaId: string | undefined;
    for (const queue of this.#queues) {
      if (rows >= batchRowsMax) {
        break;
      }
      if (replicaId !== undefined && queue.replicaId !== replicaId) {
        continue;
      }
      this.#queues.delete(queue);
      if (queue.lost !== undefined) {
        continue;
      }
      replicaId = queue.replicaId;
      const entries = this.#take(queue, batchRowsMax - rows);
      rows += entries.length;
      parts.push({ queue, entries });
      // A queue with more results waits behind the other queues.
      if (queue.waitingRows > 0) {
        this.#queues.add(queue);
      }
    }
    return parts;
  }

  /** A result that cannot be encoded is a defect of its run's driver: only this run is lost. */
  #take(queue: RunQueue, rowsMax: number): readonly LogEntry[] {
    try {
      return queue.take(rowsMax);
    } catch (cause) {
      this.#options.onError(cause);
      queue.lose(new Fault("INTERNAL", `a result of run ${queue.runId} cannot be encoded`, { cause }));
      return [];
    }
  }

  async #write(batch: readonly BatchPart[]): Promise<void> {
    let parts = batch;
    let isDoubted = false;
    for (let refusals = 0; parts.length > 0; ) {
      try {
        const client = await this.#connect();
        parts = await this.#check(client, parts, isDoubted);
        isDoubted = !(await this.#insert(client, parts));
        if (!isDoubted) {
          return;
        }
      } catch (error) {
        isDoubted = true;
        const isOver = this.#closing.signal.aborted;
        if (!isOver) {
          this.#options.onError(error);
        }
        if (isOutage(error)) {
          this.#dropConnection();
        } else {
          refusals++;
        }
        if (isOver || refusals >= refusalsMax) {
          this.#refuse(parts, error);
          return;
        }
        if (!isUniqueViolation(error)) {
          await this.#options.clock.sleep(retryDelayMs, this.#closing.signal);
        }
      }
    }
  }

  /** Returns false when nothing was written, and the lease was renewed. */
  async #insert(client: Connection, parts: readonly BatchPart[]): Promise<boolean> {
    const replicaId = parts[0]?.queue.replicaId;
    if (replicaId === undefined) {
      return true;
    }
    const runs = parts.map(rowsOf);
    const startedMs = this.#options.clock.monotonicMs();
    failpoint("batch.inserting");
    const inserting = insertResultsFenced(client, { replicaId, runs });
    failpoint("batch.sent");
    if (await inserting) {
      failpoint("batch.answered");
      this.#options.onWritten?.({
        results: runs.reduce((sum, run) => sum + run.results.length, 0),
        durationMs: this.#options.clock.monotonicMs() - startedMs,
      });
      for (const part of parts) {
        this.#settle(part);
      }
      return true;
    }
    if ((await this.#options.renewLease?.(replicaId)) === true) {
      return false;
    }
    this.#options.onLeaseLost(replicaId);
    for (const { queue } of parts) {
      queue.lose(leaseLost());
    }
    return true;
  }

  /** Resolves the writer's callers before the readers: a caller never learns of its result from another source. */
  #settle({ queue, entries }: BatchPart): void {
    queue.settle(entries);
    failpoint("batch.settled");
    this.#options.onDurable(queue.runId, entries);
  }

  /** Returns the parts that are still to be written. Asks the log about all runs when in doubt, else about unchecked ones. */
  async #check(client: Connection, parts: readonly BatchPart[], isDoubted: boolean): Promise<readonly BatchPart[]> {
    const unchecked = parts.filter(({ queue }) => isDoubted || queue.checkedAtMs <= this.#connectedAtMs);
    if (unchecked.length === 0) {
      return parts;
    }
    return [...parts.filter((part) => !unchecked.includes(part)), ...(await this.#reconcile(client, unchecked))];
  }

  /** Reads which entries of a batch were written, and returns the parts that are still to be written. */
  async #reconcile(client: Connection, parts: readonly BatchPart[]): Promise<BatchPart[]> {
    const live = parts.filter(({ queue }) => queue.lost === undefined);
    const positions = await readPositions(
      client,
      live.map(({ queue }) => queue.runId),
    );
    const byRun = new Map(positions.map((position) => [position.runId, position]));
    const missing: BatchPart[] = [];
    for (const part of live) {
      missing.push(...(await this.#reconcileRun(part, byRun.get(part.queue.runId))));
    }
    return missing;
  }

  async #reconcileRun({ queue, entries }: BatchPart, position: RunPosition | undefined): Promise<BatchPart[]> {
    const last = position?.lastSequence ?? 0;
    if (last < queue.acknowledged) {
      await this.#options.onShortLog(queue);
      return [];
    }
    if (position?.owner !== queue.replicaId || position.epoch !== queue.epoch) {
      queue.lose(runLost(queue.runId));
      return [];
    }
    queue.checkedAtMs = this.#options.clock.monotonicMs();
    // A check that was broken off has settled some of them already.
    const durable = entries.filter(({ sequence }) => sequence <= last && sequence > queue.chain.count);
    const missing = entries.filter((entry) => entry.sequence > last);
    if (durable.length > 0) {
      queue.settle(durable);
      this.#options.onDurable(queue.runId, durable);
    }
    return missing.length > 0 ? [{ queue, entries: missing }] : [];
  }

  #refuse(parts: readonly BatchPart[], cause: unknown): void {
    for (const { queue } of parts) {
      queue.lose(new Fault("INTERNAL", `the log refused results of run ${queue.runId}`, { cause }));
    }
  }

  /** Drops the connection without waiting. A failed connection may hang until TCP gives up, and every statement on it too. */
  #dropConnection(): void {
    void this.#client?.end().catch(() => {});
    this.#client = undefined;
  }

  async #connect(): Promise<Connection> {
    if (this.#client !== undefined) {
      return this.#client;
    }
    const client = await this.#options.connections.connect(this.#options.name);
    client.once("end", () => {
      if (this.#client === client) {
        this.#client = undefined;
      }
    });
    this.#client = client;
    this.#connectedAtMs = this.#options.clock.monotonicMs();
    return client;
  }
}

/** Returns the fault for a run whose replica lost its lease. */
export function leaseLost(): Fault {
  return new Fault("LEASE_LOST", "this replica lost its lease; another replica continues its runs");
}

/** Returns the fault for a run that another replica has taken over. */
export function runLost(runId: string): Fault {
  return new Fault("RUN_LOST", `run ${runId} belongs to another replica now`);
}

function rowsOf({ queue: { runId, epoch }, entries }: BatchPart): RunRows {
  return { runId, epoch, results: entries };
}
