// Starting a run: the limits hold exactly under concurrent starts, and a session has one active run.

import { expect } from "vitest";
import type { RunLimits } from "../../src/engine/runs/admission.ts";
import { type StartDeps, type StartRequest, startAlone, startRun } from "../../src/engine/runs/start.ts";
import { findRun } from "../../src/engine/storage/run.ts";
import { markSessionDeleted } from "../../src/engine/storage/session.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { inTransaction } from "../../src/platform/database/in-transaction.ts";
import { test } from "../fixtures.ts";
import { createPatientClock } from "../harness/patient-clock.ts";
import { until } from "../harness/wait.ts";
import { addSession, input, LocalWakeup, openStore, type Store } from "../runlog/store.ts";
import { openReplica, type Replica, type ReplicaChoice } from "./stage.ts";

const start = (store: Store, replica: Replica, session: string, limits?: Partial<RunLimits>, client?: string) =>
  inTransaction(store.db, (trx) => startRun(trx, depsOf(store, replica, limits), requestOf(session, client)));

/** The same with one statement. */
const tryStart = (store: Store, replica: Replica, session: string, limits?: Partial<RunLimits>) =>
  startAlone(depsOf(store, replica, limits), requestOf(session));

function depsOf({ db }: Store, { dispatcher, wakeup }: Replica, limits: Partial<RunLimits> = {}): StartDeps {
  const none = { concurrentRunsMax: 0, clientRunsMax: 0, freeWhileWaiting: [] };
  return { db, clock: systemClock, wakeup, dispatcher, ...none, ...limits, timeoutMs: 60_000 };
}

function requestOf(session: string, client = "shared/test"): StartRequest {
  return { client, session, driver: "test", agentName: "test", input };
}

const never = (): { supervise: () => Promise<void>; release: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { supervise: () => promise, release: resolve };
};

/** A replica whose dispatcher is idle. While it asks the queue it keeps its slots; this one does not ask again. */
async function openIdle(store: Store, choice: ReplicaChoice): Promise<Replica> {
  const clock = createPatientClock(500);
  const replica = await openReplica(store, { ...choice, clock });
  await until("the lease and the claims to wait", () => clock.sleeping === 2);
  return replica;
}

test("of a hundred concurrent starts over two replicas, exactly as many are admitted as the limit allows", async () => {
  const store = await openStore({ poolSize: 12 });
  const { supervise, release } = never();
  const replicas = [
    await openReplica(store, { supervise, slots: 3 }),
    await openReplica(store, { supervise, slots: 3 }),
  ];
  const sessions = await Promise.all(Array.from({ length: 100 }, () => addSession(store.db)));
  const ends = await Promise.allSettled(
    sessions.map((session, index) => start(store, replicas[index % 2] as Replica, session, { concurrentRunsMax: 10 })),
  );
  const refused = ends.filter((end) => end.status === "rejected");
  expect(ends.length - refused.length).toBe(10);
  expect(new Set(refused.map((end) => end.reason.reason))).toEqual(new Set(["CONCURRENCY_EXHAUSTED"]));
  const runs = await store.db.selectFrom("run").select("id").execute();
  expect(runs).toHaveLength(10);
  release();
});

test("each client is admitted exactly up to its own limit, independently of other clients", async () => {
  const store = await openStore({ poolSize: 12 });
  const { supervise, release } = never();
  const replica = await openReplica(store, { supervise, slots: 3 });
  const sessions = await Promise.all(Array.from({ length: 60 }, () => addSession(store.db)));
  const clients = ["one", "two", "three"];
  const limits = { concurrentRunsMax: 100, clientRunsMax: 7 };
  const ends = await Promise.allSettled(
    sessions.map((session, index) => start(store, replica, session, limits, clients[index % 3])),
  );
  const refused = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason.message)] : []));
  expect(new Set(refused)).toEqual(new Set(["max concurrent sessions of a client (7) reached"]));
  const runs = await store.db.selectFrom("run").select("client").execute();
  expect(clients.map((name) => runs.filter(({ client }) => client === name).length)).toEqual([7, 7, 7]);
  release();
});

test("of twenty concurrent starts in one session, one gets a run", async () => {
  const store = await openStore({ poolSize: 8 });
  const { supervise, release } = never();
  const replica = await openReplica(store, { supervise });
  const session = await addSession(store.db);
  const ends = await Promise.allSettled(Array.from({ length: 20 }, () => start(store, replica, session)));
  expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(1);
  const reasons = ends.flatMap((end) => (end.status === "rejected" ? [end.reason.reason] : []));
  expect(new Set(reasons)).toEqual(new Set(["SESSION_BUSY"]));
  release();
});

test("a run starts at once when a slot is free, and is queued otherwise", async ({ store }) => {
  const { supervise, release } = never();
  const wakeup = new LocalWakeup();
  const replica = await openIdle(store, { supervise, slots: 1, wakeup });
  const ids = [];
  for (let index = 0; index < 2; index++) {
    ids.push(await start(store, replica, await addSession(store.db)));
  }
  const rows = await store.db.selectFrom("run").select(["id", "status", "owner", "epoch"]).orderBy("id").execute();
  expect(rows).toEqual([
    { id: ids[0], status: "running", owner: replica.lease.replicaId, epoch: 1 },
    { id: ids[1], status: "queued", owner: null, epoch: 0 },
  ]);
  expect(wakeup.published.filter(({ topic }) => topic === "queue")).toHaveLength(1);
  release();
});

test("a start that fails leaves no run and frees its slot", async ({ store }) => {
  const { supervise, release } = never();
  const replica = await openIdle(store, { supervise, slots: 1 });
  const unknownSession = "019a0000-0000-7000-8000-000000000001";
  for (let index = 0; index < 3; index++) {
    await expect(start(store, replica, unknownSession)).rejects.toThrow();
  }
  await start(store, replica, await addSession(store.db));
  expect(replica.dispatcher.activeCount).toBe(1);
  release();
});

test("one statement starts a run, or writes nothing when the step-by-step check is needed", async ({ store }) => {
  const { supervise, release } = never();
  const replica = await openIdle(store, { supervise, slots: 3 });
  const session = await addSession(store.db);
  const id = await tryStart(store, replica, session, { concurrentRunsMax: 66 });
  expect(await findRun(store.db, id ?? "")).toMatchObject({ session, status: "running", epoch: 1 });
  expect(replica.dispatcher.activeCount).toBe(1);
  const deleted = await addSession(store.db);
  await store.db.transaction().execute((trx) => markSessionDeleted(trx, deleted));
  const other = await addSession(store.db);
  expect(await tryStart(store, replica, session)).toBeUndefined();
  expect(await tryStart(store, replica, deleted)).toBeUndefined();
  // One run is active; 64 more that this statement cannot see may be on their way.
  expect(await tryStart(store, replica, other, { concurrentRunsMax: 65 })).toBeUndefined();
  expect(await tryStart(store, replica, other, { concurrentRunsMax: 64 })).toBeUndefined();
  expect(await tryStart(store, replica, other, { clientRunsMax: 65 })).toBeUndefined();
  expect(await tryStart(store, replica, other, { clientRunsMax: 64 })).toBeUndefined();
  expect(await store.db.selectFrom("run").select("id").execute()).toEqual([{ id }]);
  expect(await store.db.selectFrom("transcript").select(["session", "position"]).execute()).toEqual([
    { session, position: 0 },
  ]);
  expect(await tryStart(store, replica, other, { concurrentRunsMax: 66 })).toBeDefined();
  expect(replica.dispatcher.activeCount).toBe(2);
  release();
});
