// Runs of a worker, over the wire: how fast its reports become durable, how fast its host answers its requests, and how much
// longer a run takes than one of the service's own loop.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  GetStateRequestSchema,
  GetStateResponseSchema,
  HostStorageService,
  SetStateRequestSchema,
} from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import { H2Client } from "../clients/h2-client.ts";
import { type Load, percentile, runLoad } from "../ground/load.ts";
import { measure } from "../ground/meter.ts";
import type { Service } from "../ground/service.ts";
import type { Stage } from "../ground/stage.ts";
import { BenchWorker, pathOf } from "./bench-worker.ts";
import { measureCalls } from "./calls.ts";

const batchResults = 20;
const activeRuns = 64;
/** The pieces of a run that is compared with a run of the loop. */
const pieces = 64;

export const runners: Bench = {
  name: "runners",
  title: "Runs of a worker: reports of 20 pieces, host calls, and whole runs of 64 pieces",
  notMeasured:
    "a network, TLS, a runner's own work, several replicas, effects beside the log. The worker uses Node's bare HTTP/2; an SDK costs more.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("runners");
    using client = new H2Client(service.target);
    const worker = new BenchWorker(client);
    await worker.open();
    await measureWhole(worker, service, stage.quick ? 20 : 50);
    for (;;) {
      yield [
        await measureReports(worker, service, stage),
        await measureHost(worker, service, stage),
        await measureOffers(worker, stage),
        ...(await measureWhole(worker, service, stage.quick ? 40 : 150)),
      ];
    }
  },
};

/** Each run reports one batch after the other, all runs at the same time. */
async function measureReports(worker: BenchWorker, { pid, target }: Service, { quick, home }: Stage): Promise<Variant> {
  using connections = new DisposableStack();
  const reporters = Array.from({ length: 4 }, () => new BenchWorker(connections.use(new H2Client(target))));
  const runs = await Promise.all(
    Array.from({ length: activeRuns }, async (_, index) => {
      await worker.start("reports");
      const accepted = await worker.accept(await worker.offer());
      return { accepted, next: 1, reporter: reporters[index % reporters.length] as BenchWorker };
    }),
  );
  const limitMs = quick ? 500 : 2_000;
  // A run may report ten thousand results.
  const load: Load = { concurrency: activeRuns, count: activeRuns * 450, limitMs };
  const free = [...runs];
  const variant = await measureCalls({
    ...load,
    name: "reports",
    meter: { servicePid: pid, postmasterPid: home.postmasterPid() },
    call: async () => {
      const run = free.shift() as (typeof runs)[number];
      const from = run.next;
      run.next += batchResults;
      const isGood = await run.reporter.report(run.accepted, from, batchResults);
      free.push(run);
      return isGood;
    },
  });
  await Promise.all(runs.map(({ accepted, next }) => worker.report(accepted, next, 0, true)));
  return {
    ...variant,
    metrics: { ...variant.metrics, "results/s": (variant.metrics["calls/s"] ?? Number.NaN) * batchResults },
  };
}

/** Sixteen runs read one value of the state again and again, each one read at a time. */
async function measureHost(worker: BenchWorker, { pid, target }: Service, { quick, home }: Stage): Promise<Variant> {
  using connections = new DisposableStack();
  const hosts = await Promise.all(
    Array.from({ length: 16 }, async () => {
      await worker.start("host");
      const accepted = await worker.accept(await worker.offer());
      const { runId, runToken } = accepted;
      const client = connections.use(new H2Client(target, `Bearer ${runToken}`));
      const set = create(SetStateRequestSchema, { runId, scope: "runner", key: "k", value: '"value"' });
      await client.call(pathOf(HostStorageService.method.setState), toBinary(SetStateRequestSchema, set));
      const get = create(GetStateRequestSchema, { runId, scope: "runner", key: "k" });
      return { accepted, client, request: toBinary(GetStateRequestSchema, get) };
    }),
  );
  let next = 0;
  const variant = await measureCalls({
    name: "GetState",
    concurrency: 1,
    count: quick ? 200 : 1_000,
    limitMs: 5_000,
    meter: { servicePid: pid, postmasterPid: home.postmasterPid() },
    call: async () => {
      const { client, request } = hosts[next++ % hosts.length] as (typeof hosts)[number];
      const bytes = await client.call(pathOf(HostStorageService.method.getState), request);
      return fromBinary(GetStateResponseSchema, bytes).value === '"value"';
    },
  });
  await Promise.all(hosts.map(({ accepted }) => worker.report(accepted, 1, 0, true)));
  return variant;
}

