// The dispatcher: slots, fairness and claims; also closing, and answers that the connection cut off.

import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Driver } from "../../src/engine/runs/driver.ts";
import { findRun } from "../../src/engine/storage/run.ts";
import { claimRuns } from "../../src/engine/storage/run-claim.ts";
import type { StartedRun } from "../../src/engine/storage/run-start.ts";
import { test } from "../fixtures.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import { until } from "../harness/wait.ts";
import { addReplica, addRun, connect, endLease, LocalWakeup, openStore, readLog } from "../runlog/store.ts";
import { openReplica } from "./stage.ts";

/** A supervisor that works on each run until the test releases it. */
class Workbench {
  readonly started: StartedRun[] = [];
  readonly #releases = new Map<string, () => void>();
  peak = 0;

  readonly supervise = async (run: StartedRun): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.started.push(run);
    this.#releases.set(run.id, resolve);
    this.peak = Math.max(this.peak, this.#releases.size);
    await promise;
    this.#releases.delete(run.id);
  };

  release(id: string): void {
    this.#releases.get(id)?.();
  }

  releaseAll(): void {
    for (const resolve of this.#releases.values()) {
      resolve();
    }
  }
}

test("a replica works on as many runs as it has slots, and takes the next one when a slot is free", async () => {
  const store = await openStore();
  const runs = await Promise.all(Array.from({ length: 7 }, () => addRun(store.db)));
  const bench = new Workbench();
  await openReplica(store, { slots: 3, supervise: bench.supervise });
  for (let count = 3; count <= runs.length; count++) {
    await until(`${count} runs to be started`, () => bench.started.length === count);
    bench.release(bench.started[count - 3]?.id ?? "");
  }
  bench.releaseAll();
  expect(bench.peak).toBe(3);
  expect(new Set(bench.started.map((run) => run.id))).toEqual(new Set(runs.map((run) => run.id)));
});

test("a reserved slot is not used for claims, and is free again when it was not filled", async ({ store }) => {
  const bench = new Workbench();
  const { dispatcher } = await openReplica(store, { slots: 1, supervise: bench.supervise });
  const slot = await until("a free slot", () => dispatcher.reserve());
  expect(dispatcher.reserve()).toBeUndefined();
  const run = await addRun(store.db);
  slot[Symbol.dispose]();
  slot[Symbol.dispose]();
  await until("the run to be started", () => bench.started.length === 1);
  expect(bench.started[0]?.id).toBe(run.id);
  expect(dispatcher.reserve()).toBeUndefined();
  bench.releaseAll();
  using again = await until("the slot again", () => dispatcher.reserve());
  expect(again).toBeDefined();
});

test("no client gets a second run before every client had one", async ({ store }) => {
  for (let index = 0; index < 5; index++) {
    await addRun(store.db, { client: "shared/greedy" });
  }
  for (const client of ["shared/b", "shared/c"]) {
    await addRun(store.db, { client });
  }
  const owner = await addReplica(store.db);
  const claimed = await claimRuns(store.db, { owner, limit: 3 });
  expect(new Set(claimed.map((run) => run.client))).toEqual(new Set(["shared/greedy", "shared/b", "shared/c"]));
  expect(claimed.every((run) => run.owner === owner && run.epoch === 1 && run.status === "running")).toBe(true);
});

test("of a client's runs the highest priority comes first, and other clients have their turns", async ({ store }) => {
  for (const priority of [0, -5, 7, 7]) {
    await addRun(store.db, { client: "shared/a", priority });
  }
  const other = await addRun(store.db, { client: "shared/b", priority: -100 });
  const owner = await addReplica(store.db);
  const claim = async (limit: number) => await claimRuns(store.db, { owner, limit });
  const first = await claim(2);
  expect(first.map(({ client }) => client).toSorted()).toEqual(["shared/a", "shared/b"]);
  expect(first.map(({ id }) => id)).toContain(other.id);
  const rest = [
    ...first.filter(({ id }) => id !== other.id),
    ...(await claim(1)),
    ...(await claim(1)),
    ...(await claim(1)),
  ];
  const priorities = await store.db.selectFrom("run").select(["id", "priority"]).execute();
  expect(rest.map(({ id }) => priorities.find((each) => each.id === id)?.priority)).toEqual([7, 7, 0, -5]);
});

