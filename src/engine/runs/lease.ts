// This replica's lease: the right to write, renewed while the process is healthy. Losing it is normal: the replica takes a new
// id and keeps serving. Another replica takes over the runs of the old id.
//
// E1  The database decides at each write whether the lease holds. What this process believes only saves work.
// E2  A replica id is never used again after its lease was lost.

import { alignedDelay, type Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { ClockReading } from "../../platform/base/synced-clock.ts";
import type { Db } from "../../platform/database/database.ts";
import { isRefusal } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { deleteReplica, insertReplica, type ReplicaAbout, renewReplica } from "../storage/replica.ts";

const retryDelayMs = 250;
/** Timers of one moment fire within this time. */
const sameMomentMs = 10;
/** After this many leases without a response of the database the runs are given up: another replica has them by now. */
const silentLeasesMax = 3;

/** Options of the lease. */
export interface LeaseOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly leaseMs: number;
  /** What operators see of this replica. */
  readonly about?: ReplicaAbout;
  /** Called when the lease of an id is lost: its runs no longer belong to this replica. */
  readonly onLost: (replicaId: string) => void;
  /** Called with the database's time, which every successful request for the lease returns. */
  readonly onTime?: (reading: ClockReading) => void;
}

/** Takes, renews and gives back the lease. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #closing = new AbortController();
  #replicaId: string | undefined;
  #renewedAtMs = 0;
  /** When the next renewal begins, or the current one has begun. */
  #renewsAtMs = Number.POSITIVE_INFINITY;
  /** True when the database answered the last renewal with a refusal. */
  #refused = false;
  #keeping: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The id to own runs under; undefined without a lease. */
  get replicaId(): string | undefined {
    return this.#replicaId;
  }

  /** Returns null while this replica may take work; else why not. */
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

  /** True while a renewal is under way, and when it begins with the other timers of this moment. */
  get isRenewing(): boolean {
    return this.#renewsAtMs - this.#options.clock.monotonicMs() < sameMomentMs;
  }

  /** Takes a lease and keeps renewing it. Throws when the first attempt fails. */
  async open(): Promise<void> {
    await this.#acquire();
    this.#keeping = this.#keep();
  }

  /**
   * Renews the lease at once if no other replica took over. Call it when a write was refused because the database was away for
   * longer than the lease. Returns false when the lease is lost.
   */
  async renew(replicaId: string): Promise<boolean> {
    return this.#replicaId === replicaId && (await this.#extend(replicaId));
  }

  /** Gives the lease up. Call it when the lease could not be renewed. */
  lose(replicaId: string, why: string): void {
    if (this.#replicaId !== replicaId) {
      return;
    }
    this.#replicaId = undefined;
    this.#options.events.leaseLost({ replicaId, why });
    this.#options.onLost(replicaId);
  }

  /** Gives the lease back, so that no replica waits for its end. Hand on the runs first. */
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
    const { db, clock, events, leaseMs, about, onTime } = this.#options;
    const id = newUuid(clock.nowMs());
    const askedAtMs = clock.monotonicMs();
    const shownMs = await insertReplica(db, { id, leaseMs, about });
    onTime?.({ askedAtMs, shownMs });
    this.#renewedAtMs = askedAtMs;
    this.#replicaId = id;
    events.leaseAcquired({ replicaId: id });
  }

  async #keep(): Promise<void> {
    const { clock, events, leaseMs } = this.#options;
    const { signal } = this.#closing;
    let delayMs = alignedDelay(clock, leaseMs / 3);
    while (!signal.aborted) {
      this.#renewsAtMs = clock.monotonicMs() + delayMs;
      await clock.sleep(delayMs, signal);
      if (signal.aborted) {
        return;
      }
      try {
        await (this.#replicaId === undefined ? this.#acquire() : this.#renew(this.#replicaId));
        this.#refused = false;
        delayMs = alignedDelay(clock, leaseMs / 3);
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

  /** Returns false when the row of the lease is gone. */
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
