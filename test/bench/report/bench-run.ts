// The machine-readable output of a run of the benches: `--json` prints it, and the performance page is made from it.

import type { MeasuredVariant } from "../rounds.ts";
import type { Machine } from "./machine.ts";
import type { Target } from "./targets.ts";

export interface BenchRun {
  readonly machine: Machine;
  /** True for a short round, whose figures are worth little. */
  readonly quick: boolean;
  readonly seconds: number;
  readonly benches: readonly BenchResult[];
  readonly verdicts: readonly Verdict[];
}

export interface Verdict extends Target {
  /** Null when this machine could not measure it. */
  readonly value: number | null;
  readonly reached: boolean;
}

export interface BenchResult {
  readonly name: string;
  readonly title: string;
  readonly notMeasured: string;
  readonly variants: readonly MeasuredVariant[];
}
