// Maintains the database: creates partitions ahead of time, and deletes sessions, logs, rows and answers past their retention.
// One replica at a time makes a pass. Each part fails on its own and is tried again.

import { deleteNoncesOlderThan } from "../../platform/auth/storage/nonce.ts";
import { deleteTicketsOlderThan } from "../../platform/auth/storage/stream-ticket.ts";
import { type Clock, dayMs } from "../../platform/base/clock.ts";
import { lowestUuid } from "../../platform/base/ids.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { Db } from "../../platform/database/database.ts";
import { withMaintenanceLock } from "../../platform/database/maintenance-lock.ts";
import {
  countUnpartitionedResults,
  createPartitions,
  deleteUnpartitionedBefore,
  dropPartitionsBefore,
} from "../../platform/database/partition.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { deleteSettledCallbacks } from "../storage/callback.ts";
import { deleteIdleCheckpoints } from "../storage/checkpoint.ts";
import {
  deleteUsageBefore,
  type ErasableSession,
  eraseContents,
  erasedRowsMax,
  eraseSessions,
  listErasableSessions,
} from "../storage/erase.ts";
import { expireSessions, type SessionPlace } from "../storage/expire.ts";
import { deleteAnswersOlderThan } from "../storage/idempotency.ts";
import type { ExpiringRows, Retention } from "../storage/retention.ts";
import { deleteIdleToolCalls } from "../storage/tool-call.ts";
import { deleteUsageSums, foldEndedRuns } from "../storage/usage-sum.ts";
import type { Wakeup } from "./wakeup.ts";

/** The interval for sessions, which are kept for minutes: a minute late is in time. */
const intervalMs = 60_000;
/** The interval for rows that are kept for days. */
const slowIntervalMs = 10 * 60_000;
/** How many days ahead partitions are made: enough for a weekend without maintenance. */
const daysAhead = 7;
const answerAgeMaxMs = 24 * 3_600_000;
/** A signed request may be two minutes early or late: twice that, plus a minute until a clock that jumped is corrected. */
const nonceAgeMaxMs = 5 * 60_000;
/** A ticket is valid for a quarter of an hour. */
const ticketAgeMaxMs = 15 * 60_000;
/**
 * An ended run no longer needs its tool calls and its checkpoint. For this long, people can still inspect them after a failure.
 */
const leftoverAgeMaxMs = 3_600_000;
/** A quarter of a year, so that operators can settle accounts. */
const usageDaysMax = 90;
const sessionsPerTransaction = 500;
/** How many old sessions that are in use a pass looks at. The next pass goes on after them. */
const sessionsInUseMax = 10_000;
/** Sessions that are erased in one batch: small enough to stop between two batches. */
const sessionsPerBatch = 100;
/** The maximum number of batches in a pass. The rest waits for the next pass, so that the other parts get their turn. */
const batchesMax = 200;

/** Options of the maintenance. */
export interface MaintenanceOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly wakeup: Wakeup;
  readonly sessionTtlMinutes: number;
  readonly retentionDays: number;
  /** The longest time of a run: its log is needed that long. */
  readonly runTimeoutMs: number;
  readonly retention: readonly Retention[];
  /** Removes the work directory of a session that is erased. */
  readonly removeWorkDir: (session: ErasableSession) => Promise<void>;
}

/** A maintenance task with its own interval. */
interface Part {
  readonly name: string;
  readonly intervalMs: number;
  readonly work: (db: Db) => Promise<void>;
}

