// The rows that users of Agent Runner meet: signed REST calls to a service that has just started. Beside it the least that a
// durable service on Node could cost, and another service of the same document when PEER_BIN names its program.

import type { Bench, Variant } from "../bench.ts";
import { HttpClient } from "../clients/http-client.ts";
import type { Child } from "../ground/child.ts";
import { type Load, percentile, runLoad, sharePercent } from "../ground/load.ts";
import { type Cost, measure, peakMemoryMb } from "../ground/meter.ts";
import { startPeer } from "../ground/peer.ts";
import type { Stage } from "../ground/stage.ts";
import { Together } from "../ground/together.ts";
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
  title: "Agent Runner's REST API, signed (v1), a fresh service for each row; beside PEER_BIN where it is set",
  notMeasured:
    "a network, TLS, tools, a warm service; the peer keeps everything in memory, and a stream of it may lack text and end without `done`.",
  roundsMax: 5,
  async *measure(stage) {
    const peerProgram = process.env.PEER_BIN;
    for (;;) {
      const variants: Variant[] = [];
      for (const row of rows) {
        const ours = await measureRow(row, stage, () => stage.startService(`peer-${row.name}`));
        const bare = await measureRow(row, stage, stage.startBareAgentRunner);
        const theirs =
          peerProgram === undefined
            ? undefined
            : await measureRow(row, stage, () => startPeer(peerProgram, stage.provider.url));
        const metrics = {
          ...ours.metrics,
          ...ratios(ours, bare, "bare"),
          ...(theirs && ratios(ours, theirs, "the peer")),
        };
        variants.push(
          { name: row.name, metrics, faults: findFaults(ours) },
          { name: `${row.name}: bare`, metrics: bare.metrics, faults: findFaults(bare) },
        );
        if (theirs !== undefined) {
          variants.push({ name: `${row.name}: peer`, metrics: theirs.metrics, faults: [] });
        }
      }
      yield variants;
    }
  },
};

interface Measured {
  readonly metrics: Readonly<Record<string, number>>;
  readonly cost: Cost;
}

/** Measures a row on a service that has just started. */
export async function measureRow(row: Row, stage: Stage, start: () => Promise<Child>): Promise<Measured> {
  await using services = new Together();
  const service = services.use(await start());
  using client = new HttpClient(service.url, "signed");
  const count = stage.quick ? row.quickCount : row.load.count;
  const { result: outcomes, cost } = await measure({ servicePid: service.pid }, () =>
    runLoad({ ...row.load, count }, callOf(client, row.prompt)),
  );
  const latencyMs = outcomes.map((outcome) => outcome.latencyMs);
  const metrics = {
    "per second": outcomes.length / cost.wall,
    "p50, ms": percentile(latencyMs, 0.5),
    "p99, ms": percentile(latencyMs, 0.99),
    "whole, %": sharePercent(outcomes.map(({ isWhole }) => isWhole)),
    "service CPU each, ms": (1_000 * cost.service) / outcomes.length,
    "service peak RSS, MB": peakMemoryMb(service.pid),
  };
  return { metrics, cost };
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
export function findFaults({ metrics }: Measured): string[] {
  return metrics["whole, %"] === 100 ? [] : [`${metrics["whole, %"]} % arrived whole`];
}

function ratios(ours: Measured, theirs: Measured, name: string): Record<string, number> {
  const compared = ["per second", "p50, ms", "service CPU each, ms"];
  return Object.fromEntries(
    compared.map((metric) => [
      `${metric}, ratio to ${name}`,
      (ours.metrics[metric] ?? Number.NaN) / (theirs.metrics[metric] ?? Number.NaN),
    ]),
  );
}
