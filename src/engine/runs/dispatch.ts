// Works on the runs of this replica: as many as it has slots. It claims them from the queue, or gets them from the call that
// just admitted them. The run row is the queue; nothing about a run exists only here.

import { alignedDelay, type Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { disownRun, listCancelRequests, listStrays } from "../storage/run.ts";
import { claimRuns } from "../storage/run-claim.ts";
import { isDueFor } from "../storage/run-due.ts";
import type { StartedRun } from "../storage/run-start.ts";
import type { Lease } from "./lease.ts";
import { Stop, type StopReason } from "./stop.ts";

/** The poll interval, which covers lost wake-ups for queued runs. A notification, or the look of the reaper, wakes the loop sooner. */
const pollMs = 5_000;
/** Claims that follow each other look for strays once in this time. */
const disownEveryMs = 1_000;
/** How often runs are looked for that a caller has cancelled on another replica. */
const cancelPollMs = 1_000;
/** The maximum number of slots reserved while the queue is read; the others stay free for runs that are admitted here. */
const claimMax = 16;
/** Longer than any wait for the database: a start in flight has arrived or failed by then. */
const strayAgeMs = 15_000;

/** Options of the dispatcher. */
export interface DispatchOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly wakeup: Wakeup;
  readonly lease: Lease;
  /** The maximum number of runs that take a slot of this replica. */
  readonly slots: number;
  /** Names of the drivers whose runs take no slot; unset means that all runs take one. */
  readonly outsideDrivers?: readonly string[];
  readonly supervise: (run: StartedRun, stop: Stop) => Promise<void>;
  /** Fails a run whose end was acknowledged. Returns false for every other run. */
  readonly failLostEnd: (runId: string) => Promise<boolean>;
}

interface ActiveRun {
  readonly runId: string;
  readonly replicaId: string | null;
  readonly stop: Stop;
  readonly over: Promise<void>;
}

/** Starts, stops and hands on the runs of this replica. */
export class Dispatcher {
  readonly #options: DispatchOptions;
  /** A lost run may come back under a new epoch before its old driver has stopped; then it is in this set twice. */
  readonly #active = new Set<ActiveRun>();
  readonly #claims: Loop;
  readonly #cancels: Loop;
  readonly #unsubscribe: (() => void)[] = [];
  #slotsTaken = 0;
  #reserved = 0;
  /** The last client of whom a run was claimed: the next claim begins behind it. */
  #lastClient = "";
  #disownedAtMs = 0;
  /** True when there is a reason to claim at once. A poll without one first asks whether anything is due. */
  #isWoken = true;

