// The generated part of the performance page: machine, targets, charts, the comparison with bare Node and Postgres, and the
// limits of the figures. The rest of the page is written by hand and stays as it is.

import type { BenchResult, BenchRun, Verdict } from "./bench-run.ts";
import type { ChartFile } from "./charts.ts";
import { formatNumber } from "./table.ts";
import { boundOf } from "./verdicts.ts";

const beginning = "<!-- run: written by `node scripts/performance-page.ts <file>` -->";
const end = "<!-- /run -->";

/** Returns the page with this run in it. Throws when the page lacks the place for it. */
export function fillPage(page: string, run: BenchRun, charts: readonly ChartFile[]): string {
  const [start, stop] = [page.indexOf(beginning), page.indexOf(end)];
  if (start === -1 || stop < start) {
    throw new Error(`the page lacks the line ${beginning}, or the line ${end} below it`);
  }
  return `${page.slice(0, start)}${beginning}\n\n${printRun(run, charts)}\n\n${page.slice(stop)}`;
}

function printRun(run: BenchRun, charts: readonly ChartFile[]): string {
  return [
    printMachine(run),
    ...printFaults(run.benches),
    printTargets(run),
    "In the charts the vertical line is the target. Orange bars missed it, green bars reached it, grey bars are bare Node or bare Postgres.",
    ...charts.map(({ name, title }) => `![${title}](performance/${name})`),
    "## Ratios within the run",
    "Compared with bare Node or bare Postgres for the same bytes, or with the same client without the measured part.",
    printRatios(run.benches),
    "## Not measured",
    run.benches.map(({ name, notMeasured }) => `* **${name}**: ${notMeasured}`).join("\n"),
  ].join("\n\n");
}

function printMachine({ machine, quick, seconds }: BenchRun): string {
  const { date, cores, processor, memoryGb, system, node, postgres, loadBefore } = machine;
  const round = quick ? "**A short round (`--quick`) with imprecise figures,**" : "A full round";
  return (
    `${round} of ${seconds} s on ${date}: ${cores} cores (${processor}), ${memoryGb} GB, ${system}, Node ${node}, ` +
    `Postgres ${postgres} on the same machine; its load average before the round: ${formatNumber(loadBefore)}.`
  );
}

function printFaults(benches: readonly BenchResult[]): string[] {
  const faults = benches.flatMap(({ name, variants }) =>
    variants.flatMap((variant) => variant.faults.map((fault) => `* **${name}**, ${variant.name}: ${fault}`)),
  );
  return faults.length === 0 ? [] : [`**Faults in this run:**\n\n${faults.join("\n")}`];
}

function printTargets({ benches, verdicts }: BenchRun): string {
  const rows = verdicts.map((verdict) => {
    const measured = formatNumber(verdict.value ?? undefined);
    const cells = [verdict.work, verdict.metric, boundOf(verdict), measured, spreadOf(verdict, benches)];
    return printRow([...cells, verdict.reached ? "" : "**missed**"]);
  });
  const reached = verdicts.filter((verdict) => verdict.reached).length;
  return [
    `${reached} of ${verdicts.length} targets reached. The measured value is the median of the rounds.\n`,
    printRow(["work", "metric", "target", "measured", "minimum to maximum", ""]),
    "|---|---|--:|--:|--:|---|",
    ...rows,
  ].join("\n");
}

function spreadOf({ bench, variant, metric }: Verdict, benches: readonly BenchResult[]): string {
  const found = benches.find(({ name }) => name === bench)?.variants.find(({ name }) => name === variant);
  const [least, most] = found?.spread[metric] ?? [];
  return `${formatNumber(least ?? undefined)} – ${formatNumber(most ?? undefined)}`;
}

function printRatios(benches: readonly BenchResult[]): string {
  const rows = benches.flatMap(({ name, variants }) =>
    variants.flatMap((variant) =>
      Object.entries(variant.metrics)
        .filter(
          ([metric, value]) =>
            /ratio to|harness-alone/.test(metric) && typeof value === "number" && !isOfItself(variant.name),
        )
        .map(([metric, value]) => printRow([name, variant.name, metric, formatNumber(value)])),
    ),
  );
  return [printRow(["bench", "variant", "metric", "ratio"]), "|---|---|---|--:|", ...rows].join("\n");
}

function isOfItself(variant: string): boolean {
  return variant.startsWith("bare ") || variant.endsWith("harness alone");
}

function printRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
