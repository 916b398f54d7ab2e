// The rows that users of Agent Runner meet: signed REST calls to a service that has just started, and the same load again. Beside it
// the least that a durable service on Node could cost; DBOS, when PEER_DBOS has a version of it; and another service of the same
// document, when PEER_BIN names its program.

import type { Bench, Variant } from "../bench.ts";
import { HttpClient } from "../clients/http-client.ts";
import type { Child } from "../harness/child.ts";
import { type Load, percentile, runLoad, sharePercent } from "../harness/load.ts";
import { measure, peakMemoryMb } from "../harness/meter.ts";
import { startPeer } from "../harness/peer.ts";
import type { Stage } from "../harness/stage.ts";
import { Together } from "../harness/together.ts";
import { agent, type Prompt, runOverSse } from "./agent-run.ts";

const limitMs = 20_000;
const burst: Prompt = { deltas: 200, gapMs: 0 };
const paced: Prompt = { deltas: 200, gapMs: 5 };

/** One load, and the requests of which it consists. */
interface Row {
  readonly name: string;
  readonly load: Load;
  readonly quickCount: number;
  /** Undefined creates sessions without a run. */
  readonly prompt: Prompt | undefined;
}

export const burstRow: Row = {
  name: "burst, 64 at a time",
  load: { concurrency: 64, count: 800, limitMs },
  quickCount: 128,
  prompt: burst,
};

const rows: readonly Row[] = [
  burstRow,
  { name: "burst, one at a time", load: { concurrency: 1, count: 64, limitMs }, quickCount: 8, prompt: burst },
  { name: "paced, 64 at a time", load: { concurrency: 64, count: 256, limitMs }, quickCount: 64, prompt: paced },
  {
    name: "create, 64 at a time",
    load: { concurrency: 64, count: 6_000, limitMs },
    quickCount: 500,
    prompt: undefined,
  },
];

export const peer: Bench = {
  name: "peer",
  title:
    "Agent Runner's REST API, signed (v1), a fresh service for each row, then the same load again; beside PEER_BIN and PEER_DBOS where they are set",
  notMeasured:
    "a network, TLS, tools; the peer keeps everything in memory, and a stream of it may lack text and end without `done`; DBOS checks no signatures and keeps no sessions.",
  roundsMax: 5,
  async *measure(stage) {
    const { PEER_BIN, PEER_DBOS } = process.env;
    const { startBareAgentRunner } = stage;
    for (;;) {
      const variants: Variant[] = [];
      for (const row of rows) {
        const ours = await measureRow(row, stage, () => stage.startService(`peer-${row.name}`), loads.length);
        const others: Record<string, readonly Measured[]> = {
          bare: await measureRow(row, stage, startBareAgentRunner, loads.length),
          ...(PEER_BIN !== undefined && {
            "the peer": await measureRow(row, stage, () => startPeer(PEER_BIN, stage.provider.url), loads.length),
          }),
          ...(PEER_DBOS !== undefined &&
            row.prompt !== undefined && {
              DBOS: await measureRow(row, stage, () => stage.startDbosRunner(PEER_DBOS), loads.length),
            }),
        };
        variants.push(...loads.flatMap((load, index) => describe(`${row.name}${load}`, index, ours, others)));
      }
      yield variants;
    }
  },
};

/** A service has to compile its code in the first one, and its tables are empty. */
const loads = ["", ", again"] as const;

/** Returns the variants of one load. */
function describe(
  name: string,
  index: number,
  ours: readonly Measured[],
  others: Readonly<Record<string, readonly Measured[]>>,
): Variant[] {
  const own = ours[index] as Measured;
  const compared = Object.entries(others).map(([other, measured]) => [other, measured[index] as Measured] as const);
  const metrics = Object.assign({}, own, ...compared.map(([other, measured]) => ratios(own, measured, other)));
  return [
    { name, metrics, faults: findFaults(own) },
    ...compared.map(([other, measured]) => ({
      name: `${name}: ${other}`,
      metrics: measured,
      faults: other === "the peer" ? [] : findFaults(measured),
    })),
  ];
}

type Measured = Readonly<Record<string, number>>;

/** Measures a row on a service that has just started: the first `times` loads. */
export async function measureRow(
  row: Row,
  stage: Stage,
  start: () => Promise<Child>,
  times = 1,
): Promise<[Measured, ...Measured[]]> {
  await using services = new Together();
  const service = services.use(await start());
  using client = new HttpClient(service.url, "signed");
  const first = await measureLoad(row, stage, service.pid, client);
  const more: Measured[] = [];
  while (more.length + 1 < times) {
    more.push(await measureLoad(row, stage, service.pid, client));
  }
  return [first, ...more];
}

async function measureLoad(
  row: Row,
  { quick, home }: Stage,
  servicePid: number,
  client: HttpClient,
): Promise<Measured> {
  const count = quick ? row.quickCount : row.load.count;
  const { result: outcomes, cost } = await measure({ servicePid, postmasterPid: home.postmasterPid() }, () =>
    runLoad({ ...row.load, count }, callOf(client, row.prompt)),
  );
  const latencyMs = outcomes.map((outcome) => outcome.latencyMs);
  const [service, postgres] = [cost.service, cost.postgres].map((seconds) => (1_000 * seconds) / outcomes.length);
  return {
    "per second": outcomes.length / cost.wall,
    "p50, ms": percentile(latencyMs, 0.5),
    "p99, ms": percentile(latencyMs, 0.99),
    "whole, %": sharePercent(outcomes.map(({ isWhole }) => isWhole)),
    "service CPU each, ms": service ?? Number.NaN,
    "Postgres CPU each, ms": postgres ?? Number.NaN,
    "CPU each, ms": (service ?? Number.NaN) + (postgres ?? Number.NaN),
    "service peak RSS, MB": peakMemoryMb(servicePid),
  };
}

interface Outcome {
  readonly latencyMs: number;
  /** True when everything arrived: the session, or the text and the end of the run. */
  readonly isWhole: boolean;
}

function callOf(client: HttpClient, prompt: Prompt | undefined): () => Promise<Outcome> {
  if (prompt !== undefined) {
    const run = runOverSse(client);
    return async () => {
      const { latencyMs, complete, done } = await run(prompt);
      return { latencyMs, isWhole: complete && done };
    };
  }
  return async () => {
    const startedMs = performance.now();
    const { status } = await client.send("POST", "/v1/sessions", { agent });
    return { latencyMs: performance.now() - startedMs, isWhole: status === 201 };
  };
}

/** Returns the faults of the measured answers. */
export function findFaults(measured: Measured): string[] {
  return measured["whole, %"] === 100 ? [] : [`${measured["whole, %"]} % arrived whole`];
}

function ratios(ours: Measured, theirs: Measured, name: string): Record<string, number> {
  const compared = ["per second", "p50, ms", "service CPU each, ms", "CPU each, ms"];
  return Object.fromEntries(
    compared.map((metric) => [
      `${metric}, ratio to ${name}`,
      (ours[metric] ?? Number.NaN) / (theirs[metric] ?? Number.NaN),
    ]),
  );
}
