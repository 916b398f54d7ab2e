// Offers against a model: runs are started, offered, accepted by the right worker, by the wrong one and too late, cancelled and
// ended, in any order and concurrently. A run is accepted at most once and never after its cancel; no worker and no runner
// exceeds its maximum; and no run is left over.

import type { ServiceError } from "@grpc/grpc-js";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerWorkerService, type RunOffer } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { findViolations } from "../fault/invariants.ts";
import { endOffers } from "../fault/runners/reported.ts";
import { query } from "../harness/database.ts";
import { inTime } from "../harness/examples.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { bind, done, HandWorker, type ReportedRun, start } from "../runners/hand-worker.ts";

/** Maximum of each runner over all its workers; less than the sum of its workers' maximums. */
const runnerMax = 3;
/** Maximum of each worker that listens. */
const listenerMax = 2;
const enoughMs = 45_000;
const busyMs = 180_000;

interface Offered {
  readonly offer: RunOffer;
  readonly worker: HandWorker;
}

interface Taken extends ReportedRun {
  readonly worker: HandWorker;
  readonly offerId: string;
}

interface World {
  readonly databaseUrl: string;
  readonly client: GrpcClient;
  readonly runners: readonly string[];
  readonly listeners: readonly HandWorker[];
  readonly workers: readonly HandWorker[];
  readonly started: string[];
  readonly offers: Offered[];
  readonly taken: Map<string, Taken>;
  /** Runs whose cancel was answered before a worker accepted them. */
  readonly cancelled: Set<string>;
}

type Step =
  | { readonly kind: "start" | "poll" | "take" | "take-foreign" | "take-twice" | "cancel" | "end"; readonly at: number }
  | { readonly kind: "expire" }
  | { readonly kind: "take-and-cancel" | "poll-together" | "take-together"; readonly at: number };

const place = fc.nat({ max: 40 });
const step = (kind: Exclude<Step["kind"], "expire">): fc.Arbitrary<Step> => place.map((at) => ({ kind, at }));
const steps = fc.oneof(
  { weight: 5, arbitrary: step("start") },
  { weight: 3, arbitrary: step("poll") },
  { weight: 5, arbitrary: step("take") },
  { weight: 1, arbitrary: step("take-foreign") },
  { weight: 1, arbitrary: step("take-twice") },
  { weight: 2, arbitrary: step("cancel") },
  { weight: 2, arbitrary: step("end") },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "expire" }) },
  { weight: 1, arbitrary: step("take-and-cancel") },
  { weight: 1, arbitrary: step("poll-together") },
  { weight: 2, arbitrary: step("take-together") },
);

test("a run is accepted at most once, no maximum is exceeded and no run is stuck, in any order of offers and cancels", {
  timeout: busyMs,
}, async () => {
  const world = await openWorld();
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 10, maxLength: 40 }),
      inTime(enoughMs, async (story) => {
        for (const each of story) {
          await play(world, each);
          await expectRoomKept(world);
        }
        await finish(world);
      }),
    ),
    { numRuns: 40 },
  );
  expect(world.taken.size).toBeGreaterThan(20);
  expect(world.cancelled.size).toBeGreaterThan(0);
  expect(await findViolations(world.databaseUrl)).toEqual([]);
});

async function openWorld(): Promise<World> {
  const service = await startService({
    runnersMaxConcurrent: runnerMax,
    sessionsMaxConcurrent: 0,
    sessionsClientMaxConcurrent: 0,
    databasePoolSize: 8,
  });
  const client = new GrpcClient(service.target);
  const runners = ["plugin:tests/offers/one", "plugin:tests/offers/two"];
  for (const [index, runnerId] of runners.entries()) {
    await registered(service.target, runnerId);
    await bind(client, {
      bindingId: `b-${index}`,
      runnerId,
      scope: { kind: BindingScope_Kind.BOT, id: `bot-${index}` },
    });
  }
  const [one = "", two = ""] = runners;
  const listeners = [await registered(service.target, one), await registered(service.target, one)];
  const pollers = [await registered(service.target, one), await registered(service.target, two)];
  const world: World = {
    databaseUrl: service.databaseUrl,
    client,
    runners,
    listeners,
    workers: [...listeners, ...pollers],
    started: [],
    offers: [],
    taken: new Map(),
    cancelled: new Set(),
  };
  for (const worker of listeners) {
    // Two streams, as while a worker reconnects: they count as one worker.
    void listen(world, worker);
    void listen(world, worker);
  }
  return world;
}

