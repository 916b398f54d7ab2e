// Whole runs, many at a time: as fast as the provider can speak, and at the pace of a real model.

import type { AgentRun, Prompt, RunOutcome } from "./agent-run.ts";
import { runDirectly, runOverGrpc, runOverSse } from "./agent-run.ts";
import type { Bench, Stage, Variant } from "./bench.ts";
import { GrpcClient } from "./grpc-client.ts";
import { HttpClient } from "./http-client.ts";
import { type Load, percentile, runLoad, sharePercent, sum } from "./load.ts";
import { type Cost, type Meter, measure, peakMemoryMb } from "./meter.ts";

/** The concurrency that the figures of other services are known for. */
const concurrency = 64;
/** A long paragraph. */
const deltas = 200;
/** Enough for connections to be open and hot code to be compiled. */
const warmupRuns = 128;
const warmupLimitMs = 4_000;

export const burstRuns: Bench = {
  name: "burst",
  title: `${concurrency} runs at a time, ${deltas} deltas each, as fast as possible (message first, then the stream)`,
  notMeasured:
    "a network, TLS, signed requests, tools, several replicas; deltas that wait for a write are merged, so results are fewer than deltas; runs/s shares the cores with client, provider and Postgres.",
  run: (stage) => compareWays(stage, "burst", { deltas, gapMs: 0 }, stage.quick ? 128 : 960, 12_000),
};

export const pacedRuns: Bench = {
  name: "paced",
  title: `${concurrency} runs at a time, ${deltas} deltas each, one per 5 ms`,
  notMeasured:
    "a network, TLS, signed requests, tools; the timers of 64 streams in one provider fire together, which real providers' do not.",
  run: (stage) => compareWays(stage, "paced", { deltas, gapMs: 5 }, stage.quick ? 64 : 256, 10_000),
};

async function compareWays(
  stage: Stage,
  name: string,
  prompt: Prompt,
  count: number,
  limitMs: number,
): Promise<readonly Variant[]> {
  const load = { concurrency, count, limitMs };
  const direct = await measureDirectly(stage, prompt, load);
  return [
    describe("harness alone", prompt, direct, direct),
    describe("gRPC", prompt, await measureGrpc(stage, `${name}-grpc`, prompt, load), direct),
    describe("REST + SSE", prompt, await measureSse(stage, `${name}-sse`, prompt, load), direct),
  ];
}

interface Measured {
  readonly outcomes: readonly RunOutcome[];
  readonly cost: Cost;
  readonly peakMb: number;
}

async function measureDirectly({ provider }: Stage, prompt: Prompt, load: Load): Promise<Measured> {
  using client = new HttpClient(provider.url);
  return await measureRuns(runDirectly(client), prompt, load, { providerPid: provider.pid });
}

async function measureGrpc(stage: Stage, name: string, prompt: Prompt, load: Load): Promise<Measured> {
  await using service = await stage.startService(name);
  using client = new GrpcClient(service.target);
  return await measureRuns(runOverGrpc(client), prompt, load, meterOf(stage, service.pid));
}

async function measureSse(stage: Stage, name: string, prompt: Prompt, load: Load): Promise<Measured> {
  await using service = await stage.startService(name);
  using client = new HttpClient(service.url);
  return await measureRuns(runOverSse(client), prompt, load, meterOf(stage, service.pid));
}

function meterOf({ provider, home }: Stage, servicePid: number): Meter {
  return { servicePid, providerPid: provider.pid, postmasterPid: home.postmasterPid() };
}

async function measureRuns(run: AgentRun, prompt: Prompt, load: Load, meter: Meter): Promise<Measured> {
  await runLoad({ ...load, count: warmupRuns, limitMs: warmupLimitMs }, () => run({ deltas, gapMs: 0 }));
  const { result: outcomes, cost } = await measure(meter, () => runLoad(load, () => run(prompt)));
  return { outcomes, cost, peakMb: meter.servicePid === undefined ? Number.NaN : peakMemoryMb(meter.servicePid) };
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

function describeRuns(prompt: Prompt, { outcomes, cost }: Measured): Record<string, number> {
  const latencyMs = outcomes.map((outcome) => outcome.latencyMs);
  return {
    runs: outcomes.length,
    "runs/s": outcomes.length / cost.wall,
    "deltas in/s": (outcomes.length * prompt.deltas) / cost.wall,
    "results stored/s": sum(outcomes.map(({ results }) => results)) / cost.wall,
    "results per run": sum(outcomes.map(({ results }) => results)) / outcomes.length,
    "text complete, % of runs": sharePercent(outcomes.map(({ complete }) => complete)),
    "done, % of runs": sharePercent(outcomes.map(({ done }) => done)),
    "run p50, ms": percentile(latencyMs, 0.5),
    "run p99, ms": percentile(latencyMs, 0.99),
    "first text p50, ms": percentile(
      outcomes.map(({ firstTextMs }) => firstTextMs),
      0.5,
    ),
  };
}

/** What the service adds to the time of a run and to the age at which each delta arrives. */
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

function findFaults(outcomes: readonly RunOutcome[]): string[] {
  const torn = outcomes.filter(({ complete }) => !complete).length;
  const open = outcomes.filter(({ done }) => !done).length;
  return [
    ...(outcomes.length === 0 ? ["no run was made"] : []),
    ...(torn > 0 ? [`${torn} runs without all of their text`] : []),
    ...(open > 0 ? [`${open} runs without their end`] : []),
  ];
}
