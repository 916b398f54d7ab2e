// The charts of a report. A drag zooms, and a click leads to the runs behind a point.

import { useMemo } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { UsageReport } from "#gen/runnel/v1/usage_service_pb.js";
import { formatDuration } from "../lib/format.ts";
import { withParameter } from "../lib/parameters.ts";
import type { Series } from "../ui/chart.tsx";
import { costs, counts, type Plot, Charts as PlotCharts, shorten } from "../ui/charts.tsx";
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

export function Charts({ report, filter }: { readonly report: UsageReport; readonly filter: PlotsFilter }) {
  const [, navigate] = useLocation();
  const [, setParameters] = useSearchParams();
  const times = useMemo(() => timesOf(report), [report]);
  const periods = useMemo(() => periodsOf(report), [report]);
  const plots = useMemo(() => plotsOf(report, filter.by !== undefined), [report, filter.by]);
  const stepMs = report.stepSeconds * 1_000;
  const at = (index: number): string => new Date(times[index] ?? 0).toISOString();
  const after = (index: number): string => new Date((times[index] ?? 0) + stepMs).toISOString();
  const zoom = (from: number, to: number): void =>
    setParameters((current) => withParameter(withParameter(current, "from", at(from)), "to", after(to)));
  const open = (index: number, title: string): void => {
    const state = title === failures ? "failed" : "completed,failed,cancelled";
    const span = { state, from: at(index), to: after(index), time: "changed" };
    navigate(`/runs?${new URLSearchParams({ ...runsFilterOf(filter), ...span })}`);
  };
  return (
    <PlotCharts
      title="Over time"
      plots={plots}
      periods={periods}
      span={filter.last === undefined ? "this span" : `last ${filter.last}`}
      onZoom={zoom}
      // The runs of other clients are not the operator's to read.
      onOpen={filter.ofAll ? undefined : open}
    >
      <p className="hint">
        Drag over a chart to look closer, or hold Shift with the arrow keys and press Enter. A click leads to the runs
        behind a point. Percentiles come from buckets: each is wrong by at most 10 %.
      </p>
    </PlotCharts>
  );
}

function runsFilterOf({ agent, model }: PlotsFilter): Record<string, string> {
  return { ...(agent !== "" && { agent }), ...(model !== "" && { model }) };
}

const failures = "Runs that failed";

function plotsOf(report: UsageReport, isGrouped: boolean): readonly Plot[] {
  const times = timesOf(report);
  const [all] = report.series;
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
    { title: failures, series: isGrouped ? each(failedOf) : [own("", failedOf)], isLines: isGrouped, ...counts },
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
    { title: "Cost", series: isGrouped ? each(costOf) : [own("", costOf)], isLines: isGrouped, ...costs },
  ];
}