  constructor(options: DispatchOptions) {
    this.#options = options;
    const { clock, events } = options;
    this.#claims = new Loop({
      clock,
      everyMs: pollMs,
      pass: async () => {
        const isWoken = this.#isWoken;
        this.#isWoken = false;
        if (isWoken || (await this.#isDue())) {
          // Never at the same time as a claim: its runs would look like strays.
          await this.#disownStrays();
          await this.#claimAll();
        }
        return alignedDelay(clock, pollMs);
      },
      onError: (error) => events.databaseTroubled({ part: "dispatch", error }),
    });
    this.#cancels = new Loop({
      clock,
      everyMs: cancelPollMs,
      waitsFirst: true,
      isIdle: () => this.#active.size === 0,
      pass: () => this.#stopCancelled(),
      onError: (error) => events.databaseTroubled({ part: "cancel poll", error }),
    });
  }

  /** The number of runs that this replica works on. */
  get activeCount(): number {
    return this.#active.size;
  }

  open(): void {
    const { wakeup } = this.#options;
    this.#unsubscribe.push(
      wakeup.subscribe("queue", () => this.#wake()),
      wakeup.subscribe("cancel", ({ key }) => this.stopRun(key, "cancelled")),
      wakeup.onGap(() => this.#wake()),
    );
    this.#claims.open();
    this.#cancels.open();
  }

  /**
   * Reserves a slot for a run that is about to be admitted. Returns undefined when no slot is free, without a lease, or after
   * the close. Fill or dispose the reservation.
   */
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

  /**
   * Reserves no slot, for a run of an outside driver: it costs this replica next to nothing. Returns undefined without a lease
   * or after the close.
   */
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

  /** Drops all runs that were owned under a lost replica id; nothing more of them is written. */
  loseRuns(replicaId: string): void {
    for (const active of this.#active) {
      if (active.replicaId === replicaId) {
        active.stop.request("lost");
      }
    }
  }

  /** Takes no more runs and hands on the active ones. Resolves when the last driver has stopped. */
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

  /**
   * Starts a run unless the dispatcher is closed: the close would not wait for it. The lease ends with this process, and
   * another replica takes the run.
   */
  #startReserved(run: StartedRun | undefined, takesSlot: boolean): void {
    if (run !== undefined && !this.#claims.closing.aborted) {
      this.#start(run, takesSlot);
    }
  }

  #wake(): void {
    this.#isWoken = true;
    this.#claims.wake();
  }

  async #isDue(): Promise<boolean> {
    const owner = this.#options.lease.replicaId;
    const except = Array.from(this.#active, (active) => active.runId);
    return owner !== undefined && (await isDueFor(this.#options.db, { owner, except, startedBeforeMs: strayAgeMs }));
  }

  #freeSlots(): number {
    return this.#options.slots - this.#slotsTaken - this.#reserved;
  }

  #start(run: StartedRun, takesSlot: boolean): void {
    const stop = new Stop();
    if (run.cancel_request_time !== null) {
      stop.request("cancelled");
    }
    const over = this.#work(run, stop).finally(() => {
      const wasFull = this.#freeSlots() < 1;
      this.#active.delete(active);
      this.#slotsTaken -= takesSlot ? 1 : 0;
      // A full replica has left due runs in the queue.
      if (wasFull) {
        this.#wake();
      }
    });
    const active = { runId: run.id, replicaId: run.owner, stop, over };
    this.#active.add(active);
    this.#cancels.resume();
    this.#slotsTaken += takesSlot ? 1 : 0;
    const isFirstStart = run.epoch === 1;
    this.#options.events.runStarted({
      runId: run.id,
      epoch: run.epoch,
      queueWaitMs: isFirstStart ? run.age_ms : undefined,
    });
  }

  /** A claimed run may have ended before: a promoted standby has it as running or queued. */
  async #work(run: StartedRun, stop: Stop): Promise<void> {
    const { events, failLostEnd, supervise } = this.#options;
    try {
      if (await failLostEnd(run.id)) {
        return;
      }
    } catch (error) {
      // It is a stray now, of which a later pass knows that it has ended.
      events.databaseTroubled({ part: "dispatch", error });
      return;
    }
    await supervise(run, stop);
  }

  /** Disowns runs that this replica owns but does not work on, because an answer got lost, a run could not be settled, or
   * the database lost its end. */
  async #disownStrays(): Promise<void> {
    const { clock, db, events, lease } = this.#options;
    const owner = lease.replicaId;
    const nowMs = clock.monotonicMs();
    if (owner === undefined || nowMs - this.#disownedAtMs < disownEveryMs) {
      return;
    }
    this.#disownedAtMs = nowMs;
    const except = Array.from(this.#active, (active) => active.runId);
    for (const runId of await listStrays(db, { owner, except, startedBeforeMs: strayAgeMs })) {
      if (!(await this.#options.failLostEnd(runId)) && (await disownRun(db, { id: runId, owner }))) {
        events.runDisowned({ runId });
      }
    }
  }

  async #claimAll(): Promise<void> {
    // Fewer than asked for: other replicas were claiming the same runs, or the queue is empty.
    while ((await this.#claim()) > claimMax / 2 && !this.#claims.closing.aborted) {}
    while ((await this.#claimOutside()) > claimMax / 2 && !this.#claims.closing.aborted) {}
  }

  /** Claims runs of outside drivers, which neither wait for a slot nor take one. Returns how many. */
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

  /** Claims due runs for free slots. Returns how many. */
  async #claim(): Promise<number> {
    const { db, lease, outsideDrivers: exceptDrivers = [] } = this.#options;
    const limit = Math.min(this.#freeSlots(), claimMax);
    if (lease.replicaId === undefined || limit < 1) {
      return 0;
    }
    this.#reserved += limit;
    try {
      const runs = await claimRuns(db, {
        owner: lease.replicaId,
        limit,
        afterClient: this.#lastClient,
        exceptDrivers,
      });
      this.#lastClient = runs.at(-1)?.client ?? "";
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

/** A reserved slot. The run that fills it is owned under `replicaId`. Disposing it frees an unfilled slot. */
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
