// Results for people: one table per bench, metrics down, variants across.

import type { Bench, Variant } from "./bench.ts";

export function formatTable(bench: Bench, variants: readonly Variant[]): string {
  const metrics = [...new Set(variants.flatMap(({ metrics }) => Object.keys(metrics)))];
  const rows = metrics.map((metric) => [metric, ...variants.map((variant) => formatNumber(variant.metrics[metric]))]);
  const table = [["", ...variants.map((variant) => variant.name)], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const faults = variants.flatMap(({ name, faults }) => faults.map((fault) => `FAULT in ${name}: ${fault}`));
  return [
    bench.title,
    ...table.map((row) => `  ${formatRow(row, widths)}`),
    ...faults,
    `  Not measured: ${bench.notMeasured}`,
  ].join("\n");
}

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
    .join("  ")
    .trimEnd();
}

/** Three digits that count; a dash for what a variant does not have. */
function formatNumber(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) {
    return "–";
  }
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits)).toLocaleString("en-US");
}
