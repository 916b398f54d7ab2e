// Results for people: one table per bench, metrics down, variants across; and the targets with their figures.

import type { MeasuredVariant } from "../rounds.ts";
import type { BenchResult, Verdict } from "./bench-run.ts";
import { boundOf } from "./verdicts.ts";

export function formatTable({ name, title, notMeasured, variants }: BenchResult): string {
  const faults = variants.flatMap((variant) => variant.faults.map((fault) => `FAULT in ${variant.name}: ${fault}`));
  return [
    `${name}: ${title}`,
    ...cutBlocks(variants).flatMap(formatBlock),
    ...faults,
    `  Not measured: ${notMeasured}`,
  ].join("\n");
}

/** The number of variants that fit on a screen side by side. */
const variantsAbreast = 6;

function cutBlocks(variants: readonly MeasuredVariant[]): (readonly MeasuredVariant[])[] {
  return variants.length === 0
    ? []
    : [variants.slice(0, variantsAbreast), ...cutBlocks(variants.slice(variantsAbreast))];
}

function formatBlock(variants: readonly MeasuredVariant[]): string[] {
  const metrics = [...new Set(variants.flatMap((variant) => Object.keys(variant.metrics)))];
  const rows = metrics.map((metric) => [metric, ...variants.map((variant) => formatNumber(variant.metrics[metric]))]);
  return alignColumns([["", ...variants.map((variant) => variant.name)], ...rows]);
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((verdict) => [
    `${verdict.reached ? "reached" : "MISSED "}  ${verdict.work}`,
    verdict.metric,
    boundOf(verdict),
    formatNumber(verdict.value ?? undefined),
  ]);
  return ["Targets, for two dedicated cores:", ...alignColumns(rows)].join("\n");
}

/** Three significant digits; a dash for a figure that a variant does not have, which JSON calls null. */
export function formatNumber(value: number | null | undefined): string {
  if (value === undefined || value === null || Number.isNaN(value)) {
    return "–";
  }
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits)).toLocaleString("en-US");
}

/** Aligns the first column to the left, all others to the right. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `  ${cells.join("  ").trimEnd()}`;
  });
}
