// Which figures of a run become charts. Each chart compares the variants of one metric.

import { type Bar, type BarChart, drawBarChart } from "./bar-chart.ts";
import type { BenchRun, Verdict } from "./bench-run.ts";
import { formatNumber } from "./table.ts";

export interface ChartFile {
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

interface ChartPlan {
  readonly name: string;
  readonly title: string;
  readonly bench: string;
  readonly metric: string;
}

const plans: readonly ChartPlan[] = [
  { name: "start", title: "Time to ready, ms (less is better)", bench: "ready", metric: "ready, ms" },
  { name: "calls", title: "Calls without the database, per second", bench: "unary", metric: "calls/s" },
  {
    name: "first-result",
    title: "Message to first text, p50, ms (less is better)",
    bench: "first",
    metric: "first text p50, ms",
  },
  {
    name: "burst",
    title: "Service CPU per delta in a burst, µs (less is better)",
    bench: "burst",
    metric: "service CPU per delta, µs",
  },
  {
    name: "paced",
    title: "Time added to a run of 200 deltas at 5 ms, p50, ms (less is better)",
    bench: "paced",
    metric: "added to a run p50, ms",
  },
  {
    name: "fan-out",
    title: "1,000 readers at 50 results/s: CPU, % of a core (less is better)",
    bench: "fan-out",
    metric: "service CPU at 50 results/s, % of a core",
  },
  { name: "append", title: "Results appended per second", bench: "append", metric: "results/s" },
];

/** Only for benches that ran. */
export function drawCharts(run: BenchRun): ChartFile[] {
  return plans.flatMap((plan) => {
    const chart = planChart(plan, run);
    return chart.bars.length === 0 ? [] : [{ name: `${plan.name}.svg`, title: plan.title, svg: drawBarChart(chart) }];
  });
}

function planChart({ title, bench, metric }: ChartPlan, run: BenchRun): BarChart {
  const variants = run.benches.find(({ name }) => name === bench)?.variants ?? [];
  const bars = variants.flatMap(({ name, metrics }): Bar[] => {
    const value = metrics[metric];
    const isHarness = name.endsWith("harness alone") && value === 0;
    if (typeof value !== "number" || isHarness) {
      return [];
    }
    const verdict = run.verdicts.find(
      (each) => each.bench === bench && each.variant === name && each.metric === metric,
    );
    const bound = verdict?.most ?? verdict?.least;
    return [{ label: name, value, text: formatNumber(value), bound, kind: kindOf(name, verdict) }];
  });
  return { title, bars };
}

function kindOf(variant: string, verdict: Verdict | undefined): Bar["kind"] {
  if (variant.startsWith("bare ") || variant.endsWith("harness alone")) {
    return "bare";
  }
  if (verdict === undefined) {
    return "plain";
  }
  return verdict.reached ? "reached" : "missed";
}