/** Runs the maintenance tasks whenever they are due. */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #loop: Loop;
  readonly #partitions: Part = { name: "partitions", intervalMs: slowIntervalMs, work: (db) => this.#partition(db) };
  readonly #parts: readonly Part[];
  readonly #dueAtMs = new Map<Part, number>();
  /** Where the next look for sessions to expire begins. */
  #expiredTo: SessionPlace | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: intervalMs,
      pass: () => this.#passDue(),
      onError: (error) => options.events.maintenanceFailed({ part: "lock", error }),
    });
    this.#parts = [
      { name: "sessions", intervalMs, work: (db) => this.#expire(db) },
      this.#partitions,
      { name: "logs", intervalMs: slowIntervalMs, work: (db) => this.#dropLogs(db) },
      { name: "answers", intervalMs: slowIntervalMs, work: deleteUsed },
      { name: "leftovers", intervalMs: slowIntervalMs, work: (db) => this.#dropLeftovers(db) },
      { name: "callbacks", intervalMs: slowIntervalMs, work: (db) => this.#dropCallbacks(db) },
      { name: "rows", intervalMs: slowIntervalMs, work: (db) => this.#erase(db) },
      { name: "usage", intervalMs, work: foldUsage },
      ...options.retention.flatMap(({ expiring = [] }) => expiring).map((rows) => this.#partOf(rows)),
    ];
  }

  /** Makes a first pass, so that a partition for today exists, and continues in the background. */
  async open(): Promise<void> {
    await this.#pass([this.#partitions]);
    this.#loop.open();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #passDue(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    await this.#pass(this.#parts.filter((part) => (this.#dueAtMs.get(part) ?? nowMs) <= nowMs));
  }

  async #pass(parts: readonly Part[]): Promise<void> {
    const { clock, db } = this.#options;
    try {
      await withMaintenanceLock(db, async (connection) => {
        for (const part of parts) {
          if (this.#loop.closing.aborted) {
            return;
          }
          await this.#attempt(part.name, () => part.work(connection));
          this.#dueAtMs.set(part, clock.monotonicMs() + part.intervalMs);
        }
      });
    } catch (error) {
      this.#options.events.maintenanceFailed({ part: "lock", error });
    }
  }

  /**
   * Logs a failure and goes on. Until the next pass the default partition takes results, and rows past their retention stay.
   */
  async #attempt(part: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.events.maintenanceFailed({ part, error });
    }
  }

  async #expire(db: Db): Promise<void> {
    const { events, sessionTtlMinutes, wakeup } = this.#options;
    const ageMs = sessionTtlMinutes * 60_000;
    for (let inUse = 0; inUse < sessionsInUseMax && !this.#loop.closing.aborted; ) {
      const args = { ageMs, after: this.#expiredTo, limit: sessionsPerTransaction };
      const { ids, next } = await db.transaction().execute((trx) => expireSessions(trx, args));
      this.#expiredTo = next;
      for (const key of ids) {
        // A reader that waits for the session's first run learns that none will start.
        wakeup.publish({ topic: "session", key, value: 0 });
      }
      if (ids.length > 0) {
        events.sessionsExpired({ sessions: ids.length });
      }
      if (next === undefined) {
        return;
      }
      inUse += sessionsPerTransaction - ids.length;
    }
  }

  async #partition(db: Db): Promise<void> {
    const { clock, events } = this.#options;
    // Counted first: such rows prevent the partition of their day from being created.
    const rows = await countUnpartitionedResults(db);
    if (rows > 0) {
      events.partitionMissed({ rows });
    }
    await createPartitions(db, { nowMs: clock.nowMs(), daysAhead });
  }

  async #dropLogs(db: Db): Promise<void> {
    const { clock, events, retentionDays, runTimeoutMs } = this.#options;
    const beforeMs = clock.nowMs() - retentionDays * dayMs - runTimeoutMs;
    const names = await dropPartitionsBefore(db, beforeMs);
    if (names.length > 0) {
      events.partitionsDropped({ names });
    }
    await this.#inBatches(erasedRowsMax, () => deleteUnpartitionedBefore(db, { beforeMs, limit: erasedRowsMax }));
  }

  async #dropLeftovers(db: Db): Promise<void> {
    const createdBefore = lowestUuid(Math.max(0, this.#options.clock.nowMs() - leftoverAgeMaxMs));
    const args = { endedMs: leftoverAgeMaxMs, createdBefore, limit: erasedRowsMax };
    await this.#inBatches(erasedRowsMax, () => deleteIdleToolCalls(db, args));
    await this.#inBatches(erasedRowsMax, () => deleteIdleCheckpoints(db, args));
  }

  async #dropCallbacks(db: Db): Promise<void> {
    const args = { keptMs: this.#options.retentionDays * dayMs, limit: erasedRowsMax };
    await this.#inBatches(erasedRowsMax, () => deleteSettledCallbacks(db, args));
  }

  /** Returns the lowest UUID with a time of so many days ago. */
  #lowestUuidOf(days: number): string {
    return lowestUuid(Math.max(0, this.#options.clock.nowMs() - days * dayMs));
  }

  #partOf({ name, days = 0, intervalMs = slowIntervalMs, deleteBatch }: ExpiringRows): Part {
    return {
      name,
      intervalMs,
      work: async (db) => {
        const createdBefore = this.#lowestUuidOf(days === "logs" ? this.#options.retentionDays : days);
        await this.#inBatches(erasedRowsMax, () => deleteBatch(db, { createdBefore, limit: erasedRowsMax }));
      },
    };
  }

  async #erase(db: Db): Promise<void> {
    const { events, retentionDays } = this.#options;
    const args = { keptMs: retentionDays * dayMs, limit: sessionsPerBatch };
    await this.#inBatches(sessionsPerBatch, async () => {
      const sessions = await listErasableSessions(db, args);
      if (sessions.length > 0) {
        events.sessionsErased({ sessions: sessions.length, runs: await this.#eraseBatch(db, sessions) });
      }
      return sessions.length;
    });
  }

  /** Removes the directories before the last rows that name them, so that a crash in between leaves no directory behind. */
  async #eraseBatch(db: Db, sessions: readonly ErasableSession[]): Promise<number> {
    const ids = sessions.map(({ id }) => id);
    const runs = await eraseContents(db, ids, this.#options.retention);
    for (const session of sessions) {
      await this.#attempt("work directories", () => this.#options.removeWorkDir(session));
    }
    await eraseSessions(db, ids);
    return runs;
  }

  /** Repeats `work` until a batch is not full, the maximum is reached, or the loop closes. */
  async #inBatches(full: number, work: () => Promise<number>): Promise<void> {
    for (let batch = 0; batch < batchesMax && !this.#loop.closing.aborted; batch++) {
      if ((await work()) < full) {
        return;
      }
    }
  }
}

async function foldUsage(db: Db): Promise<void> {
  await foldEndedRuns(db);
  await deleteUsageSums(db);
}

async function deleteUsed(db: Db): Promise<void> {
  await deleteAnswersOlderThan(db, answerAgeMaxMs);
  await deleteNoncesOlderThan(db, nonceAgeMaxMs);
  await deleteTicketsOlderThan(db, ticketAgeMaxMs);
  await deleteUsageBefore(db, usageDaysMax);
}
