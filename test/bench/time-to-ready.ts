// How long a start takes, in the three states that a replica finds its embedded Postgres in.

import type { Bench, Variant } from "./bench.ts";
import { makeHome } from "./home.ts";
import { percentile } from "./load.ts";
import { startService } from "./service.ts";

const rounds = 3;

export const timeToReady: Bench = {
  name: "ready",
  title: `Time to ready: from the start of the process to the first 200 of /readyz, ${rounds} times (--quick: once)`,
  notMeasured:
    "the first start after an install, which may unpack Postgres; npm and node's own download; an external database; recovery of Postgres itself after a crash.",
  run: async ({ quick }) => {
    const cold: number[] = [];
    const warm: number[] = [];
    const attach: number[] = [];
    for (let round = 0; round < (quick ? 1 : rounds); round++) {
      await measureStarts(cold, warm, attach);
    }
    return [
      describe("cold (creates the database)", cold),
      describe("warm (Postgres stopped)", warm),
      describe("attach (after kill -9)", attach),
    ];
  },
};

async function measureStarts(cold: number[], warm: number[], attach: number[]): Promise<void> {
  await using home = await makeHome();
  const first = await startService({ home });
  cold.push(first.readyMs);
  // The last user takes Postgres down with it.
  await first.end("SIGTERM");
  const second = await startService({ home });
  warm.push(second.readyMs);
  // A crash leaves Postgres alive.
  await second.end("SIGKILL");
  const third = await startService({ home });
  attach.push(third.readyMs);
  await third.end("SIGTERM");
}

function describe(name: string, readyMs: readonly number[]): Variant {
  const metrics = {
    "median, ms": percentile(readyMs, 0.5),
    "fastest, ms": Math.min(...readyMs),
    "slowest, ms": Math.max(...readyMs),
  };
  return { name, metrics, faults: [] };
}
