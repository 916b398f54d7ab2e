// Commands on runs from start to end, and the model that later judges how each run ended.

import fc from "fast-check";
import { expect } from "vitest";
import { cancelRun } from "../../src/engine/runs/cancel.ts";
import { startRun } from "../../src/engine/runs/start.ts";
import { findRun, isActive, type RunRow, wakeRun } from "../../src/engine/storage/run.ts";
import { readResults } from "../../src/engine/storage/run-result.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { inTransaction } from "../../src/platform/database/in-transaction.ts";
import { until } from "../harness/wait.ts";
import { input } from "../runlog/store.ts";
import { pick } from "./log-command.ts";
import { PullReader } from "./pull-reader.ts";
import { crash, type RunWorld, restart, type Worker } from "./run-world.ts";
import { type OrderKind, orderKinds, type Post } from "./scripted-driver.ts";

export interface ModelRun {
  readonly id: string;
  readonly driver: string;
  /** Words that a driver has said but that are not yet acknowledged as durable. */
  spoken: { readonly post: Post; readonly word: number }[];
  /** Words acknowledged as durable: those of a commit, and those said before it. */
  readonly acknowledged: number[];
  /** Everything that may be the reason for its end. */
  readonly reasons: Set<OrderKind | "cancel" | "deadline" | "crash">;
  /** Its end, once it was seen in the database. */
  end: Pick<RunRow, "status" | "last_sequence"> | undefined;
}

export interface RunModel {
  readonly sessions: readonly string[];
  readonly runs: ModelRun[];
  readonly readers: { readonly run: ModelRun; readonly reader: PullReader }[];
  words: number;
}

export type RunCommand = fc.AsyncCommand<RunModel, RunWorld>;

const index = fc.nat({ max: 5 });
const two = fc.record({ index, worker: index });

export const commands: readonly fc.Arbitrary<RunCommand>[] = [
  command("send", fc.record({ index, worker: index, driver: fc.constantFrom("steady", "fragile") }), {
    isPossible: () => true,
    run: async (model, world, choice) => {
      await onHealthy(world, choice.worker, (worker) =>
        send(model, world, worker, pick(model.sessions, choice.index), choice.driver),
      );
    },
  }),
  command("order", fc.record({ index, kind: fc.constantFrom(...orderKinds) }), {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => await give(model, world, pick(model.runs, choice.index), choice.kind),
  }),
  command("order and crash", fc.record({ index, kind: fc.constantFrom(...orderKinds) }), {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => {
      const run = pick(model.runs, choice.index);
      const place = await placeOf(world, run);
      if (place !== undefined) {
        await Promise.all([give(model, world, run, choice.kind), crashOne(model, world, place.worker)]);
      }
    },
  }),
  command("order and cancel", fc.record({ index, worker: index, kind: fc.constantFrom(...orderKinds) }), {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => {
      const run = pick(model.runs, choice.index);
      await onHealthy(world, choice.worker, async (worker) => {
        await Promise.all([give(model, world, run, choice.kind), cancel(world, run, worker)]);
      });
    },
  }),
  command("cancel", two, {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => {
      await onHealthy(world, choice.worker, (worker) => cancel(world, pick(model.runs, choice.index), worker));
    },
  }),
  command("wake", index, {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => await wake(world, pick(model.runs, choice)),
  }),
  command("pass the deadline", index, {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => await passDeadline(model, world, pick(model.runs, choice)),
  }),
  command("crash", index, {
    isPossible: () => true,
    run: async (model, world, choice) => await crashOne(model, world, pick(world.workers, choice)),
  }),
  command("restart", index, {
    isPossible: () => true,
    run: async (_, world) => await restartAll(world),
  }),
  command("lose or hear the news", fc.boolean(), {
    isPossible: () => true,
    run: async (_, { wakeup }, isLosing) => {
      wakeup.losing = isLosing;
    },
  }),
  command("tail", fc.record({ index, after: fc.nat({ max: 3 }) }), {
    isPossible: ({ runs }) => runs.length > 0,
    run: async (model, world, choice) => {
      const run = pick(model.runs, choice.index);
      model.readers.push({ run, reader: new PullReader(world.source, run.id, choice.after) });
    },
  }),
];

interface Deed<T> {
  readonly isPossible: (model: RunModel) => boolean;
  readonly run: (model: RunModel, world: RunWorld, choice: T) => Promise<void>;
}

function command<T>(name: string, choices: fc.Arbitrary<T>, deed: Deed<T>): fc.Arbitrary<RunCommand> {
  return choices.map((choice) => ({
    check: (model) => deed.isPossible(model),
    run: async (model, world) => {
      await deed.run(model, world, choice);
      await expectRunsToHold(model, world);
    },
    toString: () => `${name} ${JSON.stringify(choice)}`,
  }));
}

/** A terminal state never changes; a reader has exactly the log after its position. */
async function expectRunsToHold(model: RunModel, world: RunWorld): Promise<void> {
  const { db } = world.store;
  for (const run of model.runs) {
    const row = await findRun(db, run.id);
    const end = row !== undefined && !isActive(row.status) ? row : undefined;
    if (run.end !== undefined) {
      expect(row).toMatchObject(run.end);
    } else if (end !== undefined) {
      run.end = { status: end.status, last_sequence: end.last_sequence };
    }
  }
  for (const { reader } of model.readers) {
    reader.pull();
    await expectReaderToHold(reader, world);
  }
}