test("the runs of more clients than a claim considers are all claimed, each client's in turn", async ({ store }) => {
  const clients = Array.from({ length: 100 }, (_, index) => `shared/${index}`);
  for (const client of clients) {
    await addRun(store.db, { client });
    await addRun(store.db, { client });
  }
  const owner = await addReplica(store.db);
  const claimed: StartedRun[] = [];
  const claim = async (): Promise<number> => {
    const afterClient = claimed.at(-1)?.client ?? "";
    return claimed.push(...(await claimRuns(store.db, { owner, limit: 10, afterClient })));
  };
  while ((await claim()) < 2 * clients.length) {
    expect(claimed.length % 10).toBe(0);
  }
  expect(new Set(claimed.map(({ id }) => id)).size).toBe(2 * clients.length);
  expect(new Set(claimed.slice(0, 10).map(({ client }) => client)).size).toBe(10);
});

test("claims of many replicas at once never overlap and leave nothing", async () => {
  const store = await openStore({ poolSize: 8 });
  const runs = await Promise.all(Array.from({ length: 60 }, () => addRun(store.db)));
  const owners = await Promise.all(Array.from({ length: 6 }, () => addReplica(store.db)));
  const claims = await Promise.all(owners.map((owner) => claimRuns(store.db, { owner, limit: 10 })));
  const ids = claims.flat().map((run) => run.id);
  expect(new Set(ids).size).toBe(ids.length);
  const owner = owners[0] ?? "";
  const rest = await until("the rest", async () => {
    ids.push(...(await claimRuns(store.db, { owner, limit: 60 })).map((run) => run.id));
    return ids.length >= runs.length && ids;
  });
  expect(rest.toSorted()).toEqual(runs.map((run) => run.id).toSorted());
});

test("a replica whose lease has ended claims nothing", async ({ store }) => {
  await addRun(store.db);
  const owner = await addReplica(store.db);
  await endLease(store.db, owner);
  expect(await claimRuns(store.db, { owner, limit: 1 })).toEqual([]);
});

test("a run that was lost and claimed again is stopped, counted and awaited like any other", async ({ store }) => {
  const stops: string[] = [];
  const releases: (() => void)[] = [];
  const wakeup = new LocalWakeup();
  const { dispatcher, lease } = await openReplica(store, {
    wakeup,
    supervise: (run) => new Promise((resolve) => releases.push(() => resolve(void stops.push(run.id)))),
  });
  const run = await addRun(store.db);
  await until("the first start", () => releases.length === 1);
  lease.lose(lease.replicaId ?? "", "test");
  await store.db
    .updateTable("run")
    .set({ status: "queued", owner: null, wake_at: new Date(0) })
    .execute();
  await until("the second start", () => releases.length === 2);
  releases[0]?.();
  await until("the first to be over", () => dispatcher.activeCount === 1);
  let isClosed = false;
  const closed = dispatcher.close().then(() => {
    isClosed = true;
  });
  await until("the claiming to end", async () => (await findRun(store.db, run.id))?.epoch === 2);
  expect(isClosed).toBe(false);
  releases[1]?.();
  await closed;
  expect(stops).toEqual([run.id, run.id]);
});

test("a cancel whose wake-up was lost is found by the poll, which begins with the first run", async ({ store }) => {
  const stopped: string[] = [];
  await openReplica(store, {
    supervise: async (run, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped.push(run.id);
    },
  });
  const run = await addRun(store.db);
  await until("the run to be claimed", async () => (await findRun(store.db, run.id))?.owner != null);
  await store.db.updateTable("run").set({ cancel_request_time: new Date() }).execute();
  await until("the run to be stopped", () => stopped.includes(run.id));
});