async function registered(target: string, runnerId: string): Promise<HandWorker> {
  const worker = new HandWorker(target);
  await worker.register("one-worker", { id: runnerId });
  return worker;
}

async function listen({ offers }: World, worker: HandWorker): Promise<void> {
  const request = { workerSessionId: worker.session, maxConcurrent: listenerMax };
  const stream = worker.client.stream(RunnerWorkerService.method.listenAssignments, request);
  onTestFinished(() => stream.cancel());
  try {
    for await (const { assignment } of stream) {
      if (assignment.case === "offer") {
        offers.push({ offer: assignment.value, worker });
      }
    }
  } catch {
    // The test is over.
  }
}

async function play(world: World, each: Step): Promise<void> {
  const { client, workers, started, offers } = world;
  if (each.kind === "expire") {
    await endOffers(world.databaseUrl);
    return;
  }
  const { kind, at } = each;
  const offered = offers[offers.length - 1 - (at % Math.max(1, offers.length))];
  const runId = started[started.length - 1 - (at % Math.max(1, started.length))];
  switch (kind) {
    case "start":
      started.push(await start(client, { botId: `bot-${at % world.runners.length}`, conversationId: `c-${at}` }));
      return;
    case "poll":
      return await poll(world, workers[at % workers.length]);
    case "poll-together":
      await Promise.all(workers.map((worker) => poll(world, worker)));
      return;
    case "take":
      return offered && (await take(world, offered));
    case "take-foreign":
      return offered && (await take(world, { ...offered, worker: otherThan(world, offered.worker) }));
    case "take-twice":
      await Promise.all(offered === undefined ? [] : [take(world, offered), take(world, offered)]);
      return;
    case "take-together":
      // All recent offers, accepted by now or not.
      await Promise.all(offers.slice(-12).map((one) => take(world, one)));
      return;
    case "cancel":
      return runId === undefined ? undefined : await cancel(world, runId);
    case "take-and-cancel":
      await Promise.all(offered === undefined ? [] : [take(world, offered), cancel(world, offered.offer.runId)]);
      return;
    case "end":
      return await end(world, [...world.taken.values()].at(-1 - (at % Math.max(1, world.taken.size))));
    default:
      return kind satisfies never;
  }
}

function otherThan({ workers }: World, worker: HandWorker): HandWorker {
  return workers.find((each) => each !== worker) ?? expect.unreachable();
}

async function poll(world: World, worker: HandWorker | undefined): Promise<void> {
  if (worker === undefined || world.listeners.includes(worker)) {
    return;
  }
  const { assignment } = await worker.client.call(RunnerWorkerService.method.pollAssignment, {
    workerSessionId: worker.session,
    waitSeconds: 0,
  });
  if (assignment?.assignment.case === "offer") {
    world.offers.push({ offer: assignment.assignment.value, worker });
  }
}

