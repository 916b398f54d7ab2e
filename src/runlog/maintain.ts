// Keeps the store in shape: partitions ahead of time, old logs and answers out. One pass at a time over the cluster.

import type { Clock } from "../base/clock.ts";
import type { Db } from "../storage/database.ts";
import { deleteAnswersOlderThan } from "../storage/idempotency.ts";
import { withMaintenanceLock } from "../storage/maintenance-lock.ts";
import { deleteNoncesOlderThan } from "../storage/nonce.ts";
import { countUnpartitionedResults, createPartitions, dropPartitionsBefore } from "../storage/partition.ts";
import { deleteTicketsOlderThan } from "../storage/stream-ticket.ts";
import type { Events } from "../telemetry/events.ts";

const intervalMs = 10 * 60_000;
/** Enough passes for a weekend without maintenance. */
const daysAhead = 7;
const answerAgeMaxMs = 24 * 3_600_000;
/** Twice the two minutes by which a signed request may be early or late, and a minute for clocks that disagree. */
const nonceAgeMaxMs = 5 * 60_000;
/** The quarter of an hour for which a ticket is good. */
const ticketAgeMaxMs = 15 * 60_000;
const dayMs = 86_400_000;

export interface MaintenanceOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly retentionDays: number;
  /** A log is needed as long as its run can last. */
  readonly runTimeoutMs: number;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #closing = new AbortController();
  #working: Promise<void> | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Makes a first pass, so that there is a partition for today, and goes on in the background. */
  async open(): Promise<void> {
    await this.#pass();
    this.#working = this.#work();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#closing.signal.aborted) {
      await clock.sleep(intervalMs, this.#closing.signal);
      if (!this.#closing.signal.aborted) {
        await this.#pass();
      }
    }
  }

  async #pass(): Promise<void> {
    try {
      await withMaintenanceLock(this.#options.db, (db) => this.#maintain(db));
    } catch (error) {
      // The default partition takes results meanwhile; the next pass tries again.
      this.#options.events.maintenanceFailed({ part: "partitions", error });
    }
  }

  async #maintain(db: Db): Promise<void> {
    const { clock, events, retentionDays, runTimeoutMs } = this.#options;
    const nowMs = clock.nowMs();
    // First: such rows keep the partition of their day from being made.
    const rows = await countUnpartitionedResults(db);
    if (rows > 0) {
      events.partitionMissed({ rows });
    }
    await createPartitions(db, { nowMs, daysAhead });
    await dropPartitionsBefore(db, nowMs - retentionDays * dayMs - runTimeoutMs);
    await deleteAnswersOlderThan(db, answerAgeMaxMs);
    await deleteNoncesOlderThan(db, nonceAgeMaxMs);
    await deleteTicketsOlderThan(db, ticketAgeMaxMs);
  }
}
