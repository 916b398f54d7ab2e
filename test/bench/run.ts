// `npm run bench`: what the service costs and how fast it is, on this machine, against real Postgres. Everything runs on
// 127.0.0.1 in processes of its own, bounded in count and time, and is ended by process id.
//
//   --quick           a short round, to see that all is well      --only ready,burst   some of the benches
//   --json            figures for machines on standard output     --profile <folder>   CPU profiles of the service

import { parseArgs } from "node:util";
import { burstRuns, pacedRuns } from "./agent-runs.ts";
import { appendPath } from "./append-path.ts";
import type { Bench, Stage, Variant } from "./bench.ts";
import { startChild } from "./child.ts";
import { createSessions } from "./create-sessions.ts";
import { fanOut } from "./fan-out.ts";
import { makeHome } from "./home.ts";
import { longSession } from "./long-session.ts";
import { startService } from "./service.ts";
import { formatTable } from "./table.ts";
import { timeToReady } from "./time-to-ready.ts";

const benches: readonly Bench[] = [timeToReady, burstRuns, pacedRuns, createSessions, longSession, fanOut, appendPath];

/** A full round takes half of it on two free cores. On a machine busier than that the figures would be worth little. */
const roundTimeoutMs = 170_000;

interface Flags {
  readonly quick: boolean;
  readonly json: boolean;
  readonly only: readonly string[];
  readonly profileDirectory: string | undefined;
}

interface Result {
  readonly bench: Bench;
  readonly variants: readonly Variant[];
}

const flags = readFlags();
const startedMs = performance.now();
const results: Result[] = [];
let failure: unknown;
try {
  await runBenches(flags, (result) => results.push(result));
} catch (error) {
  failure = error;
}
report();
const faulty = results.some(({ variants }) => variants.some(({ faults }) => faults.length > 0));
// Not left to run out: a bench that was given up may still wait for something.
process.exit(failure !== undefined || faulty ? 1 : 0);

async function runBenches({ quick, only, profileDirectory }: Flags, onResult: (result: Result) => void): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await makeHome());
  const provider = stack.use(
    await startChild({ program: new URL("provider.ts", import.meta.url), announcement: /provider on (http:\/\/\S+)/ }),
  );
  const stage: Stage = {
    quick,
    home,
    provider,
    // A bench ends its services itself; the stack is for one that is given up half-way.
    startService: async (name) =>
      stack.use(
        await startService({
          home,
          providerUrl: provider.url,
          ...(profileDirectory !== undefined && { profile: { directory: profileDirectory, name } }),
        }),
      ),
  };
  const givenUp = giveUp();
  for (const bench of benches) {
    if (only.length > 0 && !only.includes(bench.name)) {
      continue;
    }
    console.error(`… ${bench.title}`);
    onResult({ bench, variants: await Promise.race([bench.run(stage), givenUp]) });
  }
}

function report(): void {
  if (flags.json) {
    console.log(
      JSON.stringify(results.map(({ bench: { run: _run, ...bench }, variants }) => ({ ...bench, variants }))),
    );
  } else {
    for (const { bench, variants } of results) {
      console.log(`\n${formatTable(bench, variants)}`);
    }
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    console.log(`\n${seconds} s in all. CPU figures are steadier than wall times: compare ratios within one round.`);
  }
  if (failure !== undefined) {
    console.error("bench:", failure instanceof Error ? failure.message : failure);
  }
}

/** Rejects when the round takes too long or somebody stops it, so that everything started is ended. */
function giveUp(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  setTimeout(() => reject(new Error(`not done after ${roundTimeoutMs / 1_000} s`)), roundTimeoutMs).unref();
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
  }
  promise.catch(() => {});
  return promise;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      profile: { type: "string" },
    },
  });
  const only = values.only.split(",").filter(Boolean);
  const unknown = only.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    console.error(`no bench named ${unknown.join(", ")}: there are ${benches.map(({ name }) => name).join(", ")}`);
    process.exit(2);
  }
  return { quick: values.quick, json: values.json, only, profileDirectory: values.profile };
}
