// Measures whole runs: how long they took, what they cost, and whether each arrived completely.

import { type Load, percentile, runLoad, sharePercent, sum } from "../harness/load.ts";
import { type Cost, type Meter, measure, peakMemoryMb } from "../harness/meter.ts";
import type { AgentRun, Prompt, RunOutcome } from "./agent-run.ts";

/** One way to get a run's text, warmed up, with the processes that it uses. */
export interface Way {
  readonly name: string;
  readonly run: AgentRun;
  readonly meter: Meter;
}

export interface Measured {
  readonly outcomes: readonly RunOutcome[];
  readonly cost: Cost;
  readonly peakMb: number;
}

export async function measureRuns({ run, meter }: Way, prompt: Prompt, load: Load): Promise<Measured> {
  const { result: outcomes, cost } = await measure(meter, () => runLoad(load, () => run(prompt)));
  return { outcomes, cost, peakMb: meter.servicePid === undefined ? Number.NaN : peakMemoryMb(meter.servicePid) };
}

export function describeRuns(prompt: Prompt, { outcomes, cost }: Measured): Record<string, number> {
  const latencyMs = outcomes.map((outcome) => outcome.latencyMs);
  return {
    runs: outcomes.length,
    "runs/s": outcomes.length / cost.wall,
    "deltas in/s": (outcomes.length * prompt.deltas) / cost.wall,
    "results stored/s": sum(outcomes.map(({ results }) => results)) / cost.wall,
    "results per run": sum(outcomes.map(({ results }) => results)) / outcomes.length,
    "pieces of text per run": sum(outcomes.map(({ pieces }) => pieces)) / outcomes.length,
    "text complete, % of runs": sharePercent(outcomes.map(({ complete }) => complete)),
    "done, % of runs": sharePercent(outcomes.map(({ done }) => done)),
    "run p50, ms": percentile(latencyMs, 0.5),
    "run p99, ms": percentile(latencyMs, 0.99),
    "first text p50, ms": percentile(
      outcomes.map(({ firstTextMs }) => firstTextMs),
      0.5,
    ),
  };
}

export function findFaults(outcomes: readonly RunOutcome[]): string[] {
  const torn = outcomes.filter(({ complete }) => !complete).length;
  const open = outcomes.filter(({ done }) => !done).length;
  return [
    ...(outcomes.length === 0 ? ["no run was made"] : []),
    ...(torn > 0 ? [`${torn} runs with missing text`] : []),
    ...(open > 0 ? [`${open} runs without an end`] : []),
  ];
}
