// The parts that work on runs, wired for one test: a dispatcher with its own lease, and the test's drivers.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { ResultLog } from "../../src/engine/log/log.ts";
import type { Wakeup } from "../../src/engine/log/wakeup.ts";
import { Dispatcher, type DispatchOptions } from "../../src/engine/runs/dispatch.ts";
import type { Driver } from "../../src/engine/runs/driver.ts";
import { Lease } from "../../src/engine/runs/lease.ts";
import { failLostEnd } from "../../src/engine/runs/lost-end.ts";
import { Reaper } from "../../src/engine/runs/reaper.ts";
import { supervise } from "../../src/engine/runs/supervise.ts";
import { WorkDirs } from "../../src/engine/sessions/work-dirs.ts";
import { findRun, type RunRow } from "../../src/engine/storage/run.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { Events } from "../../src/platform/telemetry/events.ts";
import { noTraces } from "../../src/platform/telemetry/traces.ts";
import { until } from "../harness/wait.ts";
import { hurriedClock, LocalWakeup, type Store, silentEvents } from "../runlog/store.ts";

/** Longer than any test lasts: a lease that should end is ended by its test. */
const leaseMs = 60_000;

export interface Replica {
  readonly lease: Lease;
  readonly dispatcher: Dispatcher;
  readonly log: ResultLog;
  readonly wakeup: LocalWakeup;
}

export interface ReplicaChoice {
  readonly drivers?: readonly Driver[];
  readonly slots?: number;
  readonly wakeup?: LocalWakeup;
  readonly clock?: Clock;
  /** Works on runs in place of the drivers. */
  readonly supervise?: DispatchOptions["supervise"];
}

/** A replica without a server: takes runs and works on them. Closed with the test. */
export async function openReplica(store: Omit<Store, "url">, choice: ReplicaChoice = {}): Promise<Replica> {
  const { drivers = [], slots = 4, wakeup = new LocalWakeup(), clock = hurriedClock(20) } = choice;
  const { db } = store;
  const lease: Lease = new Lease({
    db,
    clock,
    events: silentEvents,
    leaseMs,
    onLost: (replicaId) => dispatcher.loseRuns(replicaId),
  });
  const log = openLog(store, wakeup, clock, (replicaId) => lease.lose(replicaId, "a write was refused"));
  const deps = {
    db,
    log,
    wakeup,
    clock,
    events: silentEvents,
    traces: noTraces,
    historyMessagesMax: 200,
    isLeaseHeld: () => lease.whyNotHeld() === null,
    findDriver: (name: string) => drivers.find((driver) => driver.name === name),
    workDirs: new WorkDirs({ root: join(tmpdir(), "runnel-runs"), reserved: [], permitted: [], claims: undefined }),
  };
  const dispatcher: Dispatcher = new Dispatcher({
    db,
    clock,
    events: silentEvents,
    wakeup,
    lease,
    slots,
    supervise: choice.supervise ?? ((run, stop) => supervise(run, stop, deps)),
    failLostEnd: (runId) => failLostEnd(runId, deps),
  });
  await lease.open();
  onTestFinished(() => lease.close());
  dispatcher.open();
  onTestFinished(() => dispatcher.close());
  return { lease, dispatcher, log, wakeup };
}

export function openReaper(
  store: Omit<Store, "url">,
  choice: {
    drivers?: readonly Driver[];
    wakeup?: Wakeup;
    leaseMs?: number;
    clock?: Clock;
    events?: Events;
  } = {},
): Reaper {
  const { drivers = [], wakeup = new LocalWakeup(), clock = hurriedClock(20), events = silentEvents } = choice;
  const reaper = new Reaper({
    db: store.db,
    clock,
    events,
    log: openLog(store, wakeup, clock, () => {}),
    wakeup,
    dispatcher: { stopRun: () => {} },
    leaseMs: choice.leaseMs ?? leaseMs,
    findDriver: (name) => drivers.find((driver) => driver.name === name),
  });
  reaper.open();
  onTestFinished(() => reaper.close());
  return reaper;
}

export function openLog(
  { connections }: Omit<Store, "url">,
  wakeup: Wakeup,
  clock: Clock,
  onLeaseLost: (replicaId: string) => void,
): ResultLog {
  const log = new ResultLog({
    connections,
    clock,
    broadcaster: new Broadcaster(),
    wakeup,
    onLeaseLost,
    onError: () => {},
  });
  onTestFinished(() => log.close());
  return log;
}

/** Resolves with the run once it is in the state. */
export async function reached({ db }: Omit<Store, "url">, id: string, status: RunRow["status"]): Promise<RunRow> {
  return await until(`run ${id} to be ${status}`, async () => {
    const run = await findRun(db, id);
    return run?.status === status && run;
  });
}
