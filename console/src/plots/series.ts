// The values that the charts draw of a report: each series by period. A count has no gaps.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { UsagePoint, UsageReport, UsageSeries } from "#gen/runnel/v1/usage_service_pb.js";
import { knownCost } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import type { Period, Series } from "../ui/chart.tsx";

/** The times of the periods, oldest first, in milliseconds. */
export function timesOf({ timeFrom, timeTo, stepSeconds }: UsageReport): readonly number[] {
  const [from, to] = [timeFrom && timestampMs(timeFrom), timeTo && timestampMs(timeTo)];
  const stepMs = stepSeconds * 1_000;
  return from === undefined || to === undefined
    ? []
    : Array.from({ length: Math.round((to - from) / stepMs) }, (_, index) => from + index * stepMs);
}

const minute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const dayAndMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const utcDay = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const utcTick = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const daySeconds = 86_400;

/** Names the periods: days in UTC, shorter ones in the time of the browser. */
export function periodsOf(report: UsageReport): readonly Period[] {
  const times = timesOf(report);
  const isDay = report.stepSeconds === daySeconds;
  const isLong = times.length * report.stepSeconds > 2 * daySeconds;
  return times.map((ms) => ({
    name: isDay ? `${utcDay.format(ms)} (UTC)` : minute.format(ms),
    tick: isDay ? utcTick.format(ms) : (isLong ? dayAndMonth : clock).format(ms),
  }));
}

/** What one line or bar shows of a period; undefined when it was not measured. */
export type Measure = (point: UsagePoint | undefined) => number | undefined;

export const runsOf: Measure = (point) =>
  point === undefined ? 0 : Number(point.completed + point.failed + point.cancelled);
export const failedOf: Measure = (point) => Number(point?.failed ?? 0n);
export const tokensOf: Measure = (point) =>
  point === undefined ? 0 : Number(point.promptTokens + point.completionTokens);
export const costOf: Measure = (point) => knownCost(Number(point?.costMicroUsd ?? 0n), tokensOf(point) ?? 0);

type Times = "duration" | "firstText";
type Percentile = "p50Ms" | "p95Ms" | "p99Ms";

export function percentileOf(times: Times, percentile: Percentile): Measure {
  return (point) => {
    const ms = point?.[times]?.[percentile];
    return ms === undefined ? undefined : Number(ms);
  };
}

/** Returns the values of one series by period. `isSum` is false for percentiles, whose whole is not the sum. */
export function valuesOf(
  times: readonly number[],
  series: UsageSeries | undefined,
  { name, measure, isSum = true }: { name: string; measure: Measure; isSum?: boolean },
): Series {
  const points = new Map(series?.points.map((point) => [point.startTime && timestampMs(point.startTime), point]));
  const values = times.map((time) => measure(points.get(time)));
  return { name, values, ...(!isSum && { whole: measure(series?.total) }) };
}

/** How many names charts draw; the table has all. */
export const linesMax = 5;

/** Returns the name of a series as the page shows it. */
export function nameOf({ name, isRest }: UsageSeries): string {
  return isRest ? "all others" : visibleText(name) || "without a name";
}
