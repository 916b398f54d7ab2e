// Writes the results of many runs over one connection. At most one INSERT is in flight. Results that arrive meanwhile form the
// next batch, so a lane needs no timer.
//
// L1  Results are offered to readers only after their batch has committed.
// L2  A batch that hits a lost lease writes nothing, and all its runs are lost.
// L3  A run that belongs to another replica costs only its own rows, never those of other runs in the batch.
// L4  After an error whose outcome is unknown, the lane reads from the log what was written, and writes only the rest again.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Connection, Connections } from "../../platform/database/database.ts";
import { isOutage, isUniqueViolation } from "../../platform/database/errors.ts";
import { insertResultsFenced, type RunRows, readPositions } from "../storage/run-result.ts";
import type { LogEntry } from "./result.ts";
import type { RunQueue } from "./run-queue.ts";

/** Without this maximum, batches grow until commits take seconds (measured: collapse at 400,000 results a second). */
const batchRowsMax = 3000;
const retryDelayMs = 100;
/** The maximum number of errors that are not the connection's; a batch that fails this often is refused. */
const refusalsMax = 3;

/** Options of a lane. */
export interface LaneOptions {
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
  readonly onError: (error: unknown) => void;
}

interface BatchPart {
  readonly queue: RunQueue;
  readonly entries: readonly LogEntry[];
}

/** One connection that writes batches. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #queues = new Set<RunQueue>();
  readonly #closing = new AbortController();
  #client: Connection | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Writes the waiting results of the queue with the next batch. */
  submit(queue: RunQueue): void {
    this.#queues.add(queue);
    this.#writing ??= this.#writeAll();
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
    // Only a closing lane leaves queues here.
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
    for (let refusals = 0; parts.length > 0; ) {
      try {
        await this.#insert(parts);
        return;
      } catch (error) {
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
        parts = await this.#reconcile(parts);
      }
    }
  }

  async #insert(parts: readonly BatchPart[]): Promise<void> {
    const replicaId = parts[0]?.queue.replicaId;
    if (replicaId === undefined) {
      return;
    }
    this.#client ??= await this.#connect();
    const runs = parts.map(rowsOf);
    const startedMs = this.#options.clock.monotonicMs();
    failpoint("lane.inserting");
    const inserting = insertResultsFenced(this.#client, { replicaId, runs });
    failpoint("lane.sent");
    if (await inserting) {
      failpoint("lane.answered");
      this.#options.onWritten?.({
        results: runs.reduce((sum, run) => sum + run.results.length, 0),
        durationMs: this.#options.clock.monotonicMs() - startedMs,
      });
      for (const part of parts) {
        this.#settle(part);
      }
      return;
    }
    if ((await this.#options.renewLease?.(replicaId)) === true) {
      return await this.#insert(parts);
    }
    this.#options.onLeaseLost(replicaId);
    for (const { queue } of parts) {
      queue.lose(leaseLost());
    }
  }

  /** Resolves the writer's callers before the readers: a caller never learns of its result from another source. */
  #settle({ queue, entries }: BatchPart): void {
    queue.settle(entries);
    failpoint("lane.settled");
    this.#options.onDurable(queue.runId, entries);
  }

  /** Reads which entries of a batch were written, and returns the parts that are still to be written. */
  async #reconcile(parts: readonly BatchPart[]): Promise<BatchPart[]> {
    const live = parts.filter(({ queue }) => queue.lost === undefined);
    let positions: Awaited<ReturnType<typeof readPositions>>;
    try {
      positions = await readPositions(
        this.#options.connections.db,
        live.map(({ queue }) => queue.runId),
      );
    } catch {
      // Postgres is away. If it stays away, the lease ends.
      return live;
    }
    const byRun = new Map(positions.map((position) => [position.runId, position]));
    return live.flatMap(({ queue, entries }) => {
      const position = byRun.get(queue.runId);
      if (position?.owner !== queue.replicaId || position.epoch !== queue.epoch) {
        queue.lose(runLost(queue.runId));
        return [];
      }
      const durable = entries.filter((entry) => entry.sequence <= position.lastSequence);
      const missing = entries.filter((entry) => entry.sequence > position.lastSequence);
      if (durable.length > 0) {
        queue.settle(durable);
        this.#options.onDurable(queue.runId, durable);
      }
      return missing.length > 0 ? [{ queue, entries: missing }] : [];
    });
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
    const client = await this.#options.connections.connect(this.#options.name);
    client.once("end", () => {
      if (this.#client === client) {
        this.#client = undefined;
      }
    });
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