test("a slot that is filled after the close is not worked on", async ({ store }) => {
  const bench = new Workbench();
  const { dispatcher } = await openReplica(store, { supervise: bench.supervise });
  using slot = await until("a slot", () => dispatcher.reserve());
  const run = await addRun(store.db, { owner: slot.replicaId });
  await dispatcher.close();
  slot.fill(run);
  expect(bench.started).toEqual([]);
  expect(dispatcher.reserve()).toBeUndefined();
});

test("a run whose claim was answered into a broken connection is let go, and the reaper can take it", async () => {
  const store = await openStore();
  const proxy = await openCuttingProxy(store.url);
  const bench = new Workbench();
  const run = await addRun(store.db);
  const old = new Date(Date.now() - 3_600_000);
  await store.db.updateTable("run").set({ start_time: old }).execute();
  proxy.cutAnswerTo("claimed as");
  await openReplica(connect(proxy.url), { supervise: bench.supervise });
  await until("the claim to be cut off", () => proxy.cuts === 1);
  const stray = await until("the run to be let go", async () => {
    const row = await findRun(store.db, run.id);
    const owners = await store.db.selectFrom("replica").select("id").execute();
    return row?.status === "running" && owners.every(({ id }) => id !== row.owner) && row;
  });
  expect(stray.epoch).toBe(1);
  expect(bench.started).toEqual([]);
});

test("a run that was just started, or is worked on, is not let go", async ({ store }) => {
  const bench = new Workbench();
  const { dispatcher, lease } = await openReplica(store, { supervise: bench.supervise });
  const worked = await addRun(store.db);
  await until("the run to be started", () => bench.started.length === 1);
  await store.db
    .updateTable("run")
    .set({ start_time: new Date(0) })
    .where("id", "=", worked.id)
    .execute();
  const fresh = await addRun(store.db, { owner: lease.replicaId ?? "" });
  const marker = await addRun(store.db);
  await until("a later claim", () => bench.started.some((run) => run.id === marker.id));
  const last = await addRun(store.db);
  await until("one more claim", () => bench.started.some((run) => run.id === last.id));
  for (const { id } of [worked, fresh]) {
    expect((await findRun(store.db, id))?.owner).toBe(lease.replicaId);
  }
  expect(dispatcher.activeCount).toBe(3);
  bench.releaseAll();
});

// Without this retry, a run that starts just when the database goes away would wait for its deadline.
test("a run whose loading is cut off is loaded again", async ({ store }) => {
  const proxy = await openCuttingProxy(store.url);
  const run = await addRun(store.db, { driver: "unknown" });
  proxy.cutAnswerTo("bound as materialized");
  await openReplica(connect(proxy.url));
  await until("the run to have ended", async () => (await findRun(store.db, run.id))?.status === "failed");
  expect(proxy.cuts).toBe(1);
});

test("a run whose completion was committed, though the answer was cut off, stays completed with one terminal result", async () => {
  const store = await openStore();
  const proxy = await openCuttingProxy(store.url);
  const run = await addRun(store.db, { driver: "brief" });
  proxy.cutAnswerTo("status = 'completed'");
  const replica = await openReplica(connect(proxy.url), { drivers: [brief] });
  await until("the run to have ended", async () => (await findRun(store.db, run.id))?.status === "completed");
  await until("its supervisor to be over", () => replica.dispatcher.activeCount === 0);
  expect(proxy.cuts).toBe(1);
  const log = await readLog(store.db, run.id);
  expect(log).toEqual([[1, "runCompleted"]]);
  expect(await findRun(store.db, run.id)).toMatchObject({ status: "completed", epoch: 1, last_sequence: 1 });
});

const brief: Driver = {
  name: "brief",
  recovery: "resume",
  // biome-ignore lint/correctness/useYield: it only ends.
  async *run() {
    const message = create(MessageSchema, { role: "assistant", content: { case: "text", value: "done" } });
    return { kind: "completed", finishReason: "stop", message, turns: 1 };
  },
};
