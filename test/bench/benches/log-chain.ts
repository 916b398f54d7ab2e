// What the hash chain adds to the append path: the path as it is, with the chain inside, and beside it the chain alone. The
// chain alone hashes results of the same kind, of as many runs, in batches as large as those that the path commits.

import { LogChain, startOfChain } from "../../../src/engine/hash-chain/chain.ts";
import { ResultEncoder } from "../../../src/engine/log/encode.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import type { Bench, Variant } from "../bench.ts";
import { appendAll, type BenchLog, measureAppends, openLog, resultAt, runs } from "./append-path.ts";

/** A batch of the batch writer has 3,000 rows, which belong to the waiting runs. No run is more than some hundred rows ahead. */
const rowsAtOnce = 100;

export const logChain: Bench = {
  name: "chain",
  title: "The hash chain of the log, as a share of the CPU time of appends",
  notMeasured:
    "large results, where hashing is most of the chain's cost; the end and the takeover of a run, which copy or read a chain once.",
  roundsMax: 5,
  async *measure(stage) {
    await using log = await openLog(stage);
    await appendAll(log, 50, false);
    measureChain(rowsAtOnce, 3_000);
    for (;;) {
      yield [
        await measureShare("one in flight per run", log, { perRun: stage.quick ? 100 : 300, batchRows: 1 }),
        await measureShare("as fast as possible", log, { perRun: stage.quick ? 500 : 3_000, batchRows: rowsAtOnce }),
      ];
    }
  },
};

async function measureShare(
  name: string,
  log: BenchLog,
  { perRun, batchRows }: { perRun: number; batchRows: number },
): Promise<Variant> {
  const { metrics, faults } = await measureAppends(name, log, perRun, batchRows === 1);
  const own = metrics["own CPU per result, µs"] ?? Number.NaN;
  const postgres = metrics["Postgres CPU per result, µs"] ?? Number.NaN;
  const chain = measureChain(batchRows, 3_000);
  return {
    name,
    metrics: {
      results: runs * perRun,
      "own CPU per result, µs": own,
      "Postgres CPU per result, µs": postgres,
      "chain per result, µs": chain,
      "chain, % of CPU": (100 * chain) / (own + postgres),
      "chain, % of own CPU": (100 * chain) / own,
    },
    faults,
  };
}

/**
 * In microseconds of this thread's processor time for each result. The results of a batch are made right before it, so that
 * they are in the cache as those of a batch writer are. Making them is not counted.
 */
function measureChain(batchRows: number, perRun: number): number {
  const open = Array.from({ length: runs }, () => {
    const runId = newUuid(Date.now());
    return { encoder: new ResultEncoder(runId), chain: new LogChain(startOfChain(runId)) };
  });
  let microseconds = 0;
  for (let after = 0; after < perRun; after += batchRows) {
    const inits = Array.from({ length: batchRows }, (_, index) => resultAt(after + index));
    const batches = open.map(({ encoder }) => encoder.encode(inits, { after, timeMs: Date.now() }));
    const before = process.threadCpuUsage();
    for (const [index, { chain }] of open.entries()) {
      chain.add(batches[index] ?? []);
    }
    const { user, system } = process.threadCpuUsage(before);
    microseconds += user + system;
  }
  return microseconds / open.reduce((sum, { chain }) => sum + chain.count, 0);
}
