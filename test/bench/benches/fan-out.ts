// One run with many readers: what a delivery costs, and how old a delta is when it arrives; beside servers that only write the
// same bytes to as many streams.

import type { Bench, Variant } from "../bench.ts";
import { percentile, sum } from "../harness/load.ts";
import { type Cost, type Meter, measure, peakMemoryMb } from "../harness/meter.ts";
import type { Service } from "../harness/service.ts";
import type { BareServer, Stage } from "../harness/stage.ts";
import { Together } from "../harness/together.ts";
import { type OpenReaders, openReaders, type Reader, type Shape, sampledEvery } from "./readers.ts";
import { openBareSource, openServiceSource, type StreamSource } from "./stream-sources.ts";

const readers = 1_000;
/** The pace of a fast model. */
const resultsPerSecond = 50;
const gapMs = 1_000 / resultsPerSecond;
const warmupDeltas = 40;

const shapes: readonly Shape[] = [
  { name: "gRPC, 20 connections", protocol: "grpc", readers, connections: 20 },
  { name: "gRPC, 1000 connections", protocol: "grpc", readers, connections: readers },
  { name: "SSE, 1000 connections", protocol: "sse", readers, connections: readers },
];

export const fanOut: Bench = {
  name: "fan-out",
  title: `One run, ${readers} readers, a delta per ${gapMs} ms (offered: ${readers * resultsPerSecond} deliveries/s)`,
  notMeasured:
    "readers on other replicas, slow readers, TLS, a network; a faster writer, for which coalescing lowers the cost of each result. The client decodes only its sample, so real readers cost more than here.",
  roundsMax: 3,
  async *measure(stage) {
    await using servers = new Together();
    const stands: Stand[] = [];
    for (const shape of shapes) {
      const service = servers.use(await stage.startService(`fan-out-${shape.protocol}-${shape.connections}`));
      stands.push({ shape, service, bare: servers.use(await stage.startBareServer()) });
    }
    for (const { shape, service } of stage.quick ? [] : stands) {
      await measureService(stage, { shape, service }, warmupDeltas);
    }
    for (;;) {
      yield await measureStands(stage, stands, stage.quick ? 30 : 75);
    }
  },
};

/** What sends to the readers of one shape. */
interface Stand {
  readonly shape: Shape;
  readonly service: Service;
  readonly bare: BareServer;
}

async function measureStands(stage: Stage, stands: readonly Stand[], deltas: number): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const { shape, service, bare } of stands) {
    const source = { ...openBareSource(bare, { shape, deltas, gapMs }), name: `bare ${shape.name}`, deltas };
    const bareVariant = await measureReaders(shape, { servicePid: bare.pid }, source);
    variants.push(compare(await measureService(stage, { shape, service }, deltas), bareVariant), bareVariant);
  }
  return variants;
}

async function measureService(stage: Stage, stand: Omit<Stand, "bare">, deltas: number): Promise<Variant> {
  const { shape, service } = stand;
  const source = { ...(await openServiceSource(stage, service, { shape, deltas, gapMs })), name: shape.name, deltas };
  return await measureReaders(shape, { servicePid: service.pid, postmasterPid: stage.home.postmasterPid() }, source);
}

interface Hearing extends StreamSource {
  readonly name: string;
  readonly deltas: number;
}

/** Opens all readers while the sender is held, then releases it and waits until every stream has ended. */
async function measureReaders(shape: Shape, meter: Meter, { name, deltas, place, speak }: Hearing): Promise<Variant> {
  using opened = await openReaders(shape, place);
  const before = sum(opened.readers.map(({ deliveries }) => deliveries));
  const { cost } = await measure(meter, () => Promise.all([speak(), opened.ended]));
  const deliveries = sum(opened.readers.map((reader) => reader.deliveries)) - before;
  const metrics = describeReaders(opened, deliveries, cost);
  const peak = { "service peak RSS, MB": peakMemoryMb(meter.servicePid ?? 0) };
  return { name, metrics: { ...metrics, ...peak }, faults: findFaults(opened.readers, deltas) };
}

function describeReaders(opened: OpenReaders, deliveries: number, cost: Cost): Record<string, number> {
  const ageMs = opened.readers.flatMap((reader) => reader.ageMs);
  return {
    deliveries,
    // Fewer than the deltas when the writer was late and merged them.
    "results per reader": deliveries / opened.readers.length,
    "deliveries/s": deliveries / cost.wall,
    "messages per reader": sum(opened.readers.map(({ messages }) => messages)) / opened.readers.length,
    "delta age p50, ms": percentile(ageMs, 0.5),
    "delta age p99, ms": percentile(ageMs, 0.99),
    "service CPU, % of a core": (100 * cost.service) / cost.wall,
    // The cost without merging. The share alone is small on a machine that does not keep up.
    "service CPU at 50 results/s, % of a core": (100 * cost.service * readers * resultsPerSecond) / deliveries,
    "service CPU per delivery, µs": (1_000_000 * cost.service) / deliveries,
    "client CPU, % of a core": (100 * cost.client) / cost.wall,
  };
}

function findFaults(readers: readonly Reader[], deltas: number): string[] {
  const uneven = readers.filter(({ deliveries }) => deliveries !== readers[0]?.deliveries).length;
  const sampled = readers.filter((_, index) => index % sampledEvery === 0);
  const torn = sampled.filter(({ stamps }) => stamps !== deltas).length;
  return [
    ...(uneven > 0 ? [`${uneven} readers got a different number of results than the first one`] : []),
    ...(torn > 0 ? [`${torn} of ${sampled.length} sampled readers have missing text`] : []),
  ];
}

function compare(variant: Variant, bare: Variant): Variant {
  const metric = "service CPU per delivery, µs";
  const ratio = (variant.metrics[metric] ?? Number.NaN) / (bare.metrics[metric] ?? Number.NaN);
  return { ...variant, metrics: { ...variant.metrics, "service CPU, ratio to bare": ratio } };
}
