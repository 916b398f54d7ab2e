// Many whole runs at the same time: as fast as the provider can send, and at the pace of a real model.

import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import { HttpClient } from "../clients/http-client.ts";
import { type Load, percentile, runLoad } from "../harness/load.ts";
import type { Meter } from "../harness/meter.ts";
import type { Service } from "../harness/service.ts";
import type { Stage } from "../harness/stage.ts";
import { Together } from "../harness/together.ts";
import { type Prompt, type RunOutcome, runOverChat, runOverGrpc, runOverSse } from "./agent-run.ts";
import { describeRuns, findFaults, type Measured, measureRuns, type Way } from "./measure-runs.ts";

/** The concurrency at which other services publish their figures. */
const burstConcurrency = 64;
const pacedConcurrencies = [1, 16, 64, 128] as const;
/** The pace of a quick model, 50 pieces a second, and as many streams as fit until an age of 100 ms is passed. */
const streamGapMs = 20;
const streamCounts = [64, 128, 256, 512] as const;
/** The length of a long paragraph. */
const deltas = 200;
const quickDeltas = 50;
/** Enough to open the connections and compile hot code. */
const warmupRuns = 128;
const quickWarmupRuns = 64;
const limitMs = 12_000;

export const burstRuns: Bench = {
  name: "burst",
  title: `${burstConcurrency} runs at a time, ${deltas} deltas each, as fast as possible (message first, then the stream)`,
  notMeasured:
    "a network, TLS, signed requests, tools, several replicas. Deltas that wait for a write are merged, so there are fewer results than deltas. Client, provider and Postgres share the cores, which lowers runs/s.",
  roundsMax: 3,
  async *measure(stage) {
    await using ways = await openWays(stage, "burst");
    const load = { concurrency: burstConcurrency, count: stage.quick ? 64 : 320, limitMs };
    for (;;) {
      yield await compareWays(ways, { deltas, gapMs: 0 }, load, "");
    }
  },
};

/** A run is mostly its fixed cost here: three calls, one request to the provider, and its end. */
export const shortRuns: Bench = {
  name: "short",
  title: `${burstConcurrency} runs at a time, one delta each`,
  notMeasured: "a network, TLS, signed requests, tools, several replicas.",
  roundsMax: 3,
  async *measure(stage) {
    await using ways = await openWays(stage, "short");
    const load = { concurrency: burstConcurrency, count: stage.quick ? 200 : 1_000, limitMs };
    for (;;) {
      yield await compareWays(ways, { deltas: 1, gapMs: 0 }, load, "");
    }
  },
};

export const pacedRuns: Bench = {
  name: "paced",
  title: `${pacedConcurrencies.join(", ")} runs at a time, ${deltas} deltas each (--quick: ${quickDeltas}), one per 5 ms`,
  notMeasured:
    "a network, TLS, signed requests, tools. The timers of many streams in one provider fire together, unlike those of real providers.",
  roundsMax: 3,
  async *measure(stage) {
    await using ways = await openWays(stage, "paced");
    for (;;) {
      yield await compareLoads(
        ways,
        { deltas: stage.quick ? quickDeltas : deltas, gapMs: 5 },
        pacedConcurrencies,
        stage.quick ? 1 : 4,
      );
    }
  },
};

/** How many people one replica can serve at a time. */
export const streamRuns: Bench = {
  name: "streams",
  title: `${streamCounts.join(", ")} runs at a time, ${deltas} deltas each (--quick: ${quickDeltas}), one per ${streamGapMs} ms`,
  notMeasured:
    "a network, TLS, signed requests, tools. Client, provider and Postgres share the cores. The gRPC client has one connection, which carries 100 streams at a time: from 128 on, runs wait for each other.",
  roundsMax: 3,
  async *measure(stage) {
    await using ways = await openWays(stage, "streams", Math.max(...streamCounts));
    for (;;) {
      const prompt = { deltas: stage.quick ? quickDeltas : deltas, gapMs: streamGapMs };
      yield await compareLoads(ways, prompt, streamCounts, 1);
    }
  },
};

/** Measures one prompt at several concurrencies. */
async function compareLoads(
  ways: Ways,
  prompt: Prompt,
  concurrencies: readonly number[],
  runsOfEach: number,
): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const concurrency of concurrencies) {
    const load = { concurrency, count: concurrency * runsOfEach, limitMs };
    variants.push(...(await compareWays(ways, prompt, load, `${concurrency} × `)));
  }
  return variants;
}

