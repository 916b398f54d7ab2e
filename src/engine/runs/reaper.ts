// Handles what no owner handles: replicas with an expired lease, runs without an owner, runs past their deadline, parked runs
// whose time has come, pending runs whose session is free, and trees of runs that have changed. Every replica runs a reaper; locks
// let only one act on each run. Its look finds other due work too, and wakes the loops that do it: an idle service asks one
// question for all of them, when the first of the known times has come.
//
// R1  A run is free to take when no replica has its owner's id. Nothing else decides, so a crash at any point here costs
//     nothing.
// R2  A run that cannot be read fails alone: it does not keep a pass from the runs after it.

import { alignedDelay, type Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { isOutage } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { ResultLog } from "../log/log.ts";
import type { LogEntry } from "../log/result.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { type QueuedRun, queuePendingRuns } from "../storage/pending-run.ts";
import { takeExpiredReplica } from "../storage/replica.ts";
import { lockOrphanedRuns, lockOverdueRuns, type RunRow, requeueRun, wakeDueRuns } from "../storage/run.ts";
import { createFindDue, type Due } from "../storage/run-due.ts";
import { announceCallback } from "./callback.ts";
import type { CancelDeps } from "./cancel.ts";
import { checkTrees } from "./check-trees.ts";
import type { Driver, FailedEnd } from "./driver.ts";
import { announceEnd, endRun, orEndUnreadable, timedOut } from "./terminal.ts";

const intervalMs = 1_000;
const runsPerTransactionMax = 100;
/** A run that lost its replica this often is assumed to be the cause. */
const takeoversMax = 3;
/** How long after its deadline a run counts as overdue: a live owner has ended it by then, even with the driver's grace. */
const overdueMarginMs = 30_000;

/** Options of the reaper. */
export interface ReaperOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly log: ResultLog;
  readonly wakeup: Wakeup;
  readonly dispatcher: CancelDeps["dispatcher"];
  readonly leaseMs: number;
  readonly findDriver: (name: string) => Driver | undefined;
}

/** Requeues or ends the runs that have lost their owner. */
export class Reaper {
  readonly #options: ReaperOptions;
  readonly #everyMs: number;
  readonly #findDue: () => Promise<Due>;
  readonly #loop: Loop;
  /** True when the database was away at its last use. */
  #outage = false;
  /** When the server of the last pass started. */
  #serverStart: string | undefined;
  #holdOffUntilMs = 0;
  #unsubscribe: () => void = () => {};

