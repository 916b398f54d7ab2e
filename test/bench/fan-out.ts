// One run with many readers: what a delivery costs, and how old a delta is when it arrives.

import { fromBinary } from "@bufbuild/protobuf";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { readStamps } from "./answer.ts";
import type { Bench, Stage, Variant } from "./bench.ts";
import { GrpcClient } from "./grpc-client.ts";
import { HttpClient } from "./http-client.ts";
import { percentile, sum } from "./load.ts";
import { type Cost, measure, peakMemoryMb } from "./meter.ts";

const readers = 200;
/** Twenty streams on each, well below what a server lets one connection open. */
const grpcConnections = 10;
/** Reading the stamps of all deliveries would make the client the bottleneck. */
const sampledReaders = 8;
const gapMs = 5;

export const fanOut: Bench = {
  name: "fan-out",
  title: `One run, ${readers} readers, a delta per ${gapMs} ms (offered: ${(readers * 1_000) / gapMs} deliveries/s at most)`,
  notMeasured:
    "readers on other replicas, slow readers, a network; the client decodes only what its sample needs, so real readers cost more than here.",
  run: async (stage) => [await measureGrpc(stage), await measureSse(stage)],
};

/** One reader: how many results or events it got, of which kind its door has them. */
interface Reader {
  deliveries: number;
  messages: number;
  stamps: number;
  readonly ageMs: number[];
}

async function measureGrpc(stage: Stage): Promise<Variant> {
  await using service = await stage.startService("fan-out-grpc");
  using disposables = new DisposableStack();
  const clients = Array.from({ length: grpcConnections }, () => disposables.use(new GrpcClient(service.target)));
  const clientOf = (index: number): GrpcClient => clients[index % grpcConnections] as GrpcClient;
  const { sessionId } = await clientOf(0).call(SessionService.method.createSession, { agent });
  const { runId } = await clientOf(0).call(SessionService.method.sendMessage, { sessionId, message: messageOf(stage) });
  const read = (reader: Reader, index: number, opened: () => void): Promise<void> =>
    clientOf(index).stream(RunService.method.tailRun, { runId }, (bytes) => {
      opened();
      reader.messages++;
      reader.deliveries += countResults(bytes);
      if (index < sampledReaders) {
        noteStamps(reader, textOf(bytes));
      }
    });
  return await measureReaders("gRPC", stage, service.pid, read);
}

async function measureSse(stage: Stage): Promise<Variant> {
  await using service = await stage.startService("fan-out-sse");
  using client = new HttpClient(service.url);
  const session = JSON.parse((await client.send("POST", "/v1/sessions", { agent })).text);
  const path = `/v1/sessions/${session.session_id}`;
  await client.send("POST", `${path}/messages`, { message: messageOf(stage) });
  const read = (reader: Reader, index: number, opened: () => void): Promise<void> =>
    client.events("GET", `${path}/stream`, (block) => {
      opened();
      if (block.startsWith(":")) {
        return;
      }
      reader.messages++;
      reader.deliveries++;
      if (index < sampledReaders) {
        noteStamps(reader, block);
      }
    });
  return await measureReaders("REST + SSE", stage, service.pid, read);
}

type Read = (reader: Reader, index: number, opened: () => void) => Promise<void>;

/** Opens all readers while the provider is held, then lets it speak and waits until every stream has ended. */
async function measureReaders(name: string, stage: Stage, servicePid: number, read: Read): Promise<Variant> {
  using provider = new HttpClient(stage.provider.url);
  const crowd = Array.from({ length: readers }, (): Reader => ({ deliveries: 0, messages: 0, stamps: 0, ageMs: [] }));
  const opened = crowd.map(() => Promise.withResolvers<void>());
  const reading = crowd.map((reader, index) => read(reader, index, () => opened[index]?.resolve()));
  // Whichever comes first: a stream that fails would never open.
  await Promise.race([Promise.all(opened.map(({ promise }) => promise)), Promise.all(reading)]);
  const before = sum(crowd.map(({ deliveries }) => deliveries));
  const meter = { servicePid, providerPid: stage.provider.pid, postmasterPid: stage.home.postmasterPid() };
  const { cost } = await measure(meter, async () => {
    await provider.send("POST", "/release");
    await Promise.all(reading);
  });
  return describe(name, stage, crowd, before, cost, peakMemoryMb(servicePid));
}

function describe(
  name: string,
  stage: Stage,
  crowd: readonly Reader[],
  before: number,
  cost: Cost,
  peakMb: number,
): Variant {
  const deliveries = sum(crowd.map((reader) => reader.deliveries)) - before;
  const ageMs = crowd.flatMap((reader) => reader.ageMs);
  return {
    name,
    metrics: {
      "results per reader": deliveries / readers,
      deliveries,
      "deliveries/s": deliveries / cost.wall,
      "messages per reader": sum(crowd.map(({ messages }) => messages)) / readers,
      "delta age p50, ms": percentile(ageMs, 0.5),
      "delta age p99, ms": percentile(ageMs, 0.99),
      "service CPU per delivery, µs": (1_000_000 * cost.service) / deliveries,
      "service CPU, % of a core": (100 * cost.service) / cost.wall,
      "client CPU per delivery, µs": (1_000_000 * cost.client) / deliveries,
      "service peak RSS, MB": peakMb,
    },
    faults: findFaults(crowd, deltasOf(stage)),
  };
}

function findFaults(crowd: readonly Reader[], deltas: number): string[] {
  const uneven = crowd.filter(({ deliveries }) => deliveries !== crowd[0]?.deliveries).length;
  const torn = crowd.slice(0, sampledReaders).filter(({ stamps }) => stamps !== deltas).length;
  return [
    ...(uneven > 0 ? [`${uneven} readers got another number of results than the first one`] : []),
    ...(torn > 0 ? [`${torn} of ${sampledReaders} sampled readers miss text`] : []),
  ];
}

const agent = { name: "bench", model: "gpt-4o-mini" };

function messageOf(stage: Stage): string {
  return `deltas=${deltasOf(stage)} gap=${gapMs} stamped=1 held=1`;
}

function deltasOf({ quick }: Stage): number {
  return quick ? 100 : 600;
}

function noteStamps(reader: Reader, text: string): void {
  for (const { index, ageMs } of readStamps(text)) {
    if (index !== reader.stamps) {
      continue;
    }
    reader.stamps++;
    reader.ageMs.push(ageMs);
  }
}

function textOf(bytes: Uint8Array): string {
  return fromBinary(TailRunResponseSchema, bytes)
    .results.map(({ payload }) => (payload.case === "messageDelta" ? payload.value.chunk?.content : ""))
    .join("");
}

/** Results in a TailRunResponse, which is nothing but them, each with a tag and a length. */
function countResults(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; count++) {
    let length = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = bytes[++at] ?? 0;
      length |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    at += length + 1;
  }
  return count;
}