interface Ways extends AsyncDisposable {
  /** The first is the harness alone; the others are compared with it. */
  readonly all: readonly [direct: Way, ...others: Way[]];
}

async function openWays(stage: Stage, name: string, slots = 256): Promise<Ways> {
  await using closers = new AsyncDisposableStack();
  const { provider } = stage;
  const services = closers.use(new Together());
  const openService = async (suffix: string): Promise<Service> =>
    services.use(await stage.startService(`${name}-${suffix}`, { slots }));
  const meterOf = ({ pid }: Service): Meter => ({
    servicePid: pid,
    providerPid: provider.pid,
    postmasterPid: stage.home.postmasterPid(),
  });
  const [grpc, sse] = [await openService("grpc"), await openService("sse")];
  const direct: Way = {
    name: "harness alone",
    run: runOverChat(closers.use(new HttpClient(provider.url))),
    meter: { providerPid: provider.pid },
  };
  const others: Way[] = [
    { name: "gRPC", run: runOverGrpc(closers.use(new GrpcClient(grpc.target))), meter: meterOf(grpc) },
    { name: "REST + SSE", run: runOverSse(closers.use(new HttpClient(sse.url))), meter: meterOf(sse) },
  ];
  const warmup: Load = { concurrency: 64, count: stage.quick ? quickWarmupRuns : warmupRuns, limitMs: 4_000 };
  for (const { run } of [direct, ...others]) {
    await runLoad(warmup, () => run({ deltas, gapMs: 0 }));
  }
  const kept = closers.move();
  return { all: [direct, ...others], [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Measures all ways one after the other, so that each is compared with the harness at the same moment. */
async function compareWays(ways: Ways, prompt: Prompt, load: Load, prefix: string): Promise<readonly Variant[]> {
  const [first, ...others] = ways.all;
  const direct = await measureRuns(first, prompt, load);
  const variants = [describe(`${prefix}${first.name}`, prompt, direct, direct)];
  for (const way of others) {
    variants.push(describe(`${prefix}${way.name}`, prompt, await measureRuns(way, prompt, load), direct));
  }
  return variants;
}

function describe(name: string, prompt: Prompt, measured: Measured, direct: Measured): Variant {
  const paced = prompt.gapMs > 0;
  return {
    name,
    metrics: {
      ...describeRuns(prompt, measured),
      ...(paced ? describeDelay(measured, direct) : {}),
      ...describeCost(prompt, measured, direct),
    },
    faults: findFaults(measured.outcomes),
  };
}

/** What the service adds to the time of a run and to the age of each delta. */
function describeDelay(measured: Measured, direct: Measured): Record<string, number> {
  const added = (part: number, values: (outcome: RunOutcome) => readonly number[]): number =>
    percentile(measured.outcomes.flatMap(values), part) - percentile(direct.outcomes.flatMap(values), part);
  const ofRun = ({ latencyMs }: RunOutcome): readonly number[] => [latencyMs];
  const ofDelta = ({ ageMs }: RunOutcome): readonly number[] => ageMs;
  return {
    "added to a run p50, ms": added(0.5, ofRun),
    "added to a run p99, ms": added(0.99, ofRun),
    "added to a delta p50, ms": added(0.5, ofDelta),
    "added to a delta p99, ms": added(0.99, ofDelta),
  };
}

function describeCost(prompt: Prompt, measured: Measured, direct: Measured): Record<string, number> {
  const { cost, outcomes } = measured;
  const msPerRun = (seconds: number): number => (1_000 * seconds) / outcomes.length;
  const usPerDelta = (seconds: number): number => (1_000 * msPerRun(seconds)) / prompt.deltas;
  const harness = (direct.cost.provider + direct.cost.client) / direct.outcomes.length;
  return {
    "service CPU per run, ms": msPerRun(cost.service),
    "service CPU per delta, µs": usPerDelta(cost.service),
    "Postgres CPU per run, ms": msPerRun(cost.postgres),
    "Postgres CPU per delta, µs": usPerDelta(cost.postgres),
    "provider CPU per run, ms": msPerRun(cost.provider),
    "client CPU per run, ms": msPerRun(cost.client),
    "service CPU / harness-alone CPU": cost.service / outcomes.length / harness,
    "runs/s / harness-alone runs/s": outcomes.length / cost.wall / (direct.outcomes.length / direct.cost.wall),
    "service peak RSS, MB": measured.peakMb,
  };
}
