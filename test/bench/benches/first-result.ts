// How long a caller waits for the first sign of a run on an idle service: from the message to the first result, and to the
// first text, with a provider that answers at once.

import { fromBinary } from "@bufbuild/protobuf";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import { HttpClient } from "../clients/http-client.ts";
import { percentile } from "../harness/load.ts";

const agent = { name: "bench", model: "gpt-4o-mini" };
const message = "deltas=1 gap=0";
const warmupRuns = 60;

export const firstResult: Bench = {
  name: "first",
  title: "From a message to its first result, one run at a time in new sessions, on an idle service",
  notMeasured:
    "a model's own time, a network, TLS, signed requests. Over SSE the first result is the first text, since the document has no event for earlier results.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("first");
    using grpc = new GrpcClient(service.target);
    using http = new HttpClient(service.url);
    using provider = new HttpClient(stage.provider.url);
    const ways: readonly Way[] = [
      { name: "harness alone", time: () => timeProvider(provider) },
      { name: "gRPC", time: () => timeOverGrpc(grpc) },
      { name: "REST + SSE", time: () => timeOverSse(http) },
    ];
    for (const { time } of ways) {
      await repeat(warmupRuns, time);
    }
    for (;;) {
      const variants: Variant[] = [];
      for (const { name, time } of ways) {
        variants.push(describe(name, await repeat(stage.quick ? 60 : 200, time)));
      }
      yield variants;
    }
  },
};

interface Way {
  readonly name: string;
  readonly time: () => Promise<Timing>;
}

/** Times since the message was sent; NaN for what never came. */
interface Timing {
  readonly acceptedMs: number;
  readonly firstResultMs: number;
  readonly firstTextMs: number;
}

async function repeat(count: number, time: () => Promise<Timing>): Promise<Timing[]> {
  const timings: Timing[] = [];
  while (timings.length < count) {
    timings.push(await time());
  }
  return timings;
}

async function timeProvider(provider: HttpClient): Promise<Timing> {
  const watch = new Stopwatch();
  const body = { model: "bench", stream: true, messages: [{ role: "user", content: message }] };
  await provider.events("POST", "/v1/chat/completions", () => watch.note("firstTextMs"), body);
  return watch.read();
}

async function timeOverGrpc(client: GrpcClient): Promise<Timing> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const watch = new Stopwatch();
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  watch.note("acceptedMs");
  await client.stream(RunService.method.tailRun, { runId }, (bytes) => {
    // The response that opens the stream has no results and does not count as one.
    for (const { payload } of fromBinary(TailRunResponseSchema, bytes).results) {
      watch.note("firstResultMs");
      if (payload.case === "messageDelta") {
        watch.note("firstTextMs");
      }
    }
  });
  return watch.read();
}

async function timeOverSse(client: HttpClient): Promise<Timing> {
  const created = await client.send("POST", "/v1/sessions", { agent });
  const path = `/v1/sessions/${JSON.parse(created.text).session_id}`;
  const watch = new Stopwatch();
  await client.send("POST", `${path}/messages`, { message });
  watch.note("acceptedMs");
  await client.events("GET", `${path}/stream`, (block) => {
    if (block.includes("\nevent: text\n")) {
      watch.note("firstResultMs");
      watch.note("firstTextMs");
    }
  });
  return watch.read();
}

/** Keeps the time of the first occurrence of each moment. */
class Stopwatch {
  readonly #startedMs = performance.now();
  readonly #noted = new Map<keyof Timing, number>();

  note(moment: keyof Timing): void {
    if (!this.#noted.has(moment)) {
      this.#noted.set(moment, performance.now() - this.#startedMs);
    }
  }

  read(): Timing {
    const at = (moment: keyof Timing): number => this.#noted.get(moment) ?? Number.NaN;
    return { acceptedMs: at("acceptedMs"), firstResultMs: at("firstResultMs"), firstTextMs: at("firstTextMs") };
  }
}

function describe(name: string, timings: readonly Timing[]): Variant {
  const at = (moment: keyof Timing, part: number): number =>
    percentile(
      timings.map((timing) => timing[moment]),
      part,
    );
  const silent = timings.filter(({ firstTextMs }) => Number.isNaN(firstTextMs)).length;
  return {
    name,
    metrics: {
      runs: timings.length,
      "accepted p50, ms": at("acceptedMs", 0.5),
      "first result p50, ms": at("firstResultMs", 0.5),
      "first result p99, ms": at("firstResultMs", 0.99),
      "first text p50, ms": at("firstTextMs", 0.5),
      "first text p99, ms": at("firstTextMs", 0.99),
    },
    faults: silent > 0 ? [`${silent} runs without text`] : [],
  };
}