async function take(world: World, { offer, worker }: Offered): Promise<void> {
  const { taken, cancelled } = world;
  const { runId, offerId } = offer;
  const wasCancelled = cancelled.has(runId);
  const isSurelyGood = await hasTime(world, offer, worker);
  const accepted = await worker.accept(offer).catch((error: ServiceError) => reasonOf(error));
  if (typeof accepted !== "object") {
    expect(accepted).toBe("OFFER_TAKEN");
    const isTaken = taken.has(runId) || (await isOver(world, runId));
    expect([isSurelyGood && !isTaken, runId]).toEqual([false, runId]);
    return;
  }
  expect(wasCancelled).toBe(false);
  const before = taken.get(runId);
  // Only the same worker may accept again, and only with the same offer.
  expect([before?.worker ?? worker, before?.offerId ?? offerId]).toEqual([worker, offerId]);
  expect(accepted.attempt).toBe(1);
  taken.set(runId, { ...accepted, worker, offerId });
}

/** Whether the offer belongs to the worker and is valid for at least 5 s. */
async function hasTime(
  { databaseUrl }: World,
  { runId, offerId }: RunOffer,
  { session }: HandWorker,
): Promise<boolean> {
  const rows = await query(
    databaseUrl,
    `select from remote_run join run on run.id = run_id where run_id = $1 and offer_id = $2 and offer_session = $3
      and attempt = 0 and status = 'queued' and offer_until > now() + interval '5 s'`,
    [runId, offerId, session],
  );
  return rows.length === 1;
}

async function isOver({ databaseUrl }: World, runId: string): Promise<boolean> {
  const rows = await query(databaseUrl, "select from run where id = $1 and status <> 'queued'", [runId]);
  return rows.length === 1;
}

async function cancel(world: World, runId: string): Promise<void> {
  const { run } = await world.client.call(RunService.method.cancelRun, { runId });
  if (run?.state === Run_State.CANCELLED && run.startTime === undefined) {
    world.cancelled.add(runId);
  }
}

async function end({ taken }: World, run: Taken | undefined): Promise<void> {
  if (run !== undefined && taken.has(run.runId)) {
    expect((await run.worker.report(run, { 1: done })).ended).toBe(true);
  }
}

/** Open offers count, since their workers may still accept them. */
async function expectRoomKept({ databaseUrl, listeners }: World): Promise<void> {
  const rows = await query<{ runner_id: string; session: string; runs: number }>(
    databaseUrl,
    `select runner_id, case when attempt = 0 then offer_session else worker_session end as session, count(*)::int as runs
      from remote_run join run on run.id = run_id
      where status in ('queued', 'running') and (attempt > 0 or offer_until > now()) group by 1, 2`,
  );
  const ofRunner = Map.groupBy(rows, (row) => row.runner_id);
  for (const [runnerId, each] of ofRunner) {
    expect([runnerId, each.reduce((sum, { runs }) => sum + runs, 0) <= runnerMax]).toEqual([runnerId, true]);
  }
  for (const { session } of listeners) {
    const runs = rows.filter((row) => row.session === session).reduce((sum, row) => sum + row.runs, 0);
    expect(runs).toBeLessThanOrEqual(listenerMax);
  }
}

/** Every run that was not cancelled is accepted by a worker and ends. */
async function finish(world: World): Promise<void> {
  const { databaseUrl, started, taken, offers, workers } = world;
  await until("every run to end", async () => {
    for (const run of taken.values()) {
      await end(world, run);
    }
    await Promise.all(workers.map((worker) => poll(world, worker)));
    for (const offered of offers.splice(0)) {
      await take(world, offered);
    }
    await endOffers(databaseUrl);
    const rows = await query(databaseUrl, "select from run where status in ('queued', 'running', 'waiting')");
    return rows.length === 0;
  });
  const rows = await query<{ id: string; attempt: number; status: string }>(
    databaseUrl,
    "select id, attempt, status from run join remote_run on run_id = id where id = any($1)",
    [started],
  );
  expect(rows).toHaveLength(started.length);
  for (const { id, attempt, status } of rows) {
    expect([id, attempt]).toEqual([id, taken.has(id) ? 1 : 0]);
    expect([id, status]).toEqual([id, taken.has(id) && status !== "cancelled" ? "completed" : "cancelled"]);
  }
  started.splice(0);
}
