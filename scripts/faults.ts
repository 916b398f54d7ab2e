// `npm run faults`: kill -9 at every named point of a run's life, in every combination of processes and readers, round after
// round. Prints its progress, and at the end the kills, the violations and how long runs stood still.
//
//   --rounds 50       how often every combination is played; rounds differ in the pass that kills
//   --shard 1/4       only one part of the combinations, for one of several machines
//   --resume <file>   continues the tally in the file, or begins one there

import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { parseArgs } from "node:util";
import { dueCells, type Played, readTally, type Shard, summarize } from "../test/fault/crash-matrix/tally.ts";
import { runCommand } from "./run-command.ts";

const progressMs = 30_000;

interface Flags {
  readonly rounds: number;
  readonly shard: Shard;
  readonly tally: string;
}

try {
  const flags = readFlags();
  console.log(`the tally is ${flags.tally}`);
  for (let round = 0; round < flags.rounds; round++) {
    await playRound(round, flags);
  }
  const played = readTally(flags.tally);
  console.log(summarize(played));
  process.exitCode = played.length === 0 || played.some(isFaulty) ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function readFlags(): Flags {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "50" },
      shard: { type: "string", default: "1/1" },
      resume: { type: "string" },
    },
  });
  const [, index = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(values.shard) ?? []).map(Number);
  if (!(index >= 1 && index <= count)) {
    throw new Error(`--shard is "${values.shard}": use for instance 1/4, the first of four parts`);
  }
  if (!/^[1-9]\d*$/.test(values.rounds)) {
    throw new Error(`--rounds is "${values.rounds}": use a number from 1 on`);
  }
  const tally = values.resume ?? join(tmpdir(), `runnel-faults-${process.pid}.jsonl`);
  return { rounds: Number(values.rounds), shard: { index, count }, tally };
}

/** Plays a round to its end, even with violations. Throws when it cannot be played. */
async function playRound(round: number, { rounds, shard, tally }: Flags): Promise<void> {
  const due = dueCells(round, shard, readTally(tally)).length;
  if (due === 0) {
    return;
  }
  Object.assign(process.env, {
    FAULTS_ROUND: String(round),
    FAULTS_SHARD: `${shard.index}/${shard.count}`,
    FAULTS_TALLY: tally,
  });
  const over = new AbortController();
  const showing = showProgress(`round ${round + 1} of ${rounds}`, { round, tally, signal: over.signal });
  try {
    await runCommand("vitest", ["run", "--config", "test/fault/crash-matrix/vitest.config.ts"]);
  } catch (error) {
    if (dueCells(round, shard, readTally(tally)).length > 0 || !playedIn(round, tally).some(isFaulty)) {
      throw error;
    }
  } finally {
    over.abort();
    await showing;
  }
  console.log(`round ${round + 1} of ${rounds}: ${describe(playedIn(round, tally))}`);
}

async function showProgress(
  name: string,
  { round, tally, signal }: { readonly round: number; readonly tally: string; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for await (const _ of setInterval(progressMs, undefined, { signal })) {
      console.log(`${name}: ${describe(playedIn(round, tally))} so far`);
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  }
}

function describe(played: readonly Played[]): string {
  return `${played.length} cells played, ${played.filter(isFaulty).length} with violations`;
}

function playedIn(round: number, tally: string): Played[] {
  return readTally(tally).filter((played) => played.round === round);
}

function isFaulty({ violations }: Played): boolean {
  return violations.length > 0;
}
