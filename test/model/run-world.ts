// Two replicas that work on runs, each over a connection of its own that can be cut. The reaper and the readers' broadcaster never
// fail.

import { onTestFinished } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import type { TailSource } from "../../src/engine/log/tail.ts";
import type { Driver } from "../../src/engine/runs/driver.ts";
import { type CuttingProxy, openCuttingProxy } from "../harness/cutting-proxy.ts";
import { createPatientClock, type PatientClock } from "../harness/patient-clock.ts";
import { until } from "../harness/wait.ts";
import { connect, endLease, hurriedClock, LocalWakeup, openStore, type Store } from "../runlog/store.ts";
import { openReaper, openReplica, type Replica } from "../runs/stage.ts";
import { Script } from "./scripted-driver.ts";

/** Polls and leases are shorter than this; the deadlines of runs are longer. */
const longSleepMs = 600_000;
const pollMs = 40;
const replicaCount = 2;

export interface Worker extends Replica {
  readonly db: Store["db"];
  readonly proxy: CuttingProxy;
  readonly clock: PatientClock;
  readonly script: Script;
  isCrashed: boolean;
}

export interface RunWorld {
  readonly store: Store;
  readonly wakeup: LocalWakeup;
  readonly workers: readonly Worker[];
  /** The database and the broadcaster of the readers. */
  readonly source: TailSource;
}

export async function openRunWorld(): Promise<RunWorld> {
  const store = await openStore({ poolSize: 6 });
  const wakeup = new LocalWakeup();
  const workers: Worker[] = [];
  for (let index = 0; index < replicaCount; index++) {
    workers.push(await openWorker(store, wakeup));
  }
  openReaper(store, { drivers: driversOf(new Script()), wakeup, clock: hurriedClock(pollMs) });
  const source = { db: store.db, broadcaster: new Broadcaster(), clock: hurriedClock(pollMs) };
  const follower = new Follower({ ...source, wakeup, onError: () => {} });
  onTestFinished(() => follower.close());
  return { store, wakeup, workers, source };
}

function driversOf(script: Script): Driver[] {
  return [script.driver("steady", "resume"), script.driver("fragile", "fail")];
}

async function openWorker(store: Store, wakeup: LocalWakeup): Promise<Worker> {
  const proxy = await openCuttingProxy(store.url);
  const behind = connect(proxy.url, { poolSize: 6 });
  const clock = createPatientClock(longSleepMs, pollMs);
  const script = new Script();
  const replica = await openReplica(behind, { drivers: driversOf(script), wakeup, clock });
  return { ...replica, db: behind.db, proxy, clock, script, isCrashed: false };
}

/**
 * Cuts a replica off until its lease ends and its runs are taken. It does not know and continues with them, which is worse than
 * a crash.
 */
export async function crash(worker: Worker, { store }: RunWorld): Promise<void> {
  const id = worker.lease.replicaId ?? "";
  worker.isCrashed = true;
  worker.proxy.breakDown();
  await until("the lease to be taken", async () => {
    await endLease(store.db, id);
    return (await store.db.selectFrom("replica").select("id").where("id", "=", id).execute()).length === 0;
  });
}

export async function restart(worker: Worker): Promise<void> {
  const lost = worker.lease.replicaId;
  worker.proxy.mend();
  await until("a new lease", () => worker.lease.replicaId !== undefined && worker.lease.replicaId !== lost);
  worker.isCrashed = false;
}
