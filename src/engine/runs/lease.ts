// This replica's lease: the right to write, renewed while the process is well. Losing it is normal: the replica takes a
// new id and serves on, and whoever took over goes on with its runs.
//
// E1  Whether the lease holds is decided by the database at each write; what this process believes only saves work.
// E2  A replica id is never used again after it was lost.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { ClockReading } from "../../platform/base/synced-clock.ts";
import type { Db } from "../../platform/database/database.ts";
import { isRefusal } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { deleteReplica, insertReplica, renewReplica } from "../storage/replica.ts";

const retryDelayMs = 250;
/** Without a word from the database for this many leases the runs are given up: another replica has them by now. */
const silentLeasesMax = 3;

export interface LeaseOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly leaseMs: number;
  /** The runs under this id are no longer ours. */
  readonly onLost: (replicaId: string) => void;
  /** What the database's clock showed: every word with it for the lease also brings the time. */
  readonly onTime?: (reading: ClockReading) => void;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #closing = new AbortController();
  #replicaId: string | undefined;
  #renewedAtMs = 0;
  /** The database answered the last renewal, and did not take it. */
  #refused = false;
  #keeping: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The id to own runs under; undefined while there is none. */
  get replicaId(): string | undefined {
    return this.#replicaId;
  }

  /** Null while this replica may take work; else why not. */
  whyNotHeld(): string | null {
    if (this.#replicaId === undefined) {
      return "no lease";
    }
    if (this.#refused) {
      return "the database takes no writes";
    }
    const silentMs = this.#options.clock.monotonicMs() - this.#renewedAtMs;
    return silentMs < this.#options.leaseMs ? null : "the database does not answer";
  }

  async open(): Promise<void> {
    await this.#acquire();
    this.#keeping = this.#keep();
  }

  /**
   * Called by whoever finds out that a write was refused, because the database was away for longer than the lease: renews it at
   * once, if nobody has taken over. False when it is lost.
   */
  async renew(replicaId: string): Promise<boolean> {
    return this.#replicaId === replicaId && (await this.#extend(replicaId));
  }

  /** Called when it could not be renewed. */
  lose(replicaId: string, why: string): void {
    if (this.#replicaId !== replicaId) {
      return;
    }
    this.#replicaId = undefined;
    this.#options.events.leaseLost({ replicaId, why });
    this.#options.onLost(replicaId);
  }

  /** Gives the lease back, so that nobody waits for it to end. Hand on the runs before. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#keeping;
    const replicaId = this.#replicaId;
    this.#replicaId = undefined;
    if (replicaId !== undefined) {
      await deleteReplica(this.#options.db, replicaId).catch(() => {});
    }
  }

  async #acquire(): Promise<void> {
    const { db, clock, events, leaseMs, onTime } = this.#options;
    const id = newUuid(clock.nowMs());
    const askedAtMs = clock.monotonicMs();
    const shownMs = await insertReplica(db, { id, leaseMs });
    onTime?.({ askedAtMs, shownMs });
    this.#renewedAtMs = askedAtMs;
    this.#replicaId = id;
    events.leaseAcquired({ replicaId: id });
  }

  async #keep(): Promise<void> {
    const { clock, events, leaseMs } = this.#options;
    const { signal } = this.#closing;
    let delayMs = leaseMs / 3;
    while (!signal.aborted) {
      await clock.sleep(delayMs, signal);
      if (signal.aborted) {
        return;
      }
      try {
        await (this.#replicaId === undefined ? this.#acquire() : this.#renew(this.#replicaId));
        this.#refused = false;
        delayMs = leaseMs / 3;
      } catch (error) {
        this.#refused = isRefusal(error);
        events.databaseTroubled({ part: "lease", error });
        this.#giveUpWhenSilent();
        delayMs = retryDelayMs;
      }
    }
  }

  async #renew(id: string): Promise<void> {
    if (!(await this.#extend(id))) {
      this.lose(id, "another replica took over");
      await this.#acquire();
    }
  }

  /** False when the row is gone. */
  async #extend(id: string): Promise<boolean> {
    const { db, clock, leaseMs, onTime } = this.#options;
    const askedAtMs = clock.monotonicMs();
    failpoint("lease.renewing");
    const shownMs = await renewReplica(db, { id, leaseMs });
    if (shownMs === undefined) {
      return false;
    }
    failpoint("lease.renewed");
    onTime?.({ askedAtMs, shownMs });
    this.#renewedAtMs = askedAtMs;
    return true;
  }

  #giveUpWhenSilent(): void {
    const { clock, leaseMs } = this.#options;
    if (this.#replicaId === undefined || clock.monotonicMs() - this.#renewedAtMs < leaseMs * silentLeasesMax) {
      return;
    }
    this.lose(this.#replicaId, "the database is silent");
  }
}
