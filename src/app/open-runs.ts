// Opens the lease, the dispatcher, which gives runs to drivers, and the reaper, which handles runs that have lost their owner.

import { Dispatcher } from "../engine/runs/dispatch.ts";
import type { Driver } from "../engine/runs/driver.ts";
import type { Lease } from "../engine/runs/lease.ts";
import { failLostEnd } from "../engine/runs/lost-end.ts";
import { Reaper } from "../engine/runs/reaper.ts";
import { supervise } from "../engine/runs/supervise.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import type { AppContext } from "../platform/context.ts";
import type { Runlog } from "./open-log.ts";

/** Options of `openRuns`. */
export interface RunsOptions {
  readonly lease: Lease;
  readonly drivers: readonly Driver[];
  readonly workDirs: WorkDirs;
}

/** The dispatcher and the lookup of drivers. */
export interface Runs {
  readonly dispatcher: Dispatcher;
  readonly findDriver: (name: string) => Driver | undefined;
  readonly freeWhileWaiting: readonly string[];
}

/** Opens the lease, the dispatcher and the reaper. */
export async function openRuns(
  { config, clock, events, metrics, traces, connections, closers }: AppContext,
  { log, wakeup }: Runlog,
  { lease, drivers, workDirs }: RunsOptions,
): Promise<Runs> {
  const { db, control } = connections;
  const findDriver = (name: string): Driver | undefined => drivers.find((driver) => driver.name === name);
  const historyMessagesMax = config.sessionsHistoryMessages;
  const isLeaseHeld = (): boolean => lease.whyNotHeld() === null;
  const superviseDeps = {
    db,
    log,
    wakeup,
    clock,
    events,
    traces,
    findDriver,
    historyMessagesMax,
    isLeaseHeld,
    workDirs,
  };
  const dispatcher = new Dispatcher({
    db: control,
    clock,
    events,
    wakeup,
    lease,
    slots: config.runsSlots,
    outsideDrivers: namesOf(drivers, "isOutside"),
    supervise: (run, stop) => supervise(run, stop, superviseDeps),
    failLostEnd: (runId) => failLostEnd(runId, { db: control, log, wakeup, clock, events }),
  });
  metrics.attach({ countActiveRuns: () => dispatcher.activeCount });
  await lease.open();
  closers.defer(() => lease.close());
  dispatcher.open();
  closers.defer(() => dispatcher.close());
  const { runsLeaseMs: leaseMs } = config;
  const reaper = new Reaper({ db: control, clock, events, log, wakeup, dispatcher, leaseMs, findDriver });
  closers.defer(() => reaper.close());
  reaper.open();
  return { dispatcher, findDriver, freeWhileWaiting: namesOf(drivers, "isFreeWhileWaiting") };
}

function namesOf(drivers: readonly Driver[], trait: "isOutside" | "isFreeWhileWaiting"): readonly string[] {
  return drivers.filter((driver) => driver[trait] === true).map(({ name }) => name);
}
