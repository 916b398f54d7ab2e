// Keeps the store in shape: partitions ahead of time; sessions, logs, rows and answers out when their time is over. One
// pass at a time over the cluster. Each part fails by itself and comes again.

import { deleteNoncesOlderThan } from "../../platform/auth/storage/nonce.ts";
import { deleteTicketsOlderThan } from "../../platform/auth/storage/stream-ticket.ts";
import type { Clock } from "../../platform/base/clock.ts";
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
import { expireSessions } from "../storage/expire.ts";
import { deleteAnswersOlderThan } from "../storage/idempotency.ts";
import type { ExpiringRows, Retention } from "../storage/retention.ts";
import { deleteIdleToolCalls } from "../storage/tool-call.ts";
import type { Wakeup } from "./wakeup.ts";

/** Sessions are kept for minutes, so a minute late is on time. */
const intervalMs = 60_000;
/** What is kept for days. */
const slowIntervalMs = 10 * 60_000;
/** Enough passes for a weekend without maintenance. */
const daysAhead = 7;
const answerAgeMaxMs = 24 * 3_600_000;
/** Twice the two minutes by which a signed request may be early or late, and a minute until a clock that jumped is set. */
const nonceAgeMaxMs = 5 * 60_000;
/** The quarter of an hour for which a ticket is good. */
const ticketAgeMaxMs = 15 * 60_000;
/** A run that has ended reads its calls and its checkpoint no more; for a while people may, who ask what went wrong. */
const leftoverAgeMaxMs = 3_600_000;
/** A quarter, for whoever settles accounts. */
const usageDaysMax = 90;
const dayMs = 86_400_000;
const sessionsPerTransaction = 500;
/** Sessions whose rows go together: small enough to stop between two batches. */
const sessionsPerBatch = 100;
/** Most batches of a pass; the rest waits for the next one, and meanwhile the other parts have their turn. */
const batchesMax = 200;

export interface MaintenanceOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly wakeup: Wakeup;
  readonly sessionTtlMinutes: number;
  readonly retentionDays: number;
  /** A log is needed as long as its run can last. */
  readonly runTimeoutMs: number;
  readonly retention: readonly Retention[];
  /** Removes what lies outside the database for a session that goes for good. */
  readonly removeWorkDir: (session: ErasableSession) => Promise<void>;
}

/** A piece of upkeep with a rhythm of its own. */
interface Part {
  readonly name: string;
  readonly intervalMs: number;
  readonly work: (db: Db) => Promise<void>;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #loop: Loop;
  readonly #partitions: Part = { name: "partitions", intervalMs: slowIntervalMs, work: (db) => this.#partition(db) };
  readonly #parts: readonly Part[];
  readonly #dueAtMs = new Map<Part, number>();

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
      ...options.retention.flatMap(({ expiring = [] }) => expiring).map((rows) => this.#partOf(rows)),
    ];
  }

  /** Makes a first pass, so that there is a partition for today, and goes on in the background. */
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

  /** The default partition takes results meanwhile, and what was not deleted is deleted later. */
  async #attempt(part: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.events.maintenanceFailed({ part, error });
    }
  }

  async #expire(db: Db): Promise<void> {
    const { events, sessionTtlMinutes, wakeup } = this.#options;
    const args = { ageMs: sessionTtlMinutes * 60_000, limit: sessionsPerTransaction };
    await this.#inBatches(sessionsPerTransaction, async () => {
      const expired = await db.transaction().execute((trx) => expireSessions(trx, args));
      for (const key of expired) {
        // A reader that waits for a first message learns that there will be none.
        wakeup.publish({ topic: "session", key, value: 0 });
      }
      if (expired.length > 0) {
        events.sessionsExpired({ sessions: expired.length });
      }
      return expired.length;
    });
  }

  async #partition(db: Db): Promise<void> {
    const { clock, events } = this.#options;
    // First: such rows keep the partition of their day from being made.
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

  /** Of so many days ago. */
  #lowestUuidOf(days: number): string {
    return lowestUuid(Math.max(0, this.#options.clock.nowMs() - days * dayMs));
  }

  #partOf({ name, days = 0, intervalMs = slowIntervalMs, deleteBatch }: ExpiringRows): Part {
    return {
      name,
      intervalMs,
      work: async (db) => {
        const createdBefore = this.#lowestUuidOf(days);
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

  /** The directories go before the last rows that tell of them, so that a crash in between forgets none. */
  async #eraseBatch(db: Db, sessions: readonly ErasableSession[]): Promise<number> {
    const ids = sessions.map(({ id }) => id);
    const runs = await eraseContents(db, ids, this.#options.retention);
    for (const session of sessions) {
      await this.#attempt("work directories", () => this.#options.removeWorkDir(session));
    }
    await eraseSessions(db, ids);
    return runs;
  }

  /** Until a batch is not full any more, or it is time for something else. */
  async #inBatches(full: number, work: () => Promise<number>): Promise<void> {
    for (let batch = 0; batch < batchesMax && !this.#loop.closing.aborted; batch++) {
      if ((await work()) < full) {
        return;
      }
    }
  }
}

async function deleteUsed(db: Db): Promise<void> {
  await deleteAnswersOlderThan(db, answerAgeMaxMs);
  await deleteNoncesOlderThan(db, nonceAgeMaxMs);
  await deleteTicketsOlderThan(db, ticketAgeMaxMs);
  await deleteUsageBefore(db, usageDaysMax);
}
