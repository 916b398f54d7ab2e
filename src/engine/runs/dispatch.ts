// The runs that this replica works on: as many as it has slots, taken from the queue or handed over by whoever just
// admitted one. The run row is the queue; nothing about a run lives only here.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { disownRuns, listCancelRequests } from "../storage/run.ts";
import { claimRuns, type StartedRun } from "../storage/run-start.ts";
import type { Lease } from "./lease.ts";
import { Stop, type StopReason } from "./stop.ts";

/** The net under lost wake-ups, for queued runs and for cancels. */
const pollMs = 1_000;
/** Slots that are kept while the queue is asked; the others stay free for runs that are being admitted here. */
const claimMax = 16;
/** Longer than any answer of the database is waited for: a start that is on its way has arrived or failed by then. */
const strayAgeMs = 15_000;

export interface DispatchOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly wakeup: Wakeup;
  readonly lease: Lease;
  /** Most runs that this replica works on at a time. */
  readonly slots: number;
  /** Names of the drivers whose runs take no slot; none when unset. */
  readonly outsideDrivers?: readonly string[];
  readonly supervise: (run: StartedRun, stop: Stop) => Promise<void>;
}

interface ActiveRun {
  readonly runId: string;
  readonly replicaId: string | null;
  readonly stop: Stop;
  readonly over: Promise<void>;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  /** A run that was lost may come back under a new epoch before its old driver has stopped: then it is here twice. */
  readonly #active = new Set<ActiveRun>();
  readonly #claims: Loop;
  readonly #cancels: Loop;
  readonly #unsubscribe: (() => void)[] = [];
  #slotsTaken = 0;
  #reserved = 0;
  #disownedAtMs = 0;