  constructor(options: ReaperOptions) {
    this.#options = options;
    this.#findDue = createFindDue(options.db, { marginMs: overdueMarginMs });
    this.#everyMs = Math.min(intervalMs, options.leaseMs / 3);
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: this.#everyMs,
      pass: () => this.#pass(),
      onError: (error) => {
        options.events.databaseTroubled({ part: "reaper", error });
        this.#outage ||= isOutage(error);
      },
    });
  }

  open(): void {
    this.#unsubscribe = this.#options.wakeup.subscribe("tree", () => this.#loop.wake());
    this.#loop.open();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.close();
  }

  /** Returns how long nothing that is known now becomes due. */
  async #pass(): Promise<number> {
    const due = await this.#look();
    const { wakesInMs, leaseInMs } = due;
    const ofOthers = { queue: due.queueInMs, callback: due.callbackInMs, schedule: due.scheduleInMs };
    for (const topic of ["queue", "callback", "schedule"] as const) {
      if (isOver(ofOthers[topic])) {
        this.#options.wakeup.wake(topic);
      }
    }
    if (isOver(wakesInMs)) {
      await this.#wakeRuns();
    }
    if (due.pending) {
      await this.#queuePendingRuns();
    }
    const reaps = isOver(leaseInMs) && this.#options.clock.monotonicMs() >= this.#holdOffUntilMs;
    if (reaps) {
      await this.#reapReplicas(due.serverStart);
    }
    if (due.orphans || reaps) {
      await this.#forEachBatch(
        (trx) => lockOrphanedRuns(trx, runsPerTransactionMax),
        (trx, run) => this.#recover(trx, run),
      );
    }
    if (due.overdue) {
      await this.#forEachBatch(
        (trx) => lockOverdueRuns(trx, { marginMs: overdueMarginMs, limit: runsPerTransactionMax }),
        (trx, run) => this.#end(trx, run, timedOut),
      );
    }
    if (due.trees) {
      await checkTrees(this.#options);
    }
    const times = [wakesInMs, leaseInMs, ...Object.values(ofOthers)];
    const dueInMs = times.map((inMs) => (inMs === null || inMs <= 0 ? intervalMs : Math.ceil(inMs)));
    return Math.min(alignedDelay(this.#options.clock, this.#everyMs), ...dueInMs);
  }

  /**
   * Looks for due work. This is the first statement of a pass, so it also detects an outage. After an outage every lease has
   * expired, so the replicas get time to renew before the others are reaped. They need that time too when this replica saw no
   * outage but another server: a promoted standby has old leases, and only the owner of a run knows what it had acknowledged.
   * A replica that is only slow itself delays nothing.
   */
  async #look(): Promise<Due> {
    const { clock, leaseMs } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const due = await this.#findDue();
    const answeredAtMs = clock.monotonicMs();
    const isOtherServer = this.#serverStart !== undefined && this.#serverStart !== due.serverStart;
    if (this.#outage || isOtherServer || answeredAtMs - askedAtMs > leaseMs) {
      this.#holdOffUntilMs = answeredAtMs + leaseMs;
    }
    this.#outage = false;
    this.#serverStart = due.serverStart;
    return due;
  }

  /** Wakes parked runs. */
  async #wakeRuns(): Promise<void> {
    const { db, wakeup } = this.#options;
    if ((await wakeDueRuns(db)) > 0) {
      failpoint("wake.committed");
      wakeup.publish({ topic: "queue", key: "", value: 0 });
    }
  }

  async #queuePendingRuns(): Promise<void> {
    const { db, wakeup } = this.#options;
    let queued: readonly QueuedRun[];
    do {
      queued = await queuePendingRuns(db, runsPerTransactionMax);
      for (const run of queued) {
        announceCallback(wakeup, run.callback_url);
      }
      if (queued.length > 0) {
        wakeup.publish({ topic: "queue", key: "", value: 0 });
      }
    } while (queued.length === runsPerTransactionMax);
  }

  async #reapReplicas(serverStart: string): Promise<void> {
    for (;;) {
      const replicaId = await this.#options.db.transaction().execute((trx) => takeExpiredReplica(trx, serverStart));
      if (replicaId === undefined) {
        return;
      }
      failpoint("reap.replica-deleted");
      this.#options.events.replicaReaped({ replicaId });
    }
  }

  /** Locks batches of runs and handles each. Announces the written results after the commit. */
  async #forEachBatch(
    lock: (trx: Transaction) => Promise<RunRow[]>,
    handle: (trx: Transaction, run: RunRow) => Promise<readonly LogEntry[]>,
  ): Promise<void> {
    let batchRows: number;
    do {
      const written: { run: RunRow; entries: readonly LogEntry[] }[] = [];
      batchRows = await this.#options.db.transaction().execute(async (trx) => {
        const runs = await lock(trx);
        for (const run of runs) {
          const { clock, events } = this.#options;
          const entries = await orEndUnreadable(trx, { run, clock, events }, () => handle(trx, run));
          written.push({ run, entries });
        }
        return runs.length;
      });
      for (const { run, entries } of written) {
        this.#options.log.announce(run.id, entries);
        announceEnd(this.#options.wakeup, run);
      }
      if (batchRows > 0) {
        failpoint("reap.committed");
        this.#options.wakeup.publish({ topic: "queue", key: "", value: 0 });
      }
    } while (batchRows === runsPerTransactionMax);
  }

  async #recover(trx: Transaction, run: RunRow): Promise<readonly LogEntry[]> {
    const why = this.#whyNotResumed(run);
    if (why !== undefined) {
      this.#options.events.runLost({ runId: run.id, code: why.code });
      return await this.#end(trx, run, why);
    }
    this.#options.events.runTakenOver({ runId: run.id, takeovers: run.takeovers + 1 });
    await requeueRun(trx, { id: run.id, takeover: true });
    failpoint("reap.requeued");
    return [];
  }

  #whyNotResumed(run: RunRow): FailedEnd | undefined {
    if (run.takeovers >= takeoversMax) {
      return lost(`crash_loop: the run lost its replica ${run.takeovers + 1} times`);
    }
    const recovery = this.#options.findDriver(run.driver)?.recovery;
    return recovery === "fail" ? lost("the replica that worked on the run was lost") : undefined;
  }

  async #end(trx: Transaction, run: RunRow, end: FailedEnd): Promise<readonly LogEntry[]> {
    return await endRun(trx, { run, end, clock: this.#options.clock });
  }
}

function lost(error: string): FailedEnd {
  return { kind: "failed", code: "host.run_lost", error, retryable: true };
}

/** Returns whether a time has come. */
function isOver(inMs: number | null): boolean {
  return inMs !== null && inMs <= 0;
}
