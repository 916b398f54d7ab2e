// The charts of a report. They choose a period together; a drag zooms, and a click leads to the runs behind a point.

import { useMemo, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { UsageReport } from "#gen/runnel/v1/usage_service_pb.js";
import { formatCount, formatDuration, formatExactCost, formatShort } from "../lib/format.ts";
import { withParameter } from "../lib/parameters.ts";
import { Chart, type Series } from "../ui/chart.tsx";
import { Icon } from "../ui/icon.tsx";
import { TableHead } from "../ui/table-head.tsx";
import type { PlotsFilter } from "./plots-filter.ts";
import {
  costOf,
  failedOf,
  linesMax,
  type Measure,
  nameOf,
  percentileOf,
  periodsOf,
  runsOf,
  timesOf,
  tokensOf,
  valuesOf,
} from "./series.ts";

interface Plot {
  readonly title: string;
  readonly series: readonly Series[];
  readonly isLines: boolean;
  readonly format: (value: number) => string;
  readonly formatTick: (value: number) => string;
  /** The states of the runs behind a point; undefined for all. */
  readonly state?: string;
}

export function Charts({ report, filter }: { readonly report: UsageReport; readonly filter: PlotsFilter }) {
  const [, navigate] = useLocation();
  const [, setParameters] = useSearchParams();
  const [shown, setShown] = useState<number | undefined>(undefined);
  const times = useMemo(() => timesOf(report), [report]);
  const periods = useMemo(() => periodsOf(report), [report]);
  const plots = useMemo(() => plotsOf(report, filter.by !== undefined), [report, filter.by]);
  const stepMs = report.stepSeconds * 1_000;
  const at = (index: number): string => new Date(times[index] ?? 0).toISOString();
  const after = (index: number): string => new Date((times[index] ?? 0) + stepMs).toISOString();
  const zoom = (from: number, to: number): void =>
    setParameters((current) => withParameter(withParameter(current, "from", at(from)), "to", after(to)));
  const open =
    (state = "completed,failed,cancelled") =>
    (index: number): void =>
      navigate(
        `/runs?${new URLSearchParams({ ...runsFilterOf(filter), state, from: at(index), to: after(index), time: "changed" })}`,
      );
  const chosen = {
    ...{
      periods,
      span: filter.last === undefined ? "this span" : `last ${filter.last}`,
      onShow: setShown,
      onZoom: zoom,
    },
    shown: shown === undefined ? undefined : Math.min(shown, periods.length - 1),
  };
  return (
    <section className="panel" aria-labelledby="plots">
      <h2 id="plots">Over time</h2>
      <div className="charts">
        {plots.map(({ state, ...plot }) => (
          // The runs of other clients are not the operator's to read.
          <Chart key={plot.title} {...plot} {...chosen} onOpen={filter.ofAll ? undefined : open(state)} />
        ))}
      </div>
      <p className="hint">
        Drag over a chart to look closer, or hold Shift with the arrow keys and press Enter. A click leads to the runs
        behind a point. Percentiles come from buckets: each is wrong by at most 10 %.
      </p>
      <details className="fold">
        <summary>
          <Icon name="chevron" />
          The same numbers as a table
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
        <div className="scroll" role="group" aria-label="Numbers over time" tabIndex={0}>
          <PlotTable names={periods.map(({ name }) => name)} plots={plots} />
        </div>
      </details>
    </section>
  );
}

function runsFilterOf({ agent, model }: PlotsFilter): Record<string, string> {
  return { ...(agent !== "" && { agent }), ...(model !== "" && { model }) };
}

function plotsOf(report: UsageReport, isGrouped: boolean): readonly Plot[] {
  const times = timesOf(report);
  const [all] = report.series;
  const counts = { format: formatCount, formatTick: (count: number) => shorten(formatShort(count)) };
  const cost = { format: formatExactCost, formatTick: (microUsd: number) => shorten(formatExactCost(microUsd)) };
  const durations = { format: formatDuration, formatTick: (ms: number) => shorten(formatDuration(ms)), isLines: true };
  const each = (measure: Measure, isSum = true): readonly Series[] =>
    report.series.slice(0, linesMax).map((series) => valuesOf(times, series, { name: nameOf(series), measure, isSum }));
  const own = (name: string, measure: Measure, isSum = true): Series => valuesOf(times, all, { name, measure, isSum });
  const percentiles = (of: "duration" | "firstText"): readonly Series[] =>
    isGrouped
      ? each(percentileOf(of, "p95Ms"), false)
      : ([50, 95, 99] as const).map((percent) => own(`p${percent}`, percentileOf(of, `p${percent}Ms`), false));
  const suffix = isGrouped ? ", p95" : "";
  return [
    { title: "Runs that ended", series: isGrouped ? each(runsOf) : [own("", runsOf)], isLines: isGrouped, ...counts },
    {
      title: "Runs that failed",
      series: isGrouped ? each(failedOf) : [own("", failedOf)],
      isLines: isGrouped,
      state: "failed",
      ...counts,
    },
    { title: `Duration of a run${suffix}`, series: percentiles("duration"), ...durations },
    { title: `Time to the first text${suffix}`, series: percentiles("firstText"), ...durations },
    {
      title: isGrouped ? "Tokens" : "Tokens, output on top",
      series: isGrouped
        ? each(tokensOf)
        : [
            own("input", (point) => Number(point?.promptTokens ?? 0n)),
            own("output", (point) => Number(point?.completionTokens ?? 0n)),
          ],
      isLines: isGrouped,
      ...counts,
    },
    { title: "Cost", series: isGrouped ? each(costOf) : [own("", costOf)], isLines: isGrouped, ...cost },
  ];
}

/** The periods with runs, newest first. */
function PlotTable({ names, plots }: { readonly names: readonly string[]; readonly plots: readonly Plot[] }) {
  const columns = plots.flatMap(({ title, series, format }) =>
    series.map(({ name, values }) => ({ head: name === "" ? title : `${title}: ${name}`, values, format })),
  );
  const rows = names
    .map((name, index) => ({ name, cells: columns.map(({ values }) => values[index]) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined && cell > 0))
    .reverse();
  return (
    <table className="numbers">
      <caption className="unseen">Numbers over time, newest first</caption>
      <TableHead names={["Time", ...columns.map(({ head }) => head)]} />
      <tbody>
        {rows.map(({ name, cells }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, index) => (
              <td key={columns[index]?.head}>{cell === undefined ? "–" : columns[index]?.format(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Example: `20.0k` becomes `20k`, and `1.00 s` becomes `1 s`. */
function shorten(text: string): string {
  return text.replace(/\.0+(?=\D*$)/, "");
}