  constructor(options: DispatchOptions) {
    this.#options = options;
    const { clock, events } = options;
    this.#claims = new Loop({
      clock,
      everyMs: pollMs,
      pass: async () => {
        // Never beside a claim, whose runs would look like strays.
        await this.#disownStrays();
        await this.#claimAll();
      },
      onError: (error) => events.databaseTroubled({ part: "dispatch", error }),
    });
    this.#cancels = new Loop({
      clock,
      everyMs: pollMs,
      waitsFirst: true,
      pass: () => this.#stopCancelled(),
      onError: (error) => events.databaseTroubled({ part: "cancel poll", error }),
    });
  }

  get activeCount(): number {
    return this.#active.size;
  }

  open(): void {
    const { wakeup } = this.#options;
    this.#unsubscribe.push(
      wakeup.subscribe("queue", () => this.#claims.wake()),
      wakeup.subscribe("cancel", ({ key }) => this.stopRun(key, "cancelled")),
      wakeup.onGap(() => this.#claims.wake()),
    );
    this.#claims.open();
    this.#cancels.open();
  }

  /** Keeps a slot for a run that is about to be admitted; undefined when there is none. Give it back or fill it. */
  reserve(): Reservation | undefined {
    const { replicaId } = this.#options.lease;
    if (replicaId === undefined || this.#claims.closing.aborted || this.#freeSlots() < 1) {
      return undefined;
    }
    this.#reserved++;
    return new Reservation(replicaId, (run) => {
      this.#reserved--;
      this.#startReserved(run, true);
    });
  }

  /** The same for a run that somebody else works on: it costs this replica next to nothing, and takes no slot. */
  reserveOutside(): Reservation | undefined {
    const { replicaId } = this.#options.lease;
    if (replicaId === undefined || this.#claims.closing.aborted) {
      return undefined;
    }
    return new Reservation(replicaId, (run) => this.#startReserved(run, false));
  }

  /** Stops a run if this replica works on it. */
  stopRun(runId: string, reason: StopReason): void {
    for (const active of this.#active) {
      if (active.runId === runId) {
        active.stop.request(reason);
      }
    }
  }

  /** Drops all runs that were owned under a lost id; nothing more of them is written. */
  loseRuns(replicaId: string): void {
    for (const active of this.#active) {
      if (active.replicaId === replicaId) {
        active.stop.request("lost");
      }
    }
  }

  /** Takes no more runs and hands on those at work. Resolves when the last driver has stopped. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) {
      unsubscribe();
    }
    await Promise.all([this.#claims.close(), this.#cancels.close()]);
    for (const active of this.#active) {
      active.stop.request("handed-on");
    }
    await Promise.all(Array.from(this.#active, (active) => active.over));
  }

  /** After the close nobody would wait for it; the lease ends with this process, and so another one takes the run. */
  #startReserved(run: StartedRun | undefined, takesSlot: boolean): void {
    if (run !== undefined && !this.#claims.closing.aborted) {
      this.#start(run, takesSlot);
    }
  }

  #freeSlots(): number {
    return this.#options.slots - this.#slotsTaken - this.#reserved;
  }

  #start(run: StartedRun, takesSlot: boolean): void {
    const stop = new Stop();
    if (run.cancel_request_time !== null) {
      stop.request("cancelled");
    }
    const over = this.#options.supervise(run, stop).finally(() => {
      const wasFull = this.#freeSlots() < 1;
      this.#active.delete(active);
      this.#slotsTaken -= takesSlot ? 1 : 0;
      // A full replica left due runs in the queue.
      if (wasFull) {
        this.#claims.wake();
      }
    });
    const active = { runId: run.id, replicaId: run.owner, stop, over };
    this.#active.add(active);
    this.#slotsTaken += takesSlot ? 1 : 0;
    const isFirstStart = run.epoch === 1;
    this.#options.events.runStarted({
      runId: run.id,
      epoch: run.epoch,
      queueWaitMs: isFirstStart ? run.age_ms : undefined,
    });
  }

  /** Runs that are ours by an answer that never came, or that could not be settled, are given to whoever takes them. */
  async #disownStrays(): Promise<void> {
    const { clock, db, events, lease } = this.#options;
    const owner = lease.replicaId;
    const nowMs = clock.monotonicMs();
    if (owner === undefined || nowMs - this.#disownedAtMs < pollMs) {
      return;
    }
    this.#disownedAtMs = nowMs;
    const except = Array.from(this.#active, (active) => active.runId);
    for (const runId of await disownRuns(db, { owner, except, startedBeforeMs: strayAgeMs })) {
      events.runDisowned({ runId });
    }
  }

  async #claimAll(): Promise<void> {
    while ((await this.#claim()) === claimMax && !this.#claims.closing.aborted) {}
    while ((await this.#claimOutside()) === claimMax && !this.#claims.closing.aborted) {}
  }

  /** Returns how many runs were due and taken. Those that others work on do not wait for a slot, nor take one from the rest. */
  async #claimOutside(): Promise<number> {
    const { db, lease, outsideDrivers: drivers = [] } = this.#options;
    if (lease.replicaId === undefined || drivers.length === 0) {
      return 0;
    }
    const runs = await claimRuns(db, { owner: lease.replicaId, limit: claimMax, drivers });
    for (const run of runs) {
      this.#start(run, false);
    }
    return runs.length;
  }

  /** Returns how many runs were due and taken. */
  async #claim(): Promise<number> {
    const { db, lease, outsideDrivers: exceptDrivers = [] } = this.#options;
    const limit = Math.min(this.#freeSlots(), claimMax);
    if (lease.replicaId === undefined || limit < 1) {
      return 0;
    }
    this.#reserved += limit;
    try {
      const runs = await claimRuns(db, { owner: lease.replicaId, limit, exceptDrivers });
      for (const run of runs) {
        failpoint("claim.committed");
        this.#start(run, true);
      }
      return runs.length;
    } finally {
      this.#reserved -= limit;
    }
  }

  async #stopCancelled(): Promise<void> {
    const { db, lease } = this.#options;
    if (this.#active.size === 0 || lease.replicaId === undefined) {
      return;
    }
    for (const runId of await listCancelRequests(db, lease.replicaId)) {
      this.stopRun(runId, "cancelled");
    }
  }
}

/** A kept slot; the run that fills it is owned under `replicaId`. Disposing it gives an unfilled one back. */
export class Reservation implements Disposable {
  readonly replicaId: string;
  #settle: ((run: StartedRun | undefined) => void) | undefined;

  constructor(replicaId: string, settle: (run: StartedRun | undefined) => void) {
    this.replicaId = replicaId;
    this.#settle = settle;
  }

  /** Starts work on the run. Call it after the commit that made this replica its owner. */
  fill(run: StartedRun): void {
    this.#end(run);
  }

  [Symbol.dispose](): void {
    this.#end(undefined);
  }

  #end(run: StartedRun | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(run);
  }
}