export async function expectReaderToHold(reader: PullReader, { store }: RunWorld): Promise<void> {
  const got = reader.got.map(({ bytes }) => Buffer.from(bytes));
  const rows = await readResults(store.db, { runId: reader.runId, after: reader.after, limit: got.length });
  expect(got).toEqual(rows.map(({ payload }) => Buffer.from(payload)));
}

async function onHealthy(world: RunWorld, which: number, work: (worker: Worker) => Promise<void>): Promise<void> {
  const healthy = world.workers.filter(({ isCrashed }) => !isCrashed);
  if (healthy.length > 0) {
    await work(pick(healthy, which));
  }
}

/** A session has one run at a time; a second one is refused only while the first is active. */
export async function send(
  model: RunModel,
  { store, wakeup }: RunWorld,
  { db, clock, dispatcher }: Worker,
  session: string,
  driver: string,
): Promise<void> {
  const active = await store.db.selectFrom("run").select(["id", "status"]).where("session", "=", session).execute();
  const deps = {
    db,
    clock,
    wakeup,
    dispatcher,
    concurrentRunsMax: 0,
    clientRunsMax: 0,
    freeWhileWaiting: [],
    timeoutMs: 3_600_000,
  };
  try {
    const request = { client: "shared/test", session, driver, agentName: "test", input };
    const id = await inTransaction(db, (trx) => startRun(trx, deps, request));
    model.runs.push({ id, driver, spoken: [], acknowledged: [], reasons: new Set(), end: undefined });
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).reason).toBe("SESSION_BUSY");
    expect(active.some(({ status }) => isActive(status))).toBe(true);
  }
}

interface Place {
  readonly worker: Worker;
  readonly post: Post;
}

/** The worker of a run, once it has one. Undefined when the run has ended, waits, or no replica is reachable. */
async function placeOf(world: RunWorld, run: ModelRun): Promise<Place | undefined> {
  const found = await until(`somebody to work on run ${run.id}`, async () => {
    const row = await findRun(world.store.db, run.id);
    const healthy = world.workers.filter(({ isCrashed }) => !isCrashed);
    if (healthy.length === 0 || (row?.status !== "running" && row?.status !== "queued")) {
      return "nobody";
    }
    const worker = healthy.find(({ lease }) => row.status === "running" && lease.replicaId === row.owner);
    const post = worker?.script.post(run.id);
    return worker && post && { worker, post };
  });
  return found === "nobody" ? undefined : found;
}

/** Waits until the order has been carried out or its driver is stopped. */
export async function give(model: RunModel, world: RunWorld, run: ModelRun, kind: OrderKind): Promise<void> {
  const post = (await placeOf(world, run))?.post;
  if (post === undefined) {
    return;
  }
  const word = ++model.words;
  run.reasons.add(kind);
  let isDone = false;
  const done = (): void => {
    isDone = true;
    run.spoken.push({ post, word });
    if (kind === "commit") {
      run.acknowledged.push(...run.spoken.filter((each) => each.post === post).map((each) => each.word));
      run.spoken = [];
    }
  };
  post.give({ kind, word, done });
  await until(`run ${run.id} to ${kind}`, async () => {
    const isOnItsWay = isDone || post.isStopped || world.workers.some(({ isCrashed }) => isCrashed);
    return isOnItsWay || (await findRun(world.store.db, run.id))?.status !== "running";
  });
}

async function cancel({ wakeup }: RunWorld, run: ModelRun, { db, clock, log, dispatcher }: Worker): Promise<void> {
  run.reasons.add("cancel");
  await cancelRun({ db, clock, log, wakeup, dispatcher }, run.id);
}

export async function wake({ store, wakeup }: RunWorld, { id }: ModelRun): Promise<void> {
  if (await wakeRun(store.db, id)) {
    wakeup.publish({ topic: "queue", key: "", value: 0 });
  }
}

/** Moves the deadline of one run in the database, and passes the deadlines of all active runs on their replicas' clocks. */
async function passDeadline(model: RunModel, { store, workers }: RunWorld, { id }: ModelRun): Promise<void> {
  for (const run of model.runs) {
    run.reasons.add("deadline");
  }
  const past = new Date(Date.now() - 1_000);
  const late = store.db.updateTable("run").where("id", "=", id);
  await late.set({ deadline: past }).where("status", "in", ["queued", "running"]).execute();
  await late.set({ deadline: past, wake_at: past }).where("status", "=", "waiting").execute();
  for (const { clock } of workers) {
    clock.pass();
  }
}

async function crashOne(model: RunModel, world: RunWorld, worker: Worker): Promise<void> {
  if (worker.isCrashed) {
    return;
  }
  for (const run of model.runs) {
    run.reasons.add("crash");
  }
  await crash(worker, world);
}

export async function restartAll({ workers }: RunWorld): Promise<void> {
  for (const worker of workers.filter(({ isCrashed }) => isCrashed)) {
    await restart(worker);
  }
}
