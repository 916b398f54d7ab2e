// One reader reads a long finished run from its start, and how much memory the service holds meanwhile; beside the same rows
// read page by page over a bare connection.

import { create, toBinary } from "@bufbuild/protobuf";
import { TailRunRequestSchema } from "#gen/runnel/v1/run_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { H2Client } from "../clients/h2-client.ts";
import { countResults } from "../clients/tail-response.ts";
import { type Meter, measure, memoryMb, peakMemoryMb } from "../harness/meter.ts";
import type { Service } from "../harness/service.ts";
import type { Stage } from "../harness/stage.ts";
import { storeRunOfNewSession } from "../harness/stored-run.ts";

const results = 100_000;
/** With pages of this size the cost of Postgres per row is near its minimum. */
const pageRows = 500;
const path = "/runnel.v1.RunService/TailRun";

export const replayLog: Bench = {
  name: "replay",
  title: `A stored run of ${results.toLocaleString("en-US")} results to one gRPC reader`,
  notMeasured:
    "several readers, slow readers, decoding, a network, rows outside Postgres' memory, partitions that are days old.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("replay");
    const runId = await storeRunOfNewSession(stage.home, service, results);
    const meter: Meter = { servicePid: service.pid, postmasterPid: stage.home.postmasterPid() };
    const idleMb = memoryMb(service.pid);
    for (let round = 0; ; round++) {
      const bare = await readBare(stage, runId);
      const replay = await readOverGrpc(service, runId, { meter, idleMb });
      // The first round runs cold code and warms it up.
      if (round > 0) {
        yield [compare(replay, bare), bare];
      }
    }
  },
};

async function readOverGrpc(
  service: Service,
  runId: string,
  { meter, idleMb }: { readonly meter: Meter; readonly idleMb: number },
): Promise<Variant> {
  using client = new H2Client(service.target);
  const request = toBinary(TailRunRequestSchema, create(TailRunRequestSchema, { runId }));
  const { result: seen, cost } = await measure(meter, async () => {
    const counted = { results: 0, messages: 0, bytes: 0 };
    await client.stream(path, request, (message) => {
      counted.results += countResults(message);
      counted.messages++;
      counted.bytes += message.length;
    });
    return counted;
  });
  return {
    name: "gRPC",
    metrics: {
      results: seen.results,
      "results/s": seen.results / cost.wall,
      "MB/s": seen.bytes / 2 ** 20 / cost.wall,
      "results per message": seen.results / seen.messages,
      "service CPU per result, µs": (1_000_000 * cost.service) / seen.results,
      "Postgres CPU per result, µs": (1_000_000 * cost.postgres) / seen.results,
      "client CPU per result, µs": (1_000_000 * cost.client) / seen.results,
      "service RSS, MB": memoryMb(service.pid),
      "service peak RSS over idle, MB": peakMemoryMb(service.pid) - idleMb,
    },
    faults: seen.results === results ? [] : [`${seen.results} results instead of ${results}`],
  };
}

const pageQuery = {
  name: "bare page",
  text: "select sequence, payload from run_result where run_id = $1 and sequence > $2 order by sequence limit $3",
};

async function readBare({ home }: Stage, runId: string): Promise<Variant> {
  const connection = await home.connect();
  const readAll = async (): Promise<number> => {
    let last = 0;
    for (;;) {
      const { rows } = await connection.query({ ...pageQuery, values: [runId, last, pageRows] });
      last = Number(rows.at(-1)?.sequence ?? last);
      if (rows.length < pageRows) {
        return last;
      }
    }
  };
  try {
    const { result: rows, cost } = await measure({ postmasterPid: home.postmasterPid() }, readAll);
    const metrics = {
      results: rows,
      "results/s": rows / cost.wall,
      "Postgres CPU per result, µs": (1_000_000 * cost.postgres) / rows,
      "client CPU per result, µs": (1_000_000 * cost.client) / rows,
    };
    return { name: "bare pages", metrics, faults: [] };
  } finally {
    await connection.end();
  }
}

function compare(replay: Variant, bare: Variant): Variant {
  const ratio = (replay.metrics["results/s"] ?? Number.NaN) / (bare.metrics["results/s"] ?? Number.NaN);
  return { ...replay, metrics: { ...replay.metrics, "results/s, ratio to bare": ratio } };
}
