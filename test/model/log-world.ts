// Two replicas over one Postgres, as far as the log is concerned. Each has a connection that can be cut, a broadcaster, batch
// writers, and a follower of the other replica. Notifications between them can get lost.

import { onTestFinished } from "vitest";
import { Broadcaster, followPurges } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import { ResultLog } from "../../src/engine/log/log.ts";
import type { Connections } from "../../src/platform/database/database.ts";
import { type CuttingProxy, openCuttingProxy } from "../harness/cutting-proxy.ts";
import { createPatientClock, type PatientClock } from "../harness/patient-clock.ts";
import { addReplica, connect, LocalWakeup, openStore, type Store } from "../runlog/store.ts";

/** Polls of the log are longer than this, retries of a failed write are shorter. */
const longSleepMs = 1_000;
const siteCount = 2;
/** The default of the setting. */
const pieceWaitMs = 25;

export interface Site {
  readonly proxy: CuttingProxy;
  readonly connections: Connections;
  readonly broadcaster: Broadcaster;
  readonly log: ResultLog;
  /** The lease of the runs that this site claims from now on. */
  replicaId: string;
  isBroken: boolean;
}

export interface LogWorld {
  readonly store: Store;
  readonly clock: PatientClock;
  readonly wakeup: LocalWakeup;
  readonly sites: readonly Site[];
}

export async function openLogWorld(): Promise<LogWorld> {
  const store = await openStore();
  const clock = createPatientClock(longSleepMs);
  const wakeup = new LocalWakeup();
  const sites: Site[] = [];
  for (let index = 0; index < siteCount; index++) {
    sites.push(await openSite(store, clock, wakeup));
  }
  return { store, clock, wakeup, sites };
}

async function openSite(store: Store, clock: PatientClock, wakeup: LocalWakeup): Promise<Site> {
  const proxy = await openCuttingProxy(store.url);
  const { connections, db } = connect(proxy.url, { poolSize: 8 });
  const broadcaster = new Broadcaster();
  const shared = { clock, broadcaster, wakeup, onError: () => {} };
  const log = new ResultLog({ ...shared, connections, pieceWaitMs, onLeaseLost: () => {} });
  onTestFinished(() => log.close());
  const follower = new Follower({ ...shared, db });
  onTestFinished(() => follower.close());
  followPurges(broadcaster, wakeup);
  return { proxy, connections, broadcaster, log, replicaId: await addReplica(store.db), isBroken: false };
}