/** On an idle service: the time from the start of a run, and from its offer, until its first result is durable. */
async function measureOffers(worker: BenchWorker, { quick }: Stage): Promise<Variant> {
  const fromStart: number[] = [];
  const fromOffer: number[] = [];
  for (let run = 0; run < (quick ? 40 : 150); run++) {
    const startedMs = performance.now();
    const [offer] = await Promise.all([worker.offer(), worker.start("offers")]);
    const offeredMs = performance.now();
    const run = await worker.accept(offer);
    await worker.report(run, 1, 1);
    fromStart.push(performance.now() - startedMs);
    fromOffer.push(performance.now() - offeredMs);
    await worker.report(run, 2, 0, true);
  }
  return {
    name: "idle",
    metrics: {
      runs: fromStart.length,
      "start → first result p50, ms": percentile(fromStart, 0.5),
      "start → first result p99, ms": percentile(fromStart, 0.99),
      "offer → first result p50, ms": percentile(fromOffer, 0.5),
      "offer → first result p99, ms": percentile(fromOffer, 0.99),
    },
    faults: [],
  };
}

/** The worker and the loop send the same text, sixteen runs at a time, until a reader of the log has the end. */
async function measureWhole(worker: BenchWorker, service: Service, count: number): Promise<Variant[]> {
  using client = new GrpcClient(service.target);
  const load: Load = { concurrency: 16, count, limitMs: 10_000 };
  const byWorker = async (): Promise<void> => {
    const [offer, runId] = await Promise.all([worker.offer(), worker.start("whole")]);
    const work = async (): Promise<void> => {
      const run = await worker.accept(offer);
      for (let sent = 0; sent < pieces; sent += 16) {
        await worker.report(run, sent + 1, 16);
      }
      await worker.report(run, pieces + 1, 0, true);
    };
    await Promise.all([work(), client.stream(RunService.method.tailRun, { runId }, () => {})]);
  };
  const byLoop = async (): Promise<void> => {
    const agent = { name: "bench", model: "gpt-4o-mini" };
    const { sessionId } = await client.call(SessionService.method.createSession, { agent });
    const message = `deltas=${pieces} gap=0`;
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
    await client.stream(RunService.method.tailRun, { runId }, () => {});
  };
  const loop = await measureRuns("llm-loop", byLoop, load, service);
  const remote = await measureRuns("a worker", byWorker, load, service);
  const ratio = (remote.metrics["run p50, ms"] ?? Number.NaN) / (loop.metrics["run p50, ms"] ?? Number.NaN);
  return [{ ...remote, metrics: { ...remote.metrics, "run p50, ratio to llm-loop": ratio } }, loop];
}

async function measureRuns(name: string, run: () => Promise<void>, load: Load, { pid }: Service): Promise<Variant> {
  const timed = async (): Promise<number> => {
    const startedMs = performance.now();
    await run();
    return performance.now() - startedMs;
  };
  const { result: msEach, cost } = await measure({ servicePid: pid }, () => runLoad(load, timed));
  return {
    name,
    metrics: {
      runs: msEach.length,
      "run p50, ms": percentile(msEach, 0.5),
      "run p99, ms": percentile(msEach, 0.99),
      "service CPU per run, ms": (1_000 * cost.service) / msEach.length,
    },
    faults: [],
  };
}
