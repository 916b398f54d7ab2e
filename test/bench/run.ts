// `npm run bench -- [name …]`: what the service costs and how fast it is, on this machine, against real Postgres, beside the
// cost of bare Node and bare Postgres in the same run. Everything runs on 127.0.0.1 in processes of its own, bounded in count
// and time, and is ended by process id.
//
//   --quick   a short round, as a smoke test              --profile <folder>   CPU profiles of the service
//   --json    figures for machines on standard output     --only a,b           names in one word

import { benches } from "./benches.ts";
import { type Flags, readFlags } from "./flags.ts";
import { openStage } from "./harness/stage.ts";
import type { BenchResult, BenchRun, Verdict } from "./report/bench-run.ts";
import { describeMachine, type Machine } from "./report/machine.ts";
import { formatTable, formatVerdicts } from "./report/table.ts";
import { judge } from "./report/verdicts.ts";
import { runRounds } from "./rounds.ts";

/** A full round takes less on two free cores. On a machine much busier than that the figures would be worth little. */
const roundTimeoutMs = 900_000;

const startedMs = performance.now();
const secondsSinceStart = (): number => Math.round((performance.now() - startedMs) / 1_000);
const flags = readFlagsOrExit();
const results: BenchResult[] = [];
let machine: Machine | undefined;
let failure: unknown;
try {
  await runBenches(flags);
} catch (error) {
  failure = error;
}
const faulty = report();
// Exits at once, because a bench that was given up may still wait for something.
process.exit(failure !== undefined || faulty ? 1 : 0);

async function runBenches({ quick, names, profileDirectory }: Flags): Promise<void> {
  const givenUp = giveUp();
  await using stage = await openStage({ quick, profileDirectory });
  machine = describeMachine(stage.home.postgresVersion);
  for (const bench of benches) {
    const { name, title, notMeasured } = bench;
    if (names.length > 0 && !names.includes(name)) {
      continue;
    }
    const beganAt = secondsSinceStart();
    const variants = await Promise.race([runRounds(bench, stage), givenUp]);
    results.push({ name, title, notMeasured, variants });
    console.error(`${name.padEnd(9)} ${String(secondsSinceStart() - beganAt).padStart(3)} s  ${title}`);
  }
}

/** Prints the results. Returns true when a bench had a fault. */
function report(): boolean {
  const verdicts = judgeOrNote();
  if (failure !== undefined) {
    console.error("bench:", failure instanceof Error ? failure.message : failure);
  }
  if (machine === undefined) {
    return true;
  }
  if (flags.json) {
    const run: BenchRun = { machine, quick: flags.quick, seconds: secondsSinceStart(), benches: results, verdicts };
    console.log(JSON.stringify(run, null, 1));
  } else {
    const tables = results.map((result) => formatTable(result));
    console.log([...tables, formatVerdicts(verdicts), closing()].join("\n\n"));
  }
  return results.some(({ variants }) => variants.some(({ faults }) => faults.length > 0));
}

/** A target without its figure fails the round, but the other measurements are still printed. */
function judgeOrNote(): Verdict[] {
  try {
    return judge(results);
  } catch (error) {
    failure ??= error;
    return [];
  }
}

function closing(): string {
  const advice = "CPU figures are steadier than wall times: compare ratios within one round.";
  return `${secondsSinceStart()} s in all. ${advice}`;
}

/** Rejects when the round takes too long or the operator stops it, so that everything started is ended. */
function giveUp(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  setTimeout(() => reject(new Error(`not done after ${roundTimeoutMs / 1_000} s`)), roundTimeoutMs).unref();
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
  }
  promise.catch(() => {});
  return promise;
}

function readFlagsOrExit(): Flags {
  try {
    return readFlags(
      process.argv.slice(2),
      benches.map(({ name }) => name),
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}
