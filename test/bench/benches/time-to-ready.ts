// How long a start takes, in the three states in which a replica can find its embedded Postgres.

import type { Bench, Variant } from "../bench.ts";
import type { Service } from "../harness/service.ts";
import type { Stage } from "../harness/stage.ts";

export const timeToReady: Bench = {
  name: "ready",
  title: "Time to ready: from the start of the process to the first 200 of /readyz",
  notMeasured:
    "the first start after an install, which may unpack Postgres; the download by npm and of Node; an external database; Postgres' own recovery after a crash.",
  roundsMax: 3,
  async *measure(stage) {
    for (;;) {
      const bareMs = await timeBareStart(stage);
      const { cold, warm, attach } = await timeStarts(stage);
      yield [
        describe("bare server", bareMs, bareMs),
        describe("cold (creates the database)", cold.readyMs, bareMs),
        describe("warm (Postgres stopped)", warm.readyMs, bareMs),
        describe("attach (after kill -9)", attach.readyMs, bareMs),
      ];
    }
  },
};

/** Starts Node with only a server. */
async function timeBareStart(stage: Stage): Promise<number> {
  const startedMs = performance.now();
  await using _server = await stage.startBareServer();
  return performance.now() - startedMs;
}

async function timeStarts(stage: Stage): Promise<Record<"cold" | "warm" | "attach", Service>> {
  await using home = await stage.makeHome();
  const cold = await stage.startService("ready-cold", { home });
  // The last user stops Postgres.
  await cold.end("SIGTERM");
  const warm = await stage.startService("ready-warm", { home });
  // A crash leaves Postgres running.
  await warm.end("SIGKILL");
  const attach = await stage.startService("ready-attach", { home });
  await attach.end("SIGTERM");
  return { cold, warm, attach };
}

function describe(name: string, readyMs: number, bareMs: number): Variant {
  return { name, metrics: { "ready, ms": readyMs, "ready, ratio to bare": readyMs / bareMs }, faults: [] };
}
